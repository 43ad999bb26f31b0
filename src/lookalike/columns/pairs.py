"""Similarities of single pairs of cells, many in one call, bit for bit those of a block.

A block compares every cell of one side with every cell of the other. Where only some pairs are
asked for, the distances that are met most have a kernel that goes through the pairs; the others
compare each left cell with its right cells as a block of one row.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lookalike.columns import vector
from lookalike.columns.base import Cells, Distance, closeness
from lookalike.columns.ragged import Ragged
from lookalike.columns.sets import Jaccard, Overlap
from lookalike.kernels.distances import distance_pairs
from lookalike.kernels.first_use import worth_compiling
from lookalike.kernels.objects import shared_pairs

Pairs = Callable[[Any, Any, np.ndarray, np.ndarray], np.ndarray]

# How much work it would be without the loop, in cells that numpy compares: of a pair, and of a left
# cell with which a block begins. Chosen by hand.
WORK_PER_PAIR, WORK_PER_BLOCK = 16, 4000


def pair_similarities(
    distance: Distance, a: Cells, b: Cells, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return the similarity of cell left[i] of a and cell right[i] of b, NaN if undefined.

    Parameters
    ----------
    distance : Distance, fitted
    a, b : encoded cells
    left, right : int64 arrays of one length; pairs with the same left cell stand together
    """
    out = np.empty(len(left))
    if not len(left):
        return out
    ends = [*(np.flatnonzero(np.diff(left)) + 1).tolist(), len(left)]
    # A subclass may compare in another way.
    loop, fast = FAST.get(type(distance), (None, None))
    work = WORK_PER_PAIR * len(left) + WORK_PER_BLOCK * len(ends)
    if fast is not None and distance.scale_ > 0 and worth_compiling(loop, work):
        return closeness(fast(a, b, left, right), distance.scale_)
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        cell, others = a[left[start : start + 1]], b[right[start:end]]
        out[start:end] = distance.similarity(cell, others)[0]
    return out


def _rows(metric: str, a: Any, b: Any, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    out = vector.pairs_of(metric, a, b, left, right)
    out[np.isnan(a[left, :1]).any(axis=1) | np.isnan(b[right, :1]).any(axis=1)] = np.nan
    return out


def _sets(
    of_counts: Callable[[Any, Any, Any], np.ndarray], a: Ragged, b: Ragged, left: Any, right: Any
) -> np.ndarray:
    counts = np.empty(len(left))
    shared_pairs(a.values, a.offsets, b.values, b.offsets, left, right, counts)
    a_sizes = (a.offsets[left + 1] - a.offsets[left]).astype(np.float64)
    b_sizes = (b.offsets[right + 1] - b.offsets[right]).astype(np.float64)
    out = of_counts(counts, a_sizes, b_sizes)
    out[a.missing[left] | b.missing[right]] = np.nan
    return out


def _jaccard(counts: np.ndarray, a_sizes: np.ndarray, b_sizes: np.ndarray) -> np.ndarray:
    union = a_sizes + b_sizes - counts
    return np.where(union > 0, (union - counts) / np.where(union > 0, union, 1.0), 0.0)


def _overlap(counts: np.ndarray, a_sizes: np.ndarray, b_sizes: np.ndarray) -> np.ndarray:
    smaller = np.minimum(a_sizes, b_sizes)
    if_empty = np.where(a_sizes == b_sizes, 0.0, 1.0)
    return np.where(smaller > 0, (smaller - counts) / np.where(smaller > 0, smaller, 1.0), if_empty)


FAST: dict[type, tuple[Any, Pairs]] = {
    **{
        distance: (distance_pairs, partial(_rows, distance.metric))
        for distance in (vector.EarthMover, vector.Euclidean, vector.NormalizedEuclidean)
    },
    vector.GreatCircle: (distance_pairs, lambda *pairs: vector.arcs(_rows("euclidean", *pairs))),
    Jaccard: (shared_pairs, partial(_sets, _jaccard)),
    Overlap: (shared_pairs, partial(_sets, _overlap)),
}
