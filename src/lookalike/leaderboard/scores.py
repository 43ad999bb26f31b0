"""Statistics of a measure from the distances of a sample of rows, and how two measures agree."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows, UndefinedMeasure
from lookalike.hubness import k_occurrence, skewness
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle, square
from lookalike.measures.medoids import fasterpam
from lookalike.measures.precomputed import Precomputed

MAX_TRIPLES = 10_000
BLOCK_ROWS = 256  # rows ranked in one call
TRIED_CLUSTERS = range(2, 7)  # numbers of clusters that are tried for a silhouette


def some_rows(n: int, most: int, seed: int) -> np.ndarray:
    """Return all of n positions, or a fixed sample of them in ascending order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def check_rows(k: int, n: int, who: str) -> None:
    """Refuse a sample of n rows that is too small for lists of k."""
    # Rankings of fewer than three rows cannot disagree, and lists need k other rows.
    needed = max(k + 1, 3)
    if n < needed:
        hint = Phrase("Use ", Param("k", n - 1)) if n >= 3 else "Add rows"
        where, found = Param("k", k, of=who), Param("n_samples", n)
        raise TooFewRows(where, f"at least {needed} rows", found, hint)


def distances_among(
    measure: Measure, positions: np.ndarray, n_jobs: int | None = None, mirrored: bool = False
) -> tuple[np.ndarray, float]:
    """Return the distances between some fitted rows, and the share of pairs without one.

    Pairs that cannot be compared are put as far apart as the farthest pair. Both directions are
    computed, so that a claim of symmetry can be looked into, unless ``mirrored``.
    """
    rows = measure.rows_[positions]
    if mirrored:
        out = square(measure, rows, undefined="keep", n_jobs=n_jobs)
    else:
        out = rectangle(measure, rows, rows, undefined="keep", n_jobs=n_jobs)
    pairs = ~np.eye(len(positions), dtype=bool)
    undefined = ~np.isfinite(out) & pairs
    if not undefined.any():
        return out, 0.0
    known = out[~undefined & pairs]
    if not len(known):
        who, needed = type(measure).__name__, "pairs of rows with something to compare"
        raise UndefinedMeasure(who, needed, "none", "Leave out empty rows and columns")
    out[undefined] = known.max()
    return out, float(undefined.sum() / pairs.sum())


def tied_share(distances: np.ndarray) -> float:
    """Return the share of entries that equal another one in their row; the diagonal is left out."""
    n = len(distances)
    if n < 3:
        return 0.0
    others = np.sort(distances[~np.eye(n, dtype=bool)].reshape(n, n - 1), axis=1)
    # After sorting, equal values are side by side.
    same = others[:, 1:] == others[:, :-1]
    tied = np.zeros(others.shape, dtype=bool)
    tied[:, 1:] |= same
    tied[:, :-1] |= same
    return float(tied.mean())


def zero_share(similarities: np.ndarray) -> float:
    """Return the share of pairs of different rows whose similarity is 0."""
    off = ~np.eye(len(similarities), dtype=bool)
    return float((similarities[off] == 0).mean()) if off.any() else 0.0


def smallest_eigenvalue(similarities: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of the symmetric part of a matrix."""
    from scipy.linalg import eigvalsh

    # A kernel matrix is symmetric; of a directed measure the symmetric part decides.
    values = eigvalsh((similarities + similarities.T) / 2)
    return float(values[0]), float(values[-1])


def violated_share(distances: np.ndarray, seed: int = 0, n_triples: int = MAX_TRIPLES) -> float:
    """Return the share of triples of rows in which a detour is shorter than the direct way.

    All triples if there are no more than ``n_triples``, else as many drawn with a fixed seed. With
    distances that differ by direction, all six ways through three rows are looked at.
    """
    n = len(distances)
    if n < 3:
        return 0.0
    if n * (n - 1) * (n - 2) // 6 <= n_triples:
        # All triples of a small table: the share is exact then.
        triples = np.array(list(combinations(range(n), 3)))
    else:
        rng = np.random.default_rng(seed)
        # Drawn from n, n - 1 and n - 2 rows and moved past those taken: three different rows each.
        first, second, third = (rng.integers(n - taken, size=n_triples) for taken in range(3))
        second += second >= first
        third += third >= np.minimum(first, second)
        third += third >= np.maximum(first, second)
        triples = np.column_stack([first, second, third])
    broken = np.zeros(len(triples), dtype=bool)
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        x, y, z = triples[:, a], triples[:, b], triples[:, c]
        direct, detour = distances[x, z], distances[x, y] + distances[y, z]
        broken |= direct > detour + 1e-12 * np.maximum(direct, detour)  # not by rounding alone
    return float(broken.mean())


def expected_hubness(distances: np.ndarray, k: int) -> float:
    """Return the skewness of the k-occurrence, rows tied for the end of a list sharing it."""
    own = distances.copy()
    np.fill_diagonal(own, 0.0)
    space = Precomputed(symmetric=False).fit(own)
    return skewness(k_occurrence(space, k, ties="expected"))


def precision_at_k(neighbors: np.ndarray, own: np.ndarray) -> float:
    """Return the share of neighbors that have the label of the row.

    Parameters
    ----------
    neighbors : labels of the neighbors, an array of shape (n, k)
    own : labels of the n rows
    """
    return float((neighbors == own[:, None]).mean())


def best_silhouette(distances: np.ndarray) -> float:
    """Return the best mean silhouette of two to six clusters around medoids (FasterPAM)."""
    from lookalike.clustering.scores import silhouette_of

    both = (distances + distances.T) / 2  # medoids and silhouettes need symmetric distances
    np.fill_diagonal(both, 0.0)
    best = -1.0
    for groups in TRIED_CLUSTERS:
        if groups >= len(both):
            break
        labels = fasterpam(both, groups).labels
        if len(np.unique(labels)) > 1:
            best = max(best, silhouette_of(both, labels))
    return best


# -- agreement of two measures ---------------------------------------------------------------------


class Agreement(NamedTuple):
    """How far two similarities rank the rows alike: mean and spread over the rows.

    Examples
    --------
    >>> Agreement(mean=0.98, std=0.01).mean
    0.98
    """

    mean: float
    std: float


def ranking_agreement(one: Any, other: Any) -> Agreement:
    """Return how similarly two measures rank the rows, from -1 (reversed) to 1 (the same).

    For each row the other rows are ranked by both similarities, ties sharing the mean rank, and the
    two rankings are correlated (Spearman). Two rankings in which all rows tie agree fully; one that
    ties all rows and one that does not agree with 0.

    Use it to see whether a forest has enough trees (two seeds), or whether an option matters at
    all. It says nothing about which of the two is better.

    Parameters
    ----------
    one, other : array of shape (n, n), or fitted measure
        Similarities; of a measure, those between its fitted rows. The diagonal is not used.

    Returns
    -------
    Agreement
        ``mean`` and ``std`` (population) of the correlation over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.leaderboard import ranking_agreement
    >>> s = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.4], [0.5, 0.4, 1.0]])
    >>> ranking_agreement(s, s**2)
    Agreement(mean=1.0, std=0.0)
    """
    from scipy.stats import rankdata

    first, second = _matrix(one, "the first"), _matrix(other, "the second")
    if first.shape != second.shape:
        found = f"shapes {first.shape} and {second.shape}"
        hint = "Compare similarities of one table"
        raise InvalidInput("ranking_agreement", "two matrices over the same rows", found, hint)
    n = len(first)
    if n < 3:
        raise TooFewRows("ranking_agreement", "at least 3 rows", Param("n_samples", n), "Add rows")
    rho = np.empty(n)
    for part in blocks(n, BLOCK_ROWS):
        others = np.arange(n)[part, None] != np.arange(n)
        # Centered ranks; their sums are multiples of 1/2, so a constant row is exactly zero.
        ours, theirs = (
            rankdata(matrix[part][others].reshape(-1, n - 1), axis=1) - n / 2
            for matrix in (first, second)
        )
        squares = (ours * ours).sum(axis=1), (theirs * theirs).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            rho[part] = (ours * theirs).sum(axis=1) / np.sqrt(squares[0] * squares[1])
        # 0 / 0 in the correlation: defined as in the docstring.
        constant = np.equal(squares, 0)
        rho[part][constant.any(axis=0)] = 0.0
        rho[part][constant.all(axis=0)] = 1.0
    rho = np.clip(rho, -1.0, 1.0)
    return Agreement(float(rho.mean()), float(rho.std()))


def _matrix(space: Any, which: str) -> np.ndarray:
    if hasattr(space, "similarity"):
        space = space.similarity()
    matrix = np.asarray(space, dtype=np.float64)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    if not square or np.isnan(matrix).any():
        needed = "a square matrix of similarities, or a fitted measure"
        found = "undefined entries (NaN)" if square else f"an array of shape {matrix.shape}"
        hint = "Give one similarity for every pair of rows"
        raise InvalidInput(f"ranking_agreement ({which})", needed, found, hint)
    return matrix
