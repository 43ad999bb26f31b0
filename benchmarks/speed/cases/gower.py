"""Gower's distance on mixed columns: the full matrix, and the nearest of a million rows.

Two rivals are too slow for the whole problem and get a part of it; their labels say which. The
targets then count the part: a matrix of 3/10 of the rows is 0.09 of the work, one query against a
twentieth of the rows is 1/20,000 of it.
"""

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

NUMBERS, CATEGORIES, LEVELS = 10, 10, 8
GOWER = "gower (3/10 of the rows)"
ONE_HOT = "scipy cityblock on one-hot"
TWO_CDIST = "scipy cityblock + hamming"
TOPN = "gower_topn (1 query, 1/20 of the rows)"
SCAN = "numpy scan (1 query)"
K = 10


# -- the full matrix -------------------------------------------------------------------------------


def complete(small):
    """Numbers in [0, 1] with both ends among the first rows, so that every part has that range."""
    n = 100 if small else 5_000
    random = np.random.default_rng(0)
    numbers = random.random((n, NUMBERS))
    numbers[0], numbers[1] = 0.0, 1.0
    return numbers, random.integers(0, LEVELS, (n, CATEGORIES))


def frame(numbers, codes):
    import pandas as pd

    words = np.array([*(f"level {v}" for v in range(LEVELS)), None], dtype=object)
    columns = {f"number {j}": column for j, column in enumerate(numbers.T)}
    columns |= {f"category {j}": pd.Series(words[c], dtype=object) for j, c in enumerate(codes.T)}
    return pd.DataFrame(columns)


def ours(problem):
    from lookalike.measures import Gower

    return Gower().fit(frame(*problem)).distance


def gower_package(problem):
    import gower

    numbers, codes = problem
    part = frame(numbers[: len(numbers) * 3 // 10], codes[: len(codes) * 3 // 10])
    return lambda: gower.gower_matrix(part)


def one_hot(problem):
    """Each category as columns of 0 and 1/2: two categories that differ are 1 apart."""
    from scipy.spatial.distance import cdist

    numbers, codes = problem
    hot = (codes[:, :, None] == np.arange(LEVELS)).reshape(len(codes), -1) / 2
    rows = np.hstack([numbers, hot])
    return lambda: cdist(rows, rows, "cityblock") / (NUMBERS + CATEGORIES)


def two_distances(problem):
    from scipy.spatial.distance import cdist

    numbers, codes = problem[0], problem[1].astype(float)
    share = 1 / (NUMBERS + CATEGORIES)
    return lambda: (
        cdist(numbers, numbers, "cityblock") * share
        + cdist(codes, codes, "hamming") * (CATEGORIES * share)
    )


def agree_matrix(ours, theirs):
    """Want equal values on the part that the rival did; the gower package has single precision."""
    part = ours[: len(theirs), : len(theirs)]
    worst = float(np.max(np.abs(part - theirs)))
    allowed = 1e-6 if theirs.dtype == np.float32 else 1e-12
    return "" if worst <= allowed else f"values differ by up to {worst:g}"


# -- neighbors -------------------------------------------------------------------------------------


def with_gaps(small):
    """Draw a collection and queries, one cell in ten missing (NaN, and code -1)."""
    n, queries = (2_000, 20) if small else (1_000_000, 1_000)
    random = np.random.default_rng(1)

    def draw(m):
        numbers = random.random((m, NUMBERS))
        numbers[random.random(numbers.shape) < 0.1] = np.nan
        codes = random.integers(0, LEVELS, (m, CATEGORIES))
        codes[random.random(codes.shape) < 0.1] = -1
        return numbers, codes

    collection = draw(n)
    collection[0][0], collection[0][1] = 0.0, 1.0
    return collection, draw(queries)


def our_search(problem):
    from lookalike.measures import Gower
    from lookalike.table import read_table

    collection, queries = (read_table(frame(*rows)) for rows in problem)
    measure = Gower().fit(collection)
    return lambda: measure.kneighbors(queries, K)


def topn(problem):
    """Only the clock counts: with gaps its answers mean something else (a gap is a mismatch)."""
    import gower

    (numbers, codes), queries = problem
    part = frame(numbers[: len(numbers) // 20], codes[: len(codes) // 20])
    query = frame(queries[0][:1], queries[1][:1])

    def run():
        gower.gower_topn(query, part, n=K)

    return run


def scan(problem):
    """One query against all rows, column by column, as one would write it in numpy."""
    (numbers, codes), queries = problem
    numbers, codes = np.asfortranarray(numbers), np.asfortranarray(codes)
    x, c = queries[0][0], queries[1][0]

    def run():
        against, compared = np.zeros(len(numbers)), np.zeros(len(numbers))
        for j in range(NUMBERS):
            gap = np.minimum(np.abs(numbers[:, j] - x[j]), 1)
            there = ~np.isnan(gap)
            against += np.where(there, gap, 0)
            compared += there
        for j in range(CATEGORIES):
            there = (codes[:, j] >= 0) & (c[j] >= 0)
            against += there & (codes[:, j] != c[j])
            compared += there
        return np.sort(np.partition(against / compared, K)[:K])

    return run


def agree_search(ours, theirs):
    """Want the same distances for the one query that the scan did."""
    if theirs is None:
        return ""
    worst = float(np.max(np.abs(ours[0][0] - theirs)))
    return "" if worst <= 1e-12 else f"distances differ by up to {worst:g}"


CASES = [
    Case(
        "gower matrix, 5,000 rows, 10 numbers and 10 categories",
        complete,
        ours,
        {GOWER: gower_package, ONE_HOT: one_hot, TWO_CDIST: two_distances},
        agree_matrix,
        (Faster(GOWER, 1 / 0.09 / 100), Faster(ONE_HOT, 1 / 8), Faster(TWO_CDIST, 1 / 3)),
    ),
    Case(
        "gower neighbors, 1,000 queries against 1,000,000 rows with gaps",
        with_gaps,
        our_search,
        {TOPN: topn, SCAN: scan},
        agree_search,
        (Faster(TOPN, 20_000 / 200), Smaller(600)),
    ),
]
