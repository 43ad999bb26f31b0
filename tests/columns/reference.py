"""Every distance by its definition, as a reference: two cells in, one number out."""

import functools
import itertools
import math
import re
from collections import Counter

import numpy as np


def absolute(u, v):
    return abs(u - v)


def number_similarity(u, v, span, alpha=1.0, beta=1.0):
    if span == 0:
        return 1.0 if u == v else 0.0
    z = min(abs(u - v) / span, 1.0)
    return (1 - z**beta) ** alpha


def differ(u, v):
    return float(u != v)


def information(a, b, counts):
    """Similarity of levels a and b from the counts of all levels."""
    counts = [float(count) for count in counts]
    if 0.0 in counts:
        counts = [count + 0.5 for count in counts]
    share = [count / sum(counts) for count in counts]
    low, high = min(a, b), max(a, b)
    if low == high:
        return 1.0
    span = sum(share[low : high + 1])
    if span >= 1 - 1e-12:
        return 0.0
    return 2 * math.log(span) / (math.log(share[low]) + math.log(share[high]))


def cyclic(a, b, n_levels):
    steps = 0
    while (a + steps) % n_levels != b and (a - steps) % n_levels != b:
        steps += 1
    return steps / (n_levels // 2)


def circular(u, v, period=360.0):
    """Turn one of the two back and forth by whole periods, and take the nearest."""
    turns = range(int(abs(u - v) / period) + 2)
    return min(abs(u - v + sign * turn * period) for turn in turns for sign in (-1, 1))


def great_circle(u, v):
    """Return the arc between two places by the haversine formula, in kilometers."""
    (a, b), (c, d) = ([math.radians(degrees) for degrees in place] for place in (u, v))
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6371.0088 * math.asin(min(1.0, math.sqrt(half)))


def rank_range(a, b, n_levels):
    return abs(a - b) / (n_levels - 1) if n_levels > 1 else 0.0


def normal_divergence(u, v):
    """Kullback-Leibler divergence; each is means, then a covariance matrix."""
    d = round((math.sqrt(1 + 4 * len(u)) - 1) / 2)
    (p, P), (q, Q) = ((np.array(c[:d]), np.reshape(c[d:], (d, d))) for c in (u, v))
    inverse, gap = np.linalg.inv(Q), q - p
    ratio = math.log(np.linalg.det(Q) / np.linalg.det(P))
    return (np.trace(inverse @ P) + gap @ inverse @ gap - d + ratio) / 2


def gaussian(u, v):
    return (normal_divergence(u, v) + normal_divergence(v, u)) / 2


def edit(u, v, relabel=differ):
    """Edit distance with insert = delete = 1, by the full table."""
    table = [[float(i + j) for j in range(len(v) + 1)] for i in range(len(u) + 1)]
    for i in range(1, len(u) + 1):
        for j in range(1, len(v) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + relabel(u[i - 1], v[j - 1]),
            )
    return table[-1][-1]


def normalized_edit(u, v, relabel=differ):
    return edit(u, v, relabel) / max(len(u), len(v), 1)


def edit_sets(u, v):
    return edit(u, v, jaccard)


def common_subsequence(u, v):
    """Length of the longest common subsequence."""
    table = [[0] * (len(v) + 1) for _ in range(len(u) + 1)]
    for i in range(len(u)):
        for j in range(len(v)):
            best = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if u[i] == v[j] else best
    return table[-1][-1]


def token_set(u, v):
    one, other = set(u.split()), set(v.split())
    if not one or not other:
        return float(bool(one) != bool(other))
    both, left, right = (" ".join(sorted(s)) for s in (one & other, one - other, other - one))
    if both and (not left or not right):
        return 0.0

    def ratio(s, t):
        return 2 * common_subsequence(s, t) / (len(s) + len(t))

    with_left, with_right = f"{both} {left}".strip(), f"{both} {right}".strip()
    found = [ratio(with_left, with_right)]
    if both:
        found += [ratio(both, with_left), ratio(both, with_right)]
    return 1 - max(found)


def jaro_winkler(u, v, weight=0.1):
    if not u and not v:
        return 0.0
    reach = max(max(len(u), len(v)) // 2 - 1, 0)
    taken = [False] * len(v)
    found_u = []
    for i, letter in enumerate(u):
        for j in range(max(0, i - reach), min(len(v), i + reach + 1)):
            if not taken[j] and v[j] == letter:
                taken[j] = True
                found_u.append(letter)
                break
    m = len(found_u)
    if m == 0:
        return 1.0
    found_v = [v[j] for j in range(len(v)) if taken[j]]
    swaps = sum(a != b for a, b in zip(found_u, found_v, strict=True)) // 2
    similar = (m / len(u) + m / len(v) + (m - swaps) / m) / 3
    if similar > 0.7:
        prefix = 0
        while prefix < min(4, len(u), len(v)) and u[prefix] == v[prefix]:
            prefix += 1
        similar += prefix * weight * (1 - similar)
    return 1 - similar


def jaccard(u, v):
    return 1 - len(u & v) / len(u | v) if u | v else 0.0


def overlap(u, v):
    least = min(len(u), len(v))
    if least == 0:
        return float(len(u) != len(v))
    return 1 - len(u & v) / least


def dtw(u, v, window=None):
    n, m = len(u), len(v)
    reach = max(n, m) if window is None else max(window, abs(n - m))
    table = {(0, 0): 0.0}
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if abs(i - j) <= reach:
                before = [(i - 1, j), (i, j - 1), (i - 1, j - 1)]
                least = min(table.get(at, math.inf) for at in before)
                table[i, j] = abs(u[i - 1] - v[j - 1]) + least
    return table.get((n, m), math.inf)


def euclidean(u, v):
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(u, v, strict=True)))


def cosine(u, v):
    length_u, length_v = math.sqrt(sum(x * x for x in u)), math.sqrt(sum(x * x for x in v))
    if length_u == 0 or length_v == 0:
        return float(length_u != length_v)
    return 1 - sum(x * y for x, y in zip(u, v, strict=True)) / (length_u * length_v)


def share(u):
    return [x / sum(u) for x in u] if sum(u) else list(u)


def normalized(u, v):
    return euclidean(share(u), share(v))


def kullback_leibler(u, v, smoothing=1e-3):
    """The mean of both divergences, bin by bin."""
    p, q = (
        [(1 - smoothing) * (x / sum(w) if sum(w) else 1 / len(w)) + smoothing / len(w) for x in w]
        for w in (u, v)
    )
    one = sum(x * math.log(x / y) for x, y in zip(p, q, strict=True))
    return (one + sum(y * math.log(y / x) for x, y in zip(p, q, strict=True))) / 2


def earth_mover(u, v):
    ends_u, ends_v = itertools.accumulate(u), itertools.accumulate(v)
    return sum(abs(x - y) for x, y in zip(ends_u, ends_v, strict=True))


def graph_jaccard(g, h):
    return jaccard(set(g.nodes.items()) | set(g.edges), set(h.nodes.items()) | set(h.edges))


def neighbors(g):
    near = {node: set() for node in g.nodes}
    for one, other in g.edges:
        near[one].add(other)
        near[other].add(one)
    return near


def label_counts(g, rounds=3):
    """Counts of labels over all rounds; a label is spelled out as nested tuples, never hashed."""
    near = neighbors(g)
    label = {node: (0, repr(kind)) for node, kind in g.nodes.items()}
    bag = Counter(label.values())
    for step in range(1, rounds + 1):
        label = {
            node: (step, label[node], tuple(sorted((label[o] for o in near[node]), key=repr)))
            for node in label
        }
        bag.update(label.values())
    return bag


def wl(g, h, rounds=3):
    one, other = label_counts(g, rounds), label_counts(h, rounds)
    return math.sqrt(sum((one[label] - other[label]) ** 2 for label in one | other))


def ged(g, h):
    """Try every way of laying the nodes of one graph on those of the other."""
    nodes_g, nodes_h = list(g.nodes), list(h.nodes)
    edges_h = {frozenset(edge) for edge in h.edges}
    best = math.inf
    places = nodes_h + [None] * len(nodes_g)
    for image in set(itertools.permutations(places, len(nodes_g))):
        to = dict(zip(nodes_g, image, strict=True))
        cost = sum(o is None or g.nodes[n] != h.nodes[o] for n, o in to.items())
        cost += len(nodes_h) - sum(o is not None for o in image)
        moved = {frozenset(to[end] for end in edge) for edge in g.edges}
        lost = sum(None in edge for edge in (tuple(to[e] for e in pair) for pair in g.edges))
        kept = {edge for edge in moved if None not in edge}
        cost += lost + len(kept - edges_h) + len(edges_h - kept)
        best = min(best, cost)
    return float(best)


def unit_of(fitted):
    """Return the standard deviation of the values of some series, 1 where they are equal."""
    values = [value for cell in fitted for value in cell]
    return float(np.std(values)) if len(set(values)) > 1 else 1.0


def msm(x, y, fitted, price=1.0, window=None):
    """Return the least cost by the recursion of Stefan, Athitsos and Das (2013)."""
    if not x or not y:
        return 0.0 if not x and not y else math.inf
    reach = max(len(x), len(y)) if window is None else max(window, abs(len(x) - len(y)))
    price = price * unit_of(fitted)

    def price_of(new, before, other):
        between = min(before, other) <= new <= max(before, other)
        return price if between else price + min(abs(new - before), abs(new - other))

    @functools.cache
    def cost(i, j):
        if i < 0 or j < 0 or abs(i - j) > reach:
            return math.inf
        if i == j == 0:
            return abs(x[0] - y[0])
        return min(
            cost(i - 1, j - 1) + abs(x[i] - y[j]),
            cost(i - 1, j) + (price_of(x[i], x[i - 1], y[j]) if i else math.inf),
            cost(i, j - 1) + (price_of(y[j], y[j - 1], x[i]) if j else math.inf),
        )

    return cost(len(x) - 1, len(y) - 1)


def twe(x, y, fitted, price=1.0, stiffness=0.001, window=None):
    """Return the least cost by the recursion of Marteau (2009); a 0 precedes both series."""
    if not x or not y:
        return 0.0 if not x and not y else math.inf
    reach = max(len(x), len(y)) if window is None else max(window, abs(len(x) - len(y)))
    x, y = [0.0, *x], [0.0, *y]
    price, stiffness = price * unit_of(fitted), stiffness * unit_of(fitted)

    @functools.cache
    def cost(i, j):
        if i == j == 0:
            return 0.0
        if i == 0 or j == 0 or abs(i - j) > reach:
            return math.inf
        gaps = abs(x[i] - y[j]) + abs(x[i - 1] - y[j - 1])
        return min(
            cost(i - 1, j - 1) + gaps + 2 * stiffness * abs(i - j),
            cost(i - 1, j) + abs(x[i] - x[i - 1]) + stiffness + price,
            cost(i, j - 1) + abs(y[j] - y[j - 1]) + stiffness + price,
        )

    return cost(len(x) - 1, len(y) - 1)


def word_weights(text, fitted, sublinear):
    """Return the weights of the words of a text, by the definition."""
    fitted = [set(re.findall(r"\w\w+", t.casefold())) for t in fitted if t is not None]
    known = {}
    for word, times in Counter(re.findall(r"\w\w+", text.casefold())).items():
        having = sum(word in words for words in fitted)
        if having:
            times = 1 + math.log(times) if sublinear else times
            known[word] = times * (1 + math.log((1 + len(fitted)) / (1 + having)))
    return known


def tfidf(u, v, fitted, sublinear=True):
    u, v = (word_weights(text, fitted, sublinear) for text in (u, v))
    if not u or not v:
        return float(bool(u) != bool(v))
    lengths = [math.sqrt(sum(x * x for x in side.values())) for side in (u, v)]
    return 1 - sum(u[word] * v.get(word, 0.0) for word in u) / math.prod(lengths)


def variance(cells, distance):
    return sum(distance(u, v) ** 2 for u in cells for v in cells) / (2 * len(cells) ** 2)


def rank_share(u, v, fitted):
    """Mid-ranks: values below, plus half of those equal, as a share of the fitted values."""
    if len(set(fitted)) < 2:
        return float(u != v)

    def place(x):
        return sum((y < x) + (y == x) / 2 for y in fitted) / len(fitted)

    return abs(place(u) - place(v))
