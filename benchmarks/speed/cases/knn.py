"""The ten nearest of 100,000 rows for 1,000 new ones, beside scikit-learn's brute force."""

from functools import partial

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

K = 10
TIE = 1e-5  # relative: single precision, and an expansion that loses a few digits more
SKLEARN = "scikit-learn brute"


def uniform(small):
    """Uniform values in [0, 1]."""
    n, queries = (2_000, 50) if small else (100_000, 1_000)
    random = np.random.default_rng(0)
    return (
        random.random((n, 100), dtype=np.float32),
        random.random((queries, 100), dtype=np.float32),
    )


def clustered(small):
    """Fifty clusters far from the origin: the shape in which expanded squares lose digits."""
    n, queries = (2_000, 50) if small else (100_000, 1_000)
    random = np.random.default_rng(1)
    centers = random.normal(100.0, 3.0, (50, 100)).astype(np.float32)

    def draw(m):
        rows = random.standard_normal((m, 100), dtype=np.float32)
        rows += centers[random.integers(0, 50, m)]
        return rows

    return draw(n), draw(queries)


def ours(problem, metric):
    from lookalike.measures import Vector

    fitted, queries = problem
    measure = Vector(metric).fit(fitted)
    return lambda: measure.kneighbors(queries, K)


def scikit_learn(problem, metric):
    from sklearn.neighbors import NearestNeighbors

    fitted, queries = problem
    model = NearestNeighbors(n_neighbors=K, algorithm="brute", metric=metric).fit(fitted)
    return lambda: model.kneighbors(queries, K)


def agree(ours, theirs):
    """Want the same distances, and the same neighbors except where two are equally far."""
    (d, i), (e, j) = ours, theirs
    if d.shape != e.shape or i.shape != j.shape:
        return f"shapes {d.shape} and {e.shape}"
    if not np.allclose(d, e, rtol=TIE, atol=0):
        return f"distances differ by up to {np.max(np.abs(d - e) / e):.1e} relative"
    if any(len(set(row)) < K for row in i.tolist()):
        return "a neighbor is listed twice"
    close = np.diff(e, axis=1) <= 2 * TIE * e[:, 1:]
    # The last place may be tied with a row outside the list.
    last = np.ones((len(e), 1), dtype=bool)
    tied = np.hstack([~last, close]) | np.hstack([close, last])
    wrong = (i != j) & ~tied
    return f"{wrong.sum()} of {wrong.size} neighbors differ without a tie" if wrong.any() else ""


def case(name, problem, metric, targets=()):
    rivals = {SKLEARN: partial(scikit_learn, metric=metric)}
    return Case(name, problem, partial(ours, metric=metric), rivals, agree, targets)


AIMS = (Faster(SKLEARN, 0.6), Smaller(200))
CASES = [
    case("knn euclidean, uniform", uniform, "euclidean", AIMS),
    case("knn euclidean, clusters far from the origin", clustered, "euclidean", AIMS),
    case("knn cityblock, uniform", uniform, "cityblock"),
]
