"""Clustering written plainly from the definitions, slow and without the shipped code."""

import itertools
import math

import numpy as np

TOY = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])


def gaps(points):
    points = np.asarray(points, dtype=float)
    return np.abs(points[:, None] - points[None, :])


def dbscan(d, eps, needed):
    n = len(d)
    near = [[j for j in range(n) if d[i][j] <= eps] for i in range(n)]
    core = [len(near[i]) >= needed for i in range(n)]
    labels = [-1] * n
    found = 0
    for start in range(n):
        if not core[start] or labels[start] >= 0:
            continue
        todo = [start]
        labels[start] = found
        while todo:
            i = todo.pop()
            for j in near[i]:
                if core[j] and labels[j] < 0:
                    labels[j] = found
                    todo.append(j)
        found += 1
    for i in range(n):
        if not core[i]:
            reached = [labels[j] for j in near[i] if core[j]]
            labels[i] = min(reached) if reached else -1
    return np.array(labels)


def f_table(y, c):
    classes, clusters = sorted(set(y)), sorted(set(c) - {-1})
    table = {}
    for i in classes:
        for j in clusters:
            both = sum(a == i and b == j for a, b in zip(y, c, strict=True))
            p = both / sum(b == j for b in c)
            r = both / sum(a == i for a in y)
            table[i, j] = 2 * p * r / (p + r) if both else 0.0
    return classes, clusters, table


def f_measure(y, c, definition):
    y, c = list(y), list(c)
    n = len(y)
    if definition == "pairwise":
        tp = fp = fn = 0
        for i, j in itertools.combinations(range(n), 2):
            together, alike = c[i] == c[j] != -1, y[i] == y[j]
            tp += together and alike
            fp += together and not alike
            fn += alike and not together
        return 2 * tp / (2 * tp + fp + fn) if tp else 0.0
    classes, clusters, table = f_table(y, c)
    if not clusters:
        return 0.0
    if definition == "class_weighted":
        return sum(y.count(i) / n * max(table[i, j] for j in clusters) for i in classes)
    places = clusters + [None] * len(classes)  # a class may stay without a cluster
    best = 0.0
    for chosen in itertools.permutations(places, len(classes)):
        total = sum(table.get((i, j), 0.0) for i, j in zip(classes, chosen, strict=True))
        best = max(best, total)
    return best / len(classes)


def purity(y, c):
    total = 0
    for j in set(c) - {-1}:
        inside = [a for a, b in zip(y, c, strict=True) if b == j]
        total += max(inside.count(a) for a in inside)
    return total / len(y)


def adjusted_rand(y, c):
    n = len(y)
    if n < 2:
        return 1.0
    pairs = list(itertools.combinations(range(n), 2))
    a = sum(y[i] == y[j] and c[i] == c[j] for i, j in pairs)
    b = sum(y[i] == y[j] for i, j in pairs)
    k = sum(c[i] == c[j] for i, j in pairs)
    e = b * k / len(pairs)
    return 1.0 if (b + k) / 2 == e else (a - e) / ((b + k) / 2 - e)


def silhouette(d, c):
    n, total = len(c), 0.0
    for i in range(n):
        own = [j for j in range(n) if c[j] == c[i] and j != i]
        if not own:
            continue
        a = sum(d[i][j] for j in own) / len(own)
        b = min(
            sum(d[i][j] for j in range(n) if c[j] == g) / sum(c[j] == g for j in range(n))
            for g in set(c) - {c[i]}
        )
        total += (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return total / n


def search_eps(d, y, needed, definition="class_weighted"):
    """Return (low, high, best eps, best F) for one number of neighbors."""
    n = len(d)
    distinct = sorted(set(np.asarray(d).ravel()))
    low = min(sorted(d[i])[needed - 1] for i in range(n))
    one = [e for e in distinct if set(dbscan(d, e, needed)) == {0}]
    high = one[0]
    first, last = low, high
    best, best_eps = -1.0, None
    while True:
        step = (high - low) / 20
        for i in range(21):
            eps = low + i * step
            score = f_measure(y, dbscan(d, eps, needed), definition)
            if score > best or (score == best and eps < best_eps):
                best, best_eps = score, eps
        scale = best_eps if best_eps > 0 else last
        unit = 10.0 ** (math.floor(math.log10(scale)) - 2) if scale > 0 else math.inf
        if step == 0 or step < unit:
            return first, last, best_eps, best
        low, high = max(0.0, best_eps - step), best_eps + step


def agglomerate(d, k, way):
    """Merge by the Lance-Williams formula until k groups are left."""
    n = len(d)
    groups = {i: [i] for i in range(n)}
    far = {(i, j): float(d[i][j]) for i in range(n) for j in range(n) if i < j}
    while len(groups) > k:
        a, b = min(far, key=far.get)
        between = far.pop((a, b))
        for c in list(groups):
            if c in (a, b):
                continue
            ca, cb = tuple(sorted((c, a))), tuple(sorted((c, b)))
            da, db = far[ca], far.pop(cb)
            if way == "complete":
                far[ca] = max(da, db)
            else:
                na, nb, nc = len(groups[a]), len(groups[b]), len(groups[c])
                total = (na + nc) * da**2 + (nb + nc) * db**2 - nc * between**2
                far[ca] = math.sqrt(total / (na + nb + nc))
        groups[a] += groups.pop(b)
    labels = np.empty(n, dtype=int)
    for number, members in enumerate(sorted(groups.values(), key=min)):
        labels[members] = number
    return labels


def principal_coordinates(s, k):
    """Coordinates, one by one the best, whose inner products are s after centering."""
    n = len(s)
    center = np.eye(n) - np.full((n, n), 1.0 / n)
    values, vectors = np.linalg.eigh(center @ s @ center)
    return vectors[:, ::-1][:, :k] * np.sqrt(values[::-1][:k])


def spectral_coordinates(w, k):
    """Eigenvectors of I - G^-1/2 W G^-1/2 for the k smallest eigenvalues, rows of length 1."""
    w = np.array(w, dtype=float)
    np.fill_diagonal(w, 0.0)
    g = w.sum(axis=1)
    g[g == 0] = np.finfo(float).eps
    laplacian = np.eye(len(w)) - w / np.sqrt(np.outer(g, g))
    values, vectors = np.linalg.eigh(laplacian)
    u = vectors[:, np.argsort(values)[:k]]
    length = np.linalg.norm(u, axis=1, keepdims=True)
    return u / np.where(length > 0, length, 1.0)


def affinity_propagation(d, preference, rounds=600, damping=0.9):
    """Pass messages as defined, entry by entry; return the label of each row's exemplar."""
    n = len(d)
    s = -np.asarray(d, dtype=float)
    np.fill_diagonal(s, preference)
    r, a = np.zeros((n, n)), np.zeros((n, n))
    for _ in range(rounds):
        new = np.empty((n, n))
        for i in range(n):
            for k in range(n):
                new[i, k] = s[i, k] - max(a[i, q] + s[i, q] for q in range(n) if q != k)
        r = damping * r + (1 - damping) * new
        for i in range(n):
            for k in range(n):
                given = sum(max(0.0, r[q, k]) for q in range(n) if q not in (i, k))
                new[i, k] = given if i == k else min(0.0, r[k, k] + given)
        a = damping * a + (1 - damping) * new
    exemplars = [k for k in range(n) if r[k, k] + a[k, k] > 0]
    return exemplars, [
        k if k in exemplars else max(exemplars, key=lambda e: s[k, e]) for k in range(n)
    ]


def spanning_tree_weight(d, needed):
    """Weight of the shortest tree over all rows in mutual reachability, by adding nearest rows."""
    d = np.asarray(d, dtype=float)
    n = len(d)
    core = np.sort(d, axis=1)[:, needed - 1]
    reach = np.maximum(d, np.maximum(core[:, None], core[None, :]))
    inside, total = {0}, 0.0
    while len(inside) < n:
        cost, new = min((reach[i, j], j) for i in inside for j in range(n) if j not in inside)
        inside.add(new)
        total += cost
    return total


def same_partition(one, two):
    """Whether two labelings group rows alike, noise being noise in both."""
    one, two = list(one), list(two)
    if [a == -1 for a in one] != [b == -1 for b in two]:
        return False
    pairs = {(a, b) for a, b in zip(one, two, strict=True)}
    return len(pairs) == len(set(one)) == len(set(two))
