"""Reference implementations, written from the formulas: plain loops over a matrix of distances.

``d`` is the n x n matrix of the fitted rows, ``q`` the distances of one new row to them.
"""

import math

import numpy as np
from scipy.stats import gamma, multivariate_normal, norm


def near(row, k, own=None):
    """Positions of the k nearest, ties to the lower one."""
    order = sorted((v, j) for j, v in enumerate(row) if j != own)
    return [j for _, j in order[:k]]


def mean_distance(row, k, own=None):
    return sum(row[j] for j in near(row, k, own)) / k


def local_scaling(d, k):
    n = len(d)
    r = [d[i][near(d[i], k, i)[-1]] for i in range(n)]
    return np.array([[affinity(d[i][j], r[i], r[j], i == j) for j in range(n)] for i in range(n)])


def affinity(d, a, b, own=False):
    if own:
        return 1.0
    if a * b == 0:
        return float(d == 0)
    return math.exp(-(d**2) / (a * b))


def nicdm(d, k, geometric=False):
    n = len(d)
    floor = np.finfo(float).eps * d.max()
    mu = [max(mean_distance(d[i], k, i), floor) for i in range(n)]
    if d.max() == 0:
        return np.zeros((n, n))
    factor = math.exp(sum(map(math.log, mu)) / n) if geometric else 1.0
    return np.array(
        [[factor * d[i][j] / math.sqrt(mu[i] * mu[j]) for j in range(n)] for i in range(n)]
    )


def cdm(d, k, tol, max_iter):
    """Iterate NICDM; return the iterate with the least spread, its number, and whether it is ok."""
    best = (math.inf, None, 0)
    for step in range(max_iter + 1):
        logs = [math.log(mean_distance(d[i], k, i)) for i in range(len(d))]
        center = sum(logs) / len(logs)
        spread = max(abs(v - center) for v in logs)
        if spread < best[0] * (1 - 1e-9):  # spreads that are equal but for round-off are equal
            best = (spread, d, step)
        if spread < tol:
            break
        d = nicdm(d, k, geometric=True)
    return best[1], best[2], best[0] < tol


def csls(d, k):
    n = len(d)
    r = [mean_distance(d[i], k, i) for i in range(n)]
    return np.array([[2 * d[i][j] - r[i] - r[j] for j in range(n)] for i in range(n)])


def dissim_local(x, k):
    """The formula of the paper, on points: centers of neighbors."""
    n = len(x)
    d = np.array([[math.dist(a, b) for b in x] for a in x])
    gap = [
        math.dist(x[i], np.mean([x[j] for j in near(d[i], k, i)], axis=0)) ** 2 for i in range(n)
    ]
    return np.array([[d[i][j] ** 2 - gap[i] - gap[j] for j in range(n)] for i in range(n)])


def mutual_proximity(d):
    n = len(d)
    out = np.eye(n)
    for x in range(n):
        for y in range(n):
            if x != y:
                out[x, y] = sum(d[x][j] > d[x][y] and d[y][j] > d[y][x] for j in range(n)) / n
    return out


def query_proximity(q, d, divisor):
    n = len(d)
    return [sum(q[j] > q[y] and d[y][j] > q[y] for j in range(n)) / divisor for y in range(n)]


def parameters(row, own=None, include=False):
    values = [v for j, v in enumerate(row) if j != own or include]
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))


def survival(v, mean, sd, model):
    if sd <= 1e-13 * max(mean, 1e-300):
        return 1.0 if v < mean * (1 - 1e-12) else (0.0 if v > mean * (1 + 1e-12) else 0.5)
    if model == "gamma":
        return float(gamma.sf(v, (mean / sd) ** 2, scale=sd**2 / mean))
    return float(norm.sf(v, mean, sd))


def independent(d, model="gauss", include=False):
    n = len(d)
    moments = [parameters(d[i], i, include) for i in range(n)]
    out = np.eye(n)
    for x in range(n):
        for y in range(n):
            if x != y:
                one, two = (
                    survival(v, *moments[at], model) for at, v in ((x, d[x][y]), (y, d[y][x]))
                )
                out[x, y] = one * two
    return out


def joint(d):
    n = len(d)
    moments = [parameters(d[i], i) for i in range(n)]
    out = np.eye(n)
    for x in range(n):
        for y in range(n):
            if x == y:
                continue
            others = [i for i in range(n) if i not in (x, y)]
            a, b = [d[x][i] for i in others], [d[y][i] for i in others]
            rho = 0.0
            if len(others) >= 2 and np.ptp(a) > 0 and np.ptp(b) > 0:
                rho = float(np.corrcoef(a, b)[0, 1])
            h = -(d[x][y] - moments[x][0]) / moments[x][1]
            k = -(d[y][x] - moments[y][0]) / moments[y][1]
            if abs(rho) > 1 - 1e-12:
                tight = norm.cdf(min(h, k)) if rho > 0 else max(0, norm.cdf(h) + norm.cdf(k) - 1)
                out[x, y] = tight
            else:
                out[x, y] = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([h, k])
    return out


def shared(d, k, include_self=False):
    lists = [set(near(row, k, i)) | ({i} if include_self else set()) for i, row in enumerate(d)]
    size = k + include_self
    n = len(d)
    return np.array(
        [
            [1.0 if i == j else len(lists[i] & lists[j]) / size for j in range(n)]
            for i in range(n)
        ]
    )  # fmt: skip


def occurrence(d, k):
    counts = [0] * len(d)
    for i, row in enumerate(d):
        for j in near(row, k, i):
            counts[j] += 1
    return counts


def expected_occurrence(d, k, y=None):
    counts = [0.0] * len(d)
    for i, row in enumerate(d):
        last = row[near(row, k, i)[-1]]
        less = [j for j, v in enumerate(row) if j != i and v < last]
        tied = [j for j, v in enumerate(row) if j != i and v == last]
        for j in less + tied:
            if y is None or y[i] != y[j]:
                counts[j] += 1.0 if row[j] < last else (k - len(less)) / len(tied)
    return counts


def bad(d, k, y):
    counts = [0] * len(d)
    for i, row in enumerate(d):
        for j in near(row, k, i):
            counts[j] += int(y[i] != y[j])
    return counts


def skewness(counts):
    n = len(counts)
    mean = sum(counts) / n
    m2 = sum((c - mean) ** 2 for c in counts) / n
    m3 = sum((c - mean) ** 3 for c in counts) / n
    return m3 / m2**1.5 if m2 > 1e-20 else 0.0


def gini(counts):
    return sum(abs(a - b) for a in counts for b in counts) / (2 * len(counts) * sum(counts))


def goodman_kruskal(d, y):
    n = len(d)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    within = [d[i][j] for i, j in pairs if y[i] == y[j]]
    between = [d[i][j] for i, j in pairs if y[i] != y[j]]
    c = sum(w < b for w in within for b in between)
    e = sum(w > b for w in within for b in between)
    return (c - e) / (c + e) if c + e else 0.0


def vote(d, y, k, tie="first"):
    out = []
    for i, row in enumerate(d):
        labels = [y[j] for j in near(row, k, i)]
        most = max(labels.count(label) for label in labels)
        winners = [label for label in labels if labels.count(label) == most]
        out.append(winners[0] if tie == "first" or len(set(winners)) == 1 else labels[0])
    return out


def symmetric(d, k):
    n = len(d)
    lists = [near(row, k, i) for i, row in enumerate(d)]
    return sum(i in lists[j] for i in range(n) for j in lists[i]) / (n * k)


def dimension(d, k1, k2, average):
    estimates = []
    for k in range(k1, k2 + 1):
        inverses = []
        for i, row in enumerate(d):
            t = [row[j] for j in near(row, k, i)]
            inverse = sum(math.log(t[-1] / v) for v in t[:-1]) / (k - 2)
            if inverse > 0:
                inverses.append(inverse)
        if average == "levina":
            estimates.append(sum(1 / v for v in inverses) / len(inverses))
        else:
            estimates.append(len(inverses) / sum(inverses))
    return sum(estimates) / len(estimates)
