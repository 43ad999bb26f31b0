"""Growing one similarity tree on columns that are numbers, categories or matrices of distances."""

import math

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.cell_split import (
    TIE,
    best_cut,
    class_impurity,
    draw_entry,
    gap,
    group_by_class,
    least_varied,
    line_up,
    node_facts,
    project,
    varies,
)
from lookalike.kernels.cell_types import (
    TABLE,
    VALUE,
    VARIANCE,
    NodeRows,
    column_of,
    make_best,
    make_scratch,
)
from lookalike.kernels.draw import draw_below, draw_next
from lookalike.kernels.nodes import WAITING, next_node, stack_children


@kernel
def draw_times(state, n, times):
    """Draw n of n rows with replacement and count how often each came."""
    for _ in range(n):
        times[draw_below(state, n)] += 1


@kernel
def present_rows(x, rows, low, high, present):
    """Write the rows of a node whose cell is there; return how many."""
    m = 0
    for i in range(low, high):
        if not np.isnan(x[rows[i]]):
            present[m] = rows[i]
            m += 1
    return m


@kernel
def judge_cut(kind, node, k, targets, rules, scratch):
    """Return (score, imbalance, threshold, default side) of the best cut; score inf: none.

    The first k items of ``scratch`` are in the order of their projections. Rows whose projection is
    unknown count with the impurity they have among themselves, so that a column known for a handful
    of rows does not look better than one known for all.
    """
    item, proj, times = scratch.item, scratch.proj, targets.times
    tie = TIE * node.impurity if rules.criterion == VARIANCE else TIE
    step = 0.0
    if kind >= TABLE and k > 0 and np.isfinite(proj[k - 1] - proj[0]):
        # Differences of distances such as 1/3 differ in their last bits where they are equal.
        step = TIE * (proj[k - 1] - proj[0])
    score, imbalance, place = best_cut(k, targets, rules, tie, step, node.floor, scratch)
    if place < 0:
        return np.inf, np.int64(0), 0.0, np.int64(1)
    threshold = proj[place]
    if rules.midpoint:
        middle = proj[place] / 2.0 + proj[place + 1] / 2.0
        if proj[place] <= middle < proj[place + 1]:
            threshold = middle
    if step > 0.0:
        # A new row that projects to the same place may be off by its last bits as well, and must
        # go the same way. Between a quarter and half of the step, so the next row stays on its
        # side; a power of two, so that equal thresholds of two nodes stay equal.
        threshold += 2.0 ** (math.frexp(step)[1] - 2)
    n_left, n_known, w_known = 0, 0, 0.0
    for i in range(k):
        n_known += times[item[i]]
        w_known += targets.weight[item[i]]
        if i <= place:
            n_left += times[item[i]]
    if k < node.high - node.low:
        score = _with_unknown(node, k, targets, rules.criterion, w_known, score, scratch)
    return score, imbalance, threshold, np.int64(2 * n_left >= n_known)


@kernel
def _with_unknown(node, k, targets, criterion, w_known, score, scratch):
    rows, low, high, item, left = node.rows, node.low, node.high, scratch.item, scratch.left
    label, target, weight = targets.label, targets.amount, targets.weight
    n_classes = targets.n_classes
    w_all = 0.0
    if criterion == VARIANCE:
        mean_all, mean_known = 0.0, 0.0
        for i in range(low, high):
            w_all += weight[rows[i]]
            mean_all += weight[rows[i]] * target[rows[i]]
        for i in range(k):
            mean_known += weight[item[i]] * target[item[i]]
        w = w_all - w_known
        if w <= 0.0:
            return score
        mean = (mean_all - mean_known) / w
        square = 0.0
        for i in range(low, high):
            square += weight[rows[i]] * (target[rows[i]] - mean) ** 2
        for i in range(k):
            square -= weight[item[i]] * (target[item[i]] - mean) ** 2
        return (w_known * score + max(square, 0.0)) / w_all
    for c in range(n_classes):
        left[c] = 0.0
    for i in range(low, high):
        w_all += weight[rows[i]]
        left[label[rows[i]]] += weight[rows[i]]
    for i in range(k):
        left[label[item[i]]] -= weight[item[i]]
    w = w_all - w_known
    if w <= 0.0:
        return score
    return (w_known * score + w * class_impurity(left, n_classes, w, criterion)) / w_all


@kernel
def keep_better(f, p, q, cut, rules, tie, best):
    """Take over a test, with its cut from ``judge_cut``, if it is better than the best so far."""
    score, imbalance, threshold, default = cut
    found, test = best.score, best.test
    if score == np.inf:
        return
    even = rules.balanced and score <= found[0] + tie and imbalance < test[3]
    if test[0] < 0 or score < found[0] - tie or even:
        found[0] = min(score, found[0]) if even else score
        found[1] = threshold
        test[0], test[1], test[2], test[3], test[4] = f, p, q, imbalance, default


@kernel
def draw_second(rows, m, p, spread, by_target, targets, state, scratch):
    """Draw q among rows of another class (or of a target further off than spread) away from p.

    ``scratch.gaps[i]`` is the distance of row i to p. Returns -1 if there is no such row.
    """
    gaps, chosen, label, target = scratch.gaps, scratch.chosen, targets.label, targets.amount
    k = 0
    if by_target:
        for i in range(m):
            if gaps[i] > 0.0 and abs(target[rows[i]] - target[p]) > spread:
                chosen[k] = rows[i]
                k += 1
        if k == 0:
            for i in range(m):
                if gaps[i] > 0.0 and target[rows[i]] != target[p]:
                    chosen[k] = rows[i]
                    k += 1
    else:
        for i in range(m):
            if gaps[i] > 0.0 and label[rows[i]] != label[p]:
                chosen[k] = rows[i]
                k += 1
    return draw_entry(state, chosen, k, targets.times) if k > 0 else -1


@kernel
def try_column(f, column, node, targets, rules, state, best, scratch):
    """Try the tests of one column; return whether its cells vary in this node at all."""
    kind, x, present, grouped = column.kind, column.values, scratch.present, scratch.grouped
    m = present_rows(x, node.rows, node.low, node.high, present)
    if m < 2 or not varies(column, present, m, targets.times, state):
        return False
    by_target = rules.criterion == VARIANCE
    tie = TIE * node.impurity if by_target else TIE
    first, spread = -1, np.sqrt(node.impurity)
    if kind != VALUE and rules.by_class and not by_target:
        group_by_class(present, m, targets.label, targets.n_classes, grouped, scratch.ends)
        first = least_varied(column, targets, state, scratch)
    for _ in range(1 if kind == VALUE else rules.max_pairs):
        p, q = -1, -1
        if kind != VALUE:
            p, q = draw_pair(column, first, m, spread, by_target, targets, state, scratch)
            if q < 0:
                continue
            if not rules.by_class:
                p, q = q, p
        k = line_up(column, present, m, p, q, scratch)
        cut = judge_cut(kind, node, k, targets, rules, scratch)
        keep_better(f, p, q, cut, rules, tie, best)
    return True


@kernel
def draw_pair(column, first, m, spread, by_target, targets, state, scratch):
    """Draw p (from class ``first``, unless that is -1) and q as the published steps do."""
    x, present, ends = column.values, scratch.present, scratch.ends
    if first >= 0:
        members, size = scratch.grouped[ends[first] :], ends[first + 1] - ends[first]
        p = draw_entry(state, members, size, targets.times)
    else:
        p = draw_entry(state, present, m, targets.times)
    for i in range(m):
        scratch.gaps[i] = gap(
            column.kind, x[present[i]], x[p], column.flat, column.base, column.width
        )
    return p, draw_second(present, m, p, spread, by_target, targets, state, scratch)


@kernel
def part_rows(column, p, q, threshold, default, rows, low, high):
    """Bring the rows that go left to the front, in their order; return where the others begin.

    p and q are rows, -1 where a number is tested by itself.
    """
    kind, x, flat, base, width = (
        column.kind, column.values, column.flat, column.base, column.width,
    )  # fmt: skip
    at_p = x[p] if p >= 0 else 0.0
    at_q = x[q] if p >= 0 else 0.0
    i = low
    spare = np.empty(high - low, np.int64)
    k = 0
    for at in range(low, high):
        r = rows[at]
        here = project(kind, x[r], at_p, at_q, flat, base, width)
        goes = default == 1 if np.isnan(here) else here <= threshold
        if goes:
            rows[i] = r
            i += 1
        else:
            spare[k] = r
            k += 1
    for j in range(k):
        rows[i + j] = spare[j]
    return i


# -- the steps of the loop over nodes, also taken by the growers of isolation trees and of trees
# -- whose distances are computed as they are asked for --------------------------------------------


@kernel
def open_node(stack, tree):
    """Take the next node and write it as a leaf; return (node, low, high, depth)."""
    node, low, high, depth = next_node(stack, tree.left, tree.right)
    tree.feature[node], tree.first[node], tree.second[node] = -1, -1, -1
    tree.threshold[node], tree.default[node], tree.entries[node] = 0.0, 1, high - low
    return node, low, high, depth


@kernel
def close_node(stack, tree, node, best, low, middle, high, depth):
    """Write the test of a node, and put its children on the stack."""
    test = best.test
    tree.feature[node], tree.first[node], tree.second[node] = test[0], test[1], test[2]
    tree.threshold[node], tree.default[node] = best.score[1], test[4]
    stack_children(stack, node, low, middle, high, depth)


@kernel
def describe_node(tree, at, rows, low, high, depth, targets, rules, floor):
    """Write the facts of a node; return its rows, and whether a test is to be looked for."""
    n, w, impurity, pure = node_facts(rows, low, high, targets, rules.criterion, tree.value[at])
    tree.entries[at], tree.weights[at], tree.impurities[at] = n, w, impurity
    enough = n >= rules.min_split and n >= 2 * rules.min_leaf and not w < 2 * floor
    return NodeRows(
        rows, low, high, impurity, floor
    ), enough and not pure and depth < rules.max_depth


@kernel
def least_weight(share, weight, rows):
    """Return a share of the weight of some rows, added row by row."""
    floor = 0.0
    for i in range(rows.shape[0]):
        floor += share * weight[rows[i]]
    return floor


@kernel
def grow_similarity(cells, targets, rows, rules, floor, pool, state, stack, pause, tree):
    """Grow a tree whose nodes are written in preorder.

    ``floor`` is the least weight that a side of a test may have; columns are drawn from ``pool``.
    Returns after ``pause`` rows; the nodes that wait are on the stack.
    """
    best, scratch = make_best(), make_scratch(rows.shape[0], targets.n_classes)
    seen = 0
    while stack.count[WAITING] > 0 and seen < pause:
        at, low, high, depth = open_node(stack, tree)
        seen += high - low
        node, splits = describe_node(tree, at, rows, low, high, depth, targets, rules, floor)
        if not splits:
            continue
        best.test[0] = -1
        tried = 0
        for drawn in range(pool.shape[0]):
            if tried >= rules.max_columns:
                break
            f = draw_next(state, pool, drawn)
            tried += try_column(f, column_of(cells, f), node, targets, rules, state, best, scratch)
        if best.test[0] >= 0:
            column = column_of(cells, best.test[0])
            middle = part_rows(
                column, best.test[1], best.test[2], best.score[1], best.test[4], rows, low, high
            )
            close_node(stack, tree, at, best, low, middle, high, depth)
