"""Search, feedback and the retrieval protocol written out plainly, one row at a time."""

import math


def cityblock(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def rocchio(positive, negative, gamma):
    score = sum(positive) / len(positive)
    if negative:
        score -= gamma * sum(negative) / len(negative)
    return score


def search(query, rows, k, like=(), unlike=(), gamma=0.5, leave_out=()):
    """The k best of a dict of id to row, as (score, id); rows and marks are lists of numbers."""
    found = []
    for name, row in rows.items():
        if name in leave_out:
            continue
        near = [cityblock(row, query)] + [cityblock(row, other) for other in like]
        far = [cityblock(row, other) for other in unlike]
        found.append((rocchio(near, far, gamma), name))
    return sorted(found)[:k]


def average_path(m):
    if m < 2:
        return 0.0
    return 2 * sum(1 / i for i in range(1, m)) - 2 * (m - 1) / m


def path_length(forest, tree, row, sample):
    """Edges from the root to the leaf of a row, and what is left among the sample rows there."""
    start = forest.offsets[tree]
    node, edges, held = 0, 0, list(sample)
    while forest.feature[start + node] >= 0:
        feature, cut = forest.feature[start + node], forest.threshold[start + node]
        left = row[feature] <= cut
        held = [other for other in held if (other[feature] <= cut) == left]
        node = node + 1 if left else forest.right[start + node]
        edges += 1
    return edges + average_path(len(held))


def refeat(lengths, positive, negative, psi, gamma):
    """Score every row from path lengths (a list per row, an entry per tree)."""
    trees = len(positive[0])
    usual = average_path(psi)
    weights = []
    for t in range(trees):
        w = sum(row[t] / usual - 1 for row in positive) / len(positive)
        if negative:
            w -= gamma * sum(row[t] / usual - 1 for row in negative) / len(negative)
        weights.append(w)
    return [math.fsum(w * row[t] for t, w in enumerate(weights)) / trees for row in lengths]
