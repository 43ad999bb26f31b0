"""Reference implementations, written from the definitions, one pair of values at a time."""

import math


def tied_rank(values, x):
    """How many values are smaller, plus the mean place among the equals (x is one of them)."""
    return sum(v < x for v in values) + (1 + sum(v == x for v in values)) / 2


def inserted_rank_difference(seen, new, x, y):
    """Insert the new values, rank everything again, and subtract."""
    everything = list(seen) + list(new)
    return abs(tied_rank(everything, x) - tied_rank(everything, y))


def printed_rank_difference(seen, k, x):
    """The formula as printed: unseen k against seen x."""
    if k == x:
        return 0.0
    if k in seen:
        return abs(tied_rank(seen, k) - tied_rank(seen, x)) + 0.5
    below = [v for v in seen if v < k]
    rank = tied_rank(seen, max(below)) if below else 0.0
    return abs(rank - tied_rank(seen, x) + 0.5) + 0.5


def join(differences, metric):
    if metric == "cityblock":
        return sum(differences)
    if metric == "chebyshev":
        return max(differences)
    return math.sqrt(sum(d * d for d in differences))


def cosine(x, y):
    one, other = math.sqrt(sum(v * v for v in x)), math.sqrt(sum(v * v for v in y))
    if one == 0 or other == 0:
        return 0.0 if one == other else 1.0
    return 1 - sum(a * b for a, b in zip(x, y, strict=True)) / (one * other)


def distance(x, y, metric):
    if metric == "cosine":
        return cosine(x, y)
    return join([abs(a - b) for a, b in zip(x, y, strict=True)], metric)


def nearest(distances, k, exclude=None):
    """Sort everything by (distance, index)."""
    found = [(d, j) for j, d in enumerate(distances) if j != exclude]
    return sorted(found)[:k]


def ordinal(counts, a, b):
    """Similarity of two levels from how often each level was seen."""
    if a == b:
        return 1.0
    n, c = sum(counts), len(counts)
    shares = [k / n for k in counts] if all(counts) else [(k + 0.5) / (n + c / 2) for k in counts]
    low, high = min(a, b), max(a, b)
    span = sum(shares[low : high + 1])
    if span >= 1 - 1e-12:
        return 0.0
    return 2 * math.log(span) / (math.log(shares[low]) + math.log(shares[high]))


def partial(kind, x, y, fact):
    """Similarity of two cells, None if they cannot be compared; fact: range, counts or nothing."""
    if x is None or y is None:
        return None
    if kind == "number":
        if fact == 0:
            return float(x == y)
        return max(0.0, 1 - abs(x - y) / fact)
    if kind == "category":
        return float(x == y)
    if kind == "flag":
        return None if not x and not y else float(x == y)
    return ordinal(fact, x, y)


def gower(kinds, x, y, facts, weights, missing="ignore"):
    """Gower's similarity of two rows, None where nothing can be compared."""
    top = bottom = 0.0
    for kind, a, b, fact, w in zip(kinds, x, y, facts, weights, strict=True):
        s = partial(kind, a, b, fact)
        if s is None and missing != "ignore" and (a is None or b is None):
            s = 0.5 if missing == "midpoint" else 0.0
        if s is not None:
            top += w * s
            bottom += w
    return top / bottom if bottom else None
