"""Repairs of hubness from rows to matrix or lists, beside careful numpy and scipy."""

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

ROWS = "numpy, row by row"
NUMPY = "numpy and scipy"
K = 10


def normal(n, d, small):
    """Make normal rows: as many hubs as rows of that width can have."""
    return np.random.default_rng(3).normal(size=(200 if small else n, d))


def mutual_small(small):
    return normal(2_000, 20, small)


def mutual_large(small):
    return normal(10_000, 20, small)


def five_thousand(small):
    return normal(5_000, 50, small)


def labelled(small):
    rows = normal(5_000, 50, small)
    return rows, np.random.default_rng(4).integers(0, 5, len(rows))


def collection(small):
    """Make a large collection and a thousand rows to look up."""
    random = np.random.default_rng(5)
    n, m = (2_000, 50) if small else (200_000, 1_000)
    return random.normal(size=(n, 50)), random.normal(size=(m, 50))


def ours(make):
    """Fit and build the whole matrix."""

    def prepare(rows):
        import lookalike.hubness as hubness
        from lookalike.measures import Vector

        return lambda: make(hubness, Vector()).fit(rows).distance()

    return prepare


def distances(rows):
    from scipy.spatial.distance import cdist

    return cdist(rows, rows)


def counting(rows):
    """Empirical mutual proximity, vectorized over the partners of a row."""

    def run():
        d = distances(rows)
        n = len(d)
        out = np.empty_like(d)
        for x in range(n):
            farther = (d[x] > d[x][:, None]) & (d > d[x][:, None])
            out[x] = 1 - farther.sum(axis=1) / n
        np.fill_diagonal(out, 0)
        return out

    return run


def gauss(rows):
    """Independent normal distributions; in place wherever that is possible."""
    from scipy.special import ndtr

    def run():
        d = distances(rows)
        n = len(d)
        mean = d.sum(axis=1) / (n - 1)
        square = np.einsum("ij,ij->i", d, d) / (n - 1)
        sd = np.sqrt(square - mean**2)
        d -= mean[:, None]
        d /= -sd[:, None]
        ndtr(d, out=d)
        out = d * d.T
        np.subtract(1, out, out=out)
        np.fill_diagonal(out, 0)
        return out

    return run


def nicdm(rows):
    """One partition for the neighborhoods, then two divisions in place."""

    def run():
        d = distances(rows)
        root = np.sqrt(np.partition(d, K, axis=1)[:, : K + 1].sum(axis=1) / K)
        d /= root[:, None]
        d /= root
        return d

    return run


def sampled(problem):
    from lookalike.hubness import MutualProximity
    from lookalike.measures import Vector

    rows, new = problem
    measure = MutualProximity(Vector(), "gauss_independent", sample=30, random_state=0)
    return lambda: measure.fit(rows).kneighbors(new, K)


def index(problem):
    from lookalike.evaluate import goodman_kruskal
    from lookalike.measures import Vector

    rows, y = problem
    measure = Vector().fit(rows)
    return lambda: goodman_kruskal(measure, y)


def index_by_numpy(problem):
    """Sort the distances between labels, look up those within."""
    rows, y = problem

    def run():
        d = distances(rows)[np.triu_indices(len(rows), 1)]
        same = (y[:, None] == y)[np.triu_indices(len(rows), 1)]
        within, between = d[same], np.sort(d[~same])
        above = int((len(between) - np.searchsorted(between, within, "right")).sum())
        below = int(np.searchsorted(between, within, "left").sum())
        return (above - below) / (above + below)

    return run


def agree(ours, theirs):
    """Want the same numbers up to rounding."""
    gap = float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs))))
    return "" if gap < 1e-9 else f"values differ by up to {gap:g}"


def empirical(hubness, inner):
    return hubness.MutualProximity(inner, "empirical")


CASES = [
    Case(
        "empirical mutual proximity, 2,000 rows",
        mutual_small,
        ours(empirical),
        {ROWS: counting},
        agree,
        (Faster(ROWS, 1 / 40),),
    ),
    Case(
        "empirical mutual proximity, 10,000 rows",
        mutual_large,
        ours(empirical),
        {},
        agree,
        (Smaller(2_000),),
    ),
    Case(
        "mutual proximity, independent Gauss, 5,000 rows",
        five_thousand,
        ours(lambda hubness, inner: hubness.MutualProximity(inner, "gauss_independent")),
        {NUMPY: gauss},
        agree,
        (Faster(NUMPY, 1 / 3),),
    ),
    Case(
        "NICDM, 5,000 rows",
        five_thousand,
        ours(lambda hubness, inner: hubness.NICDM(inner, K)),
        {NUMPY: nicdm},
        agree,
        (Faster(NUMPY, 1 / 3),),
    ),
    Case(
        "sampled mutual proximity, 1,000 new rows among 200,000",
        collection,
        sampled,
        {},
        agree,
        (Smaller(1_000),),
    ),
    Case(
        "Goodman-Kruskal index, 5,000 rows",
        labelled,
        index,
        {NUMPY: index_by_numpy},
        agree,
    ),
]
