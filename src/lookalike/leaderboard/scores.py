"""Statistics of a measure from the distances of a sample of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.errors import Param, Phrase, TooFewRows, UndefinedMeasure
from lookalike.hubness import k_occurrence, skewness
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle, square
from lookalike.measures.medoids import fasterpam
from lookalike.neighbors.graph import NeighborGraph

MAX_TRIPLES = 10_000
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
    triples = _triples(n, n_triples, seed)
    broken = np.zeros(len(triples), dtype=bool)
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        x, y, z = triples[:, a], triples[:, b], triples[:, c]
        direct, detour = distances[x, z], distances[x, y] + distances[y, z]
        broken |= direct > detour + 1e-12 * np.maximum(direct, detour)  # not by rounding alone
    return float(broken.mean())


def _triples(n: int, most: int, seed: int) -> np.ndarray:
    if n * (n - 1) * (n - 2) // 6 <= most:
        # All triples of a small table: the share is exact then.
        i, j, k = np.meshgrid(*[np.arange(n)] * 3, indexing="ij")
        kept = (i < j) & (j < k)
        return np.column_stack([i[kept], j[kept], k[kept]])
    rng = np.random.default_rng(seed)
    # Drawn from n, n - 1 and n - 2 rows and moved past those taken: three different rows each.
    first, second, third = (rng.integers(n - taken, size=most) for taken in range(3))
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    third += third >= low
    third += third >= high
    return np.column_stack([first, second, third])


def expected_hubness(distances: np.ndarray, k: int) -> float:
    """Return the skewness of the k-occurrence, rows tied for the end of a list sharing it."""
    n = len(distances)
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    # Not k entries: ties may go on beyond the k-th, and one more shows where they end.
    last = np.partition(others, k - 1, axis=1)[:, k - 1 : k]
    long = min(n - 1, int((others <= last).sum(axis=1).max()) + 1)
    order = np.argpartition(others, long - 1, axis=1)[:, :long]
    near = np.take_along_axis(others, order, axis=1)
    sorted_ = np.arange(n)[:, None], np.lexsort((order, near), axis=1)
    lists = NeighborGraph(order[sorted_], near[sorted_], n)
    return skewness(k_occurrence(lists, k, ties="expected"))


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


def bytes_kept(measure: Measure) -> int:
    """Return the size of all arrays that a fitted measure keeps, encoded rows included."""
    seen: set[int] = set()

    def size(thing: Any) -> int:
        # Arrays shared by several objects are counted once.
        if id(thing) in seen:
            return 0
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            return int(thing.nbytes)
        if isinstance(thing, Ragged):
            return size(thing.values) + size(thing.offsets)
        if type(thing).__module__.startswith("lookalike."):
            thing = getattr(thing, "__dict__", {})
        parts = thing.values() if isinstance(thing, dict) else thing
        return sum(map(size, parts)) if isinstance(thing, dict | list | tuple) else 0

    return size(measure)
