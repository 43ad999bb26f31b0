"""Similarities of single pairs of cells, many in one call, bit for bit those of a block.

A block compares every cell of one side with every cell of the other. Where only some pairs are
asked for, the distances that are met most have a kernel that goes through the pairs; the others
compare each left cell with its right cells as a block of one row.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from lookalike.columns import vector
from lookalike.columns.base import Cells, Distance, closeness
from lookalike.columns.ragged import Ragged
from lookalike.columns.sets import Jaccard, Overlap
from lookalike.kernels.distances import distance_pairs
from lookalike.kernels.fallback import unshared
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


def _sets(of_smaller: bool, a: Ragged, b: Ragged, left: Any, right: Any) -> np.ndarray:
    counts = np.empty(len(left))
    shared_pairs(a.values, a.offsets, b.values, b.offsets, left, right, counts)
    # Of these rows alone: there may be millions of others.
    sizes = [c.offsets[at + 1] - c.offsets[at] for c, at in ((a, left), (b, right))]
    out: np.ndarray = cast(Any, unshared)(counts, *sizes, of_smaller)
    out[a.missing[left] | b.missing[right]] = np.nan
    return out


FAST: dict[type, tuple[Any, Pairs]] = {
    **{
        distance: (distance_pairs, partial(_rows, distance.metric))
        for distance in (vector.EarthMover, vector.Euclidean, vector.NormalizedEuclidean)
    },
    vector.GreatCircle: (distance_pairs, lambda *pairs: vector.arcs(_rows("euclidean", *pairs))),
    **{kind: (shared_pairs, partial(_sets, kind.of_smaller)) for kind in (Jaccard, Overlap)},
}
