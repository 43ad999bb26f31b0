"""Rows as a forest sees them: bins, leaves, and shares of leaves where values are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, run
from lookalike.columns.ragged import Ragged
from lookalike.errors import InvalidInput, Param, TooLarge

if TYPE_CHECKING:
    from lookalike.trees.thresholds.flat import Forest

BLOCK = 1024


def unknown_bin(bins: np.ndarray) -> int:
    """Return the bin that stands for a missing value."""
    return int(np.iinfo(bins.dtype).max)


def bin_type(forest: Forest) -> type[np.unsignedinteger]:
    """Return the type of bins.

    A forest with more inputs than columns tests pairs of cells: very many inputs of a few cuts
    each, for which a byte is worth having. Others keep to one type, however few their cuts.
    """
    most = int(np.diff(forest.tests.cut_offsets).max(initial=0))
    if most < 254 and forest.n_inputs > int(forest.column.max(initial=0)) + 1:
        return np.uint8
    return np.uint16 if most < 65534 else np.uint32


def has_gaps(bins: np.ndarray) -> np.ndarray:
    """Return which rows miss a value that some test asks for."""
    unknown = unknown_bin(bins)
    parts = [(bins[part] == unknown).any(axis=1) for part in blocks(len(bins), 64)]
    return np.concatenate([np.zeros(0, bool), *parts])


def leaf_type(n_leaves: int) -> type[np.unsignedinteger]:
    """Return the narrowest type for leaf numbers; two numbers are left free as marks."""
    return np.uint16 if n_leaves <= 65534 else np.uint32


def bin_rows(forest: Forest, values: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the bins of rows; see ``Forest.bins``."""
    from lookalike.kernels.trees import bin_values

    values = np.asarray(values)
    if values.ndim != 2 or values.shape[1] != forest.n_inputs:
        raise InvalidInput(
            "forest",
            f"rows of {forest.n_inputs} columns, as it was grown on",
            f"an array of shape {values.shape}",
            "Give the same columns in the same order",
        )
    if forest.single:
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
    values = values.astype(np.float64, copy=False)
    tests = forest.tests
    bins = np.empty(values.shape, bin_type(forest))
    unknown = bins.dtype.type(unknown_bin(bins))

    def one(part: slice) -> None:
        bin_values(values[part], tests.cuts, tests.cut_offsets, tests.category, unknown, bins[part])

    run(one, [(part,) for part in blocks(len(bins), BLOCK)], n_jobs, "reading rows")
    return bins


def find_leaves(forest: Forest, bins: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the leaf number of every row in every tree; missing values go by the default side."""
    from lookalike.kernels import trees as kernels

    splits, leaf = forest.splits, forest.nodes.leaf
    most = int(forest.nodes.n_leaves.max(initial=0))
    found = np.empty((len(bins), forest.n_trees), leaf_type(most))
    unknown = bins.dtype.type(unknown_bin(bins))

    def one(part: slice) -> None:
        kernels.find_leaves(bins[part], splits, leaf, unknown, found[part])

    run(one, [(part,) for part in blocks(len(bins), BLOCK)], n_jobs, "walking down trees")
    return found


def count_rows(
    forest: Forest, bins: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of rows in every node, and the side that missing values take there."""
    from lookalike.kernels import trees as kernels

    mass, side = np.empty(len(forest.feature)), np.empty(len(forest.feature), np.uint8)
    unknown = bins.dtype.type(unknown_bin(bins))

    splits = forest.splits

    def one(part: slice) -> None:
        trees = np.array([part.start, part.stop])
        kernels.count_rows(bins, splits, trees, unknown, forest.soft, mass, side)

    run(one, [(part,) for part in blocks(forest.n_trees, 16)], n_jobs, "counting rows in nodes")
    return mass, side


def share_leaves(
    forest: Forest, bins: np.ndarray, by_mass: bool = False, n_jobs: int | None = None
) -> tuple[Ragged, Ragged]:
    """Return the leaves that rows with missing values may belong to, and the weight of each.

    Parameters
    ----------
    forest : Forest
    bins : array from ``bin_rows``
    by_mass : bool
        Split a weight by the fitted counts of the two children instead of in halves.
    n_jobs : int, optional

    Returns
    -------
    leaves, weights : Ragged
        One entry per leaf of positive weight, numbered over the whole forest, ascending; none for a
        row without gaps, whose leaves are in ``find_leaves``. The weights of a row sum to 1 in each
        tree.
    """
    from lookalike.kernels import trees as kernels

    unknown = bins.dtype.type(unknown_bin(bins))
    gaps = np.flatnonzero(has_gaps(bins)) if forest.soft else np.empty(0, np.int64)
    counts = np.zeros(len(bins), np.int64)
    nothing, no_weight = np.empty(0, np.int32), np.empty(0)
    splits, nodes = forest.splits, forest.nodes

    def walk(row: int, out: np.ndarray, weights: np.ndarray) -> int:
        made = kernels.share_leaves(
            bins[row], splits, forest.mass, nodes, unknown, by_mass, out, weights
        )
        return int(made)

    def count(part: slice) -> None:
        for row in gaps[part]:
            counts[row] = walk(row, nothing, no_weight)

    parts = [(part,) for part in blocks(len(gaps), 64)]
    run(count, parts, n_jobs, "spreading rows with gaps")
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    needed = int(offsets[-1]) * 12
    if needed > settings().memory_limit:
        raise TooLarge(
            f"forest of {forest.n_trees:,} trees",
            f"{show_bytes(needed)} for the leaves that {len(gaps):,} rows with gaps may reach",
            f"a memory limit of {show_bytes(settings().memory_limit)}",
            (
                "Raise ",
                Param("memory_limit", of="config"),
                ", encode fewer rows at once, or grow smaller trees",
            ),
        )
    reached, weights = np.empty(offsets[-1], np.int32), np.empty(offsets[-1])

    def fill(part: slice) -> None:
        for row in gaps[part]:
            at = slice(offsets[row], offsets[row + 1])
            walk(row, reached[at], weights[at])

    run(fill, parts, n_jobs, "spreading rows with gaps")
    present = np.zeros(len(bins), bool)
    return Ragged(reached, offsets, present), Ragged(weights, offsets, present)
