"""References of the learned weights, written from their formulas: lists in, lists out."""

import itertools

import numpy as np


def nearest(difference, i, others, k):
    """Rows with the least sum of differences; sums equal but for round-off go to the lower row."""
    return sorted(others, key=lambda j: (round(sum(difference(i, j)), 9), j))[:k]


def relieff(difference, y, k, starts):
    """ReliefF with priors; difference(i, j) lists how two rows differ, column by column."""
    n = len(y)
    classes = sorted(set(y))
    prior = {c: y.count(c) / n for c in classes}
    weights = [0.0] * len(difference(0, 0))
    for i in starts:
        for c in classes:
            members = [j for j in range(n) if y[j] == c and j != i]
            near = nearest(difference, i, members, k)
            for a in range(len(weights)):
                if not near:
                    continue
                mean = sum(difference(i, j)[a] for j in near) / len(near)
                if c == y[i]:
                    weights[a] -= mean / len(starts)
                else:
                    weights[a] += prior[c] / (1 - prior[y[i]]) * mean / len(starts)
    return weights


def rrelieff(difference, y, k, starts):
    """Estimate conditional probabilities over the k nearest, each neighbor counting 1/k."""
    n = len(y)
    span = max(y) - min(y)
    d = len(difference(0, 0))
    changed, column, both = 0.0, [0.0] * d, [0.0] * d
    for i in starts:
        others = [j for j in range(n) if j != i]
        near = nearest(difference, i, others, k)
        for j in near:
            gap = abs(y[i] - y[j]) / span
            changed += gap / len(near)
            for a in range(d):
                column[a] += difference(i, j)[a] / len(near)
                both[a] += gap * difference(i, j)[a] / len(near)
    weights = []
    for a in range(d):
        first = both[a] / changed if changed > 0 else 0.0
        left = len(starts) - changed
        weights.append(first - ((column[a] - both[a]) / left if left > 0 else 0.0))
    return weights


def pairs_of(which, medoids, labels):
    n = len(labels)
    everybody = range(n)
    if which == "global":
        return [(i, j) for i in everybody for j in everybody if i < j]
    if which == "prototypes":
        return [(i, p) for p in medoids for i in everybody if i != p]
    if which == "cluster":
        return [(i, j) for i in everybody for j in everybody if i < j and labels[i] == labels[j]]
    return [(i, medoids[labels[i]]) for i in everybody if i != medoids[labels[i]]]


def model(similarity, y, pairs, missing):
    """Rows of the least squares problem: partial similarities with holes filled, and targets."""
    rows, targets = [], []
    for i, j in pairs:
        s = similarity(i, j)
        there = [v for v in s if v is not None]
        if there:
            hole = sum(there) / len(there) if missing == "ignore" else 0.5
            rows.append([hole if v is None else v for v in s])
            targets.append(float(y[i] == y[j]))
    return np.array(rows), np.array(targets)


def objective(rows, targets, weights):
    return float(((rows @ weights - targets) ** 2).sum())


def smallest_on_simplex(rows, targets):
    """The smallest objective over all supports, each solved with the sum of weights fixed to 1."""
    d = rows.shape[1]
    best = np.inf
    for size in range(1, d + 1):
        for support in itertools.combinations(range(d), size):
            last, rest = support[-1], list(support[:-1])
            # The last weight is 1 minus the others.
            design = rows[:, rest] - rows[:, [last]]
            free = np.linalg.lstsq(design, targets - rows[:, last], rcond=None)[0]
            weights = np.zeros(d)
            weights[rest] = free
            weights[last] = 1 - free.sum()
            if (weights >= -1e-9).all():
                best = min(best, objective(rows, targets, weights))
    return best


def kkt_residual(rows, targets, weights):
    """How far the gradient of the mean squared error is from that of a minimum."""
    gradient = 2 * rows.T @ (rows @ weights - targets) / len(rows)
    held = weights > 1e-7
    level = gradient[held].mean()
    return max(np.abs(gradient[held] - level).max(), (level - gradient).max())
