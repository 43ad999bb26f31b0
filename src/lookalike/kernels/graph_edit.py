"""Edit distance between small graphs, exactly."""

import numpy as np

from lookalike.kernels._jit import kernel


@kernel
def _read_graph(values, start, stop, near, labels):
    """Write who is next to whom (bits) and the labels; a loop is a bit of its own node.

    Nodes are put in order of falling degree: those that decide most are placed first.
    """
    n = values[start]
    links = np.zeros(n, np.int64)
    for k in range(start + 1 + n, stop, 2):
        links[values[k]] |= 1 << values[k + 1]
        links[values[k + 1]] |= 1 << values[k]
    degrees = np.zeros(n, np.int64)
    for v in range(n):
        for w in range(n):
            degrees[v] += (links[v] >> w) & 1
    order = np.argsort(-degrees, kind="mergesort")
    for i in range(n):
        labels[i] = values[start + 1 + order[i]]
        near[i] = 0
        for j in range(n):
            near[i] |= ((links[order[i]] >> order[j]) & 1) << j
    return n


@kernel
def _edges_left(near, n, placed):
    """Count edges (loops aside) of which at least one end is not among the nodes in ``placed``."""
    count = 0
    for v in range(n):
        for w in range(v + 1, n):
            if (near[v] >> w) & 1 and not ((placed >> v) & (placed >> w) & 1):
                count += 1
    return count


@kernel
def _least_left(a_near, a_labels, n, depth, b_near, b_labels, m, used):
    """Return a number that the edits of what is not yet placed cannot fall below.

    A node on one side without a partner of its label costs 1, and so does every edge that one side
    has more than the other.
    """
    taken = used
    same = 0
    for v in range(depth, n):
        for w in range(m):
            if not (taken >> w) & 1 and b_labels[w] == a_labels[v]:
                taken |= 1 << w
                same += 1
                break
    rest = 0
    for w in range(m):
        rest += 1 - ((used >> w) & 1)
    a_edges = _edges_left(a_near, n, (1 << depth) - 1)
    b_edges = _edges_left(b_near, m, used)
    return max(n - depth, rest) - same + abs(a_edges - b_edges)


@kernel
def _price(a_near, a_labels, v, b_near, b_labels, w, chosen):
    """Return what it costs to turn node v into node w (-1: to remove it), nodes before v placed.

    The price of edges to nodes placed before is part of it, and that of a loop.
    """
    a_loop = (a_near[v] >> v) & 1
    if w < 0:
        cost = 1 + a_loop
    else:
        b_loop = (b_near[w] >> w) & 1
        cost = (a_labels[v] != b_labels[w]) + abs(a_loop - b_loop)
    for u in range(v):
        a_edge = (a_near[v] >> u) & 1
        b_edge = 0
        if w >= 0 and chosen[u] >= 0:
            b_edge = (b_near[w] >> chosen[u]) & 1
        cost += abs(a_edge - b_edge)
    return cost


@kernel
def _rest(b_near, m, used):
    """Return what it costs to add the nodes that nobody was turned into, with their edges."""
    cost = _edges_left(b_near, m, used)
    for w in range(m):
        if not (used >> w) & 1:
            cost += 1 + ((b_near[w] >> w) & 1)
    return cost


@kernel
def _edits(a_near, a_labels, n, b_near, b_labels, m):
    """Count the edits that turn one graph into another: branch and bound over all placements."""
    best = _rest(b_near, m, 0) + _rest(a_near, n, 0)  # remove everything, add everything
    chosen = np.full(n + 1, -2, np.int64)  # of the node at each depth: -2 before the first choice
    costs = np.zeros(n + 1, np.int64)
    used = 0
    depth = 0
    while depth >= 0:
        if depth == n:
            best = min(best, costs[n] + _rest(b_near, m, used))
            depth -= 1
            continue
        if chosen[depth] >= 0:
            used &= ~(1 << chosen[depth])
        if chosen[depth] == -1:  # removal was the last choice
            chosen[depth] = -2
            depth -= 1
            continue
        w = 0 if chosen[depth] == -2 else chosen[depth] + 1
        while w < m and (used >> w) & 1:
            w += 1
        if w == m:
            w = -1
        chosen[depth] = w
        cost = costs[depth] + _price(a_near, a_labels, depth, b_near, b_labels, w, chosen)
        taken = used | (1 << w) if w >= 0 else used
        if cost + _least_left(a_near, a_labels, n, depth + 1, b_near, b_labels, m, taken) >= best:
            continue  # the choice at this depth is made anew; nothing was marked as used
        used = taken
        costs[depth + 1] = cost
        depth += 1
    return best


@kernel
def graph_edit_block(a_values, a_offsets, b_values, b_offsets, most, out):
    """Write edit distances of graphs into out; every edit costs 1, a missing row is NaN.

    A row is the number of nodes, at most ``most``, their labels, then both ends of each edge.
    """
    a_near, b_near = np.zeros(most, np.int64), np.zeros(most, np.int64)
    a_labels, b_labels = np.zeros(most, np.int64), np.zeros(most, np.int64)
    for i in range(a_offsets.shape[0] - 1):
        if a_offsets[i] == a_offsets[i + 1]:
            out[i, :] = np.nan
            continue
        n = _read_graph(a_values, a_offsets[i], a_offsets[i + 1], a_near, a_labels)
        for j in range(b_offsets.shape[0] - 1):
            if b_offsets[j] == b_offsets[j + 1]:
                out[i, j] = np.nan
                continue
            m = _read_graph(b_values, b_offsets[j], b_offsets[j + 1], b_near, b_labels)
            # The smaller graph is placed into the larger one; the count is the same both ways.
            if n <= m:
                out[i, j] = _edits(a_near, a_labels, n, b_near, b_labels, m)
            else:
                out[i, j] = _edits(b_near, b_labels, m, a_near, a_labels, n)
