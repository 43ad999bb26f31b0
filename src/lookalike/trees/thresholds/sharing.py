"""How often two rows fall into the same leaf, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.kernels.proximity import SpreadRows

Soft = tuple[Ragged, Ragged]


def share_block(
    codes_x: np.ndarray,
    codes_y: np.ndarray,
    soft_x: Soft | None = None,
    soft_y: Soft | None = None,
    leaf_offsets: np.ndarray | None = None,
) -> np.ndarray:
    """Return the share of trees in which two rows share a leaf.

    Parameters
    ----------
    codes_x, codes_y : unsigned arrays of shape (n, n_trees), (m, n_trees)
        Leaf of every row in every tree.
    soft_x, soft_y : pairs of Ragged, optional
        Leaves and weights of rows with missing values, from ``share_leaves``; such a row shares a
        leaf with another to the degree sum(weight_x * weight_y).
    leaf_offsets : int64 array, needed with the former
        Where the leaf numbers of each tree begin.

    Returns
    -------
    float64 array of shape (n, m)
    """
    from lookalike.kernels.proximity import overlap_soft, share_matches

    codes_x, codes_y = np.ascontiguousarray(codes_x), np.ascontiguousarray(codes_y)
    out = np.empty((len(codes_x), len(codes_y)))
    share_matches(codes_x, codes_y, out)
    if soft_x is not None and soft_y is not None and leaf_offsets is not None:
        one, other = Side(codes_x, soft_x), Side(codes_y, soft_y)
        _fill_soft(overlap_soft, one, other, leaf_offsets, out)
    return out


def out_of_bag_block(
    codes_x: np.ndarray,
    bag_x: np.ndarray,
    codes_y: np.ndarray,
    bag_y: np.ndarray,
    soft_x: Soft | None = None,
    soft_y: Soft | None = None,
    leaf_offsets: np.ndarray | None = None,
) -> np.ndarray:
    """Return the share of trees, among those grown on neither row, in which two rows share a leaf.

    A pair without such a tree uses all trees.

    Parameters
    ----------
    codes_x, codes_y, soft_x, soft_y, leaf_offsets
        As for ``share_block``.
    bag_x, bag_y : uint8 arrays of shape (n, n_trees), (m, n_trees)
        1 where the tree was grown on the row.
    """
    from lookalike.kernels.proximity import count_matches, overlap_out_of_bag

    shape = len(codes_x), len(codes_y)
    shared, usable = np.empty(shape, np.int64), np.empty(shape, np.int64)
    # Rows grown on carry marks that match nothing, a different one on each side.
    top = int(np.iinfo(codes_x.dtype).max)
    count_matches(
        np.where(bag_x > 0, codes_x.dtype.type(top), codes_x),
        np.where(bag_y > 0, codes_y.dtype.type(top - 1), codes_y),
        shared,
    )
    _count_usable(bag_x, bag_y, usable)
    out = shared / np.maximum(usable, 1)
    stranded = usable == 0
    if stranded.any():
        everywhere = share_block(codes_x, codes_y)
        out[stranded] = everywhere[stranded]
    if soft_x is not None and soft_y is not None and leaf_offsets is not None:
        one, other = Side(codes_x, soft_x, bag_x), Side(codes_y, soft_y, bag_y)
        _fill_soft(overlap_out_of_bag, one, other, leaf_offsets, out)
    return out


def count_unusable(bag_x: np.ndarray, bag_y: np.ndarray) -> np.ndarray:
    """Return True for pairs of rows such that every tree was grown on one of the two."""
    usable = np.empty((len(bag_x), len(bag_y)), np.int64)
    _count_usable(bag_x, bag_y, usable)
    return np.asarray(usable == 0)


def _count_usable(bag_x: np.ndarray, bag_y: np.ndarray, out: np.ndarray) -> None:
    from lookalike.kernels.proximity import count_matches

    count_matches(
        np.where(bag_x > 0, np.uint8(1), np.uint8(0)),
        np.where(bag_y > 0, np.uint8(2), np.uint8(0)),
        out,
    )


class Side(NamedTuple):
    """The rows of one side of a block; see ``share_block`` and ``out_of_bag_block``."""

    codes: np.ndarray
    soft: Soft
    bag: np.ndarray = np.empty((0, 0), np.uint8)

    @property
    def spread(self) -> np.ndarray:
        """Which rows have gaps and so belong to several leaves."""
        return np.diff(self.soft[0].offsets) > 0

    def take(self, rows: np.ndarray) -> SpreadRows:
        """Return some rows for kernels."""
        leaves, weights = (part[rows] for part in self.soft)
        bag = self.bag[rows] if len(self.bag) else self.bag
        return SpreadRows(self.codes[rows], bag, leaves.values, weights.values, leaves.offsets)


def _fill_soft(
    overlap: Callable[..., None], one: Side, other: Side, leaf_offsets: np.ndarray, out: np.ndarray
) -> None:
    """Overwrite the pairs in which at least one row has gaps, in two rectangles."""
    gap_x, gap_y = np.flatnonzero(one.spread), np.flatnonzero(other.spread)
    full_x = np.flatnonzero(~one.spread)
    for rows, columns in ((gap_x, np.arange(len(other.codes))), (full_x, gap_y)):
        if len(rows) and len(columns):
            part = np.empty((len(rows), len(columns)))
            overlap(one.take(rows), other.take(columns), leaf_offsets, part)
            out[np.ix_(rows, columns)] = part
