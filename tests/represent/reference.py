"""Reference implementations of the definitions: loops over rows, no shortcuts."""

import itertools
import math

import numpy as np


def cost(d, medoids):
    return sum(min(d[i][m] for m in medoids) for i in range(len(d)))


def pam(d, k):
    """Greedy start, then the best exchange as long as one lowers the cost; first of equals."""
    n = len(d)
    medoids = [min(range(n), key=lambda j: (sum(d[i][j] for i in range(n)), j))]
    while len(medoids) < k:
        rest = [j for j in range(n) if j not in medoids]
        medoids.append(min(rest, key=lambda j: (cost(d, [*medoids, j]), j)))
    while True:
        now = cost(d, medoids)
        swaps = [
            (cost(d, [j if m == gone else m for m in medoids]), gone, j)
            for gone in medoids
            for j in range(n)
            if j not in medoids
        ]
        if not swaps or min(swaps)[0] >= now - 1e-12:
            return sorted(medoids)
        _, gone, j = min(swaps)
        medoids = [j if m == gone else m for m in medoids]


def no_swap_improves(d, medoids, slack=1e-9):
    now = cost(d, medoids)
    return all(
        cost(d, [j if m == gone else m for m in medoids]) >= now - slack
        for gone in medoids
        for j in range(len(d))
        if j not in medoids
    )


def farthest(d, n, first):
    chosen = [first]
    while len(chosen) < n:
        rest = [j for j in range(len(d)) if j not in chosen]
        chosen.append(max(rest, key=lambda j: (min(d[j][c] for c in chosen), -j)))
    return sorted(chosen)


def pearson(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    if (a == a[0]).all() or (b == b[0]).all():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return abs((a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


def with_target(column, y, classes):
    if not classes:
        return pearson(column, y)
    return sum(
        np.mean([v == c for v in y]) * pearson(column, [float(v == c) for v in y]) for c in set(y)
    )


def merit(x, y, columns, classes=True):
    k = len(columns)
    top = sum(with_target(x[:, f], y, classes) for f in columns)
    pairs = sum(pearson(x[:, f], x[:, g]) for f, g in itertools.combinations(columns, 2))
    return top / math.sqrt(k + 2 * pairs)


def cfs(x, y, classes=True):
    """Best-first search with a plain list of open subsets."""
    best, best_merit = None, -1.0
    opened, closed = [((), 0.0)], set()
    idle = 0
    while opened and idle < 5:
        opened.sort(key=lambda entry: (-round(entry[1], 12), len(entry[0]), entry[0]))
        subset, _ = opened.pop(0)
        idle += 1
        for g in range(x.shape[1]):
            grown = tuple(sorted({*subset, g}))
            if g in subset or grown in closed:
                continue
            closed.add(grown)
            found = merit(x, y, grown, classes)
            opened.append((grown, found))
            if round(found, 12) > best_merit + 1e-12:
                best, best_merit, idle = grown, round(found, 12), 0
    return list(best)


def activation(x, p):
    x = min(max(x, 0.0), 1.0)
    if p == 0:
        return 0.5 if x == 0.5 else float(x > 0.5)
    a = (-0.5 + math.sqrt(0.25 + 4 * p)) / 2
    if x <= 0.5:
        return -p / ((x - 0.5) - a) - a
    return -p / ((x - 0.5) + a) + a + 1


def numbers_gower(x, y, ranges):
    """Gower's similarity of two rows of numbers; a range of 0 finds them alike."""
    s = [
        1.0 if r == 0 else max(0.0, 1 - abs(a - b) / r)
        for a, b, r in zip(x, y, ranges, strict=True)
    ]
    return sum(s) / len(s)


def layers(x, prototypes, new=None):
    """Similarities of similarities of number rows, given the prototypes of each layer."""
    fitted = [list(row) for row in x]
    rows = fitted if new is None else [list(row) for row in new]
    for chosen in prototypes:
        ranges = [max(c) - min(c) for c in zip(*fitted, strict=True)]
        centers = [fitted[p] for p in chosen]
        rows = [[numbers_gower(row, c, ranges) for c in centers] for row in rows]
        fitted = [[numbers_gower(row, c, ranges) for c in centers] for row in fitted]
    return np.array(rows)


def chain_power(s, n):
    """Mean over all chains of n steps of the product of the roots of their similarities."""
    size = len(s)
    out = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            for between in itertools.product(range(size), repeat=n - 1):
                chain = [i, *between, j]
                out[i, j] += math.prod(math.sqrt(s[a][b]) for a, b in itertools.pairwise(chain))
    return out / size ** (n - 1)


TNORMS = {
    "min": min,
    "product": lambda a, b: a * b,
    "lukasiewicz": lambda a, b: max(0.0, a + b - 1),
}


def closure(s, tnorm):
    """Join links until nothing changes."""
    t = TNORMS[tnorm]
    r = [[1.0 if i == j else float(v) for j, v in enumerate(row)] for i, row in enumerate(s)]
    n = len(r)
    while True:
        grown = [
            [max(r[i][j], *(t(r[i][k], r[k][j]) for k in range(n))) for j in range(n)]
            for i in range(n)
        ]
        if grown == r:
            return np.array(r)
        r = grown


def relieff(x, y, n_neighbors=10):
    """ReliefF of columns of numbers: hits taken off, misses added by the share of their class."""
    n, d = x.shape
    ranges = np.ptp(x, axis=0)
    diff = np.abs(x[:, None] - x) / np.where(ranges > 0, ranges, 1.0)
    total = diff.sum(axis=2)
    share = {c: np.mean(y == c) for c in set(y)}
    w = np.zeros(d)
    for i in range(n):
        for c in share:
            members = sorted((total[i, j], j) for j in range(n) if y[j] == c and j != i)
            near = [j for _, j in members[:n_neighbors]]
            if near:
                mean = diff[i, near].mean(axis=0)
                w += -mean / n if c == y[i] else share[c] / (1 - share[y[i]]) * mean / n
    return w
