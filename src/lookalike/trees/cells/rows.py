"""Rows on their way through similarity trees: read block by block, sent down, their votes added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.columns.base import Cells
from lookalike.kernels.cells_walk import CellBlock
from lookalike.trees.cells.cache import missing_cells

if TYPE_CHECKING:
    from lookalike.trees.cells.trees import SimilarityTrees

TALLEST = 2048  # rows taken through the trees at once: a column of them stays near
BLOCK_BYTES = 2**25  # distances of a block of rows to the kept cells


def row_blocks(trees: SimilarityTrees, n: int) -> list[tuple[slice]]:
    """Cut n rows so that their distances to the kept cells stay small."""
    wide = sum(len(k) for k, c in zip(trees.kept, trees.columns, strict=True) if c.is_object)
    tall = TALLEST if wide == 0 else min(TALLEST, max(16, BLOCK_BYTES // (8 * wide)))
    return [(part,) for part in blocks(n, tall)]


def read_rows(trees: SimilarityTrees, cells: tuple[Cells, ...], part: slice) -> CellBlock:
    """Return some rows for kernels, with their distances to the kept cells."""
    d, m = len(trees.columns), part.stop - part.start
    values = np.empty((d, m))
    base, width = np.zeros(d, np.int64), np.full(d, m, np.int64)
    parts = [np.empty(0)]
    used = 0
    for f, column in enumerate(trees.columns):
        here = cells[f][part]
        values[f] = np.arange(m) if column.is_object else here
        values[f, missing_cells(here)] = np.nan
        if not column.is_object:
            continue
        base[f] = used
        if len(trees.kept[f]):
            parts.append(column.distance.compare(trees.kept[f], here).ravel())
            used += len(parts[-1])
    return CellBlock(trees.kinds, values, np.concatenate(parts), base, width)


def find_leaves(
    trees: SimilarityTrees, cells: tuple[Cells, ...], n_jobs: int | None = None
) -> np.ndarray:
    """Return the node in which each row ends, counted within each tree: int32 (rows, trees)."""
    from lookalike.kernels import cells_walk

    n = len(cells[0])
    out = np.empty((n, trees.n_trees), np.int32)

    def one(part: slice) -> None:
        room = _room(trees, part.stop - part.start)
        block = read_rows(trees, cells, part)
        cells_walk.find_leaves(block, trees.descent, *room, out[part])

    run(one, row_blocks(trees, n), n_jobs, "walking down trees")
    return out


def add_votes(
    trees: SimilarityTrees,
    cells: tuple[Cells, ...],
    votes: np.ndarray,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return for each row the sum of the votes of its leaves, tree after tree.

    Parameters
    ----------
    trees : SimilarityTrees
    cells : encoded rows
    votes : float64 (nodes, outputs)
    n_jobs : int, optional
    """
    from lookalike.kernels import cells_walk

    n = len(cells[0])
    out = np.zeros((n, votes.shape[1]))

    def one(part: slice) -> None:
        room = _room(trees, part.stop - part.start)
        block = read_rows(trees, cells, part)
        cells_walk.add_votes(block, trees.descent, votes, *room, out[part])

    run(one, row_blocks(trees, n), n_jobs, "walking down trees")
    return out


def _room(trees: SimilarityTrees, m: int) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return memory for m rows that go down trees together, and for where they end."""
    from lookalike.kernels.cells_walk import Groups

    deepest = int(trees.depth.max(initial=0))
    groups = Groups(np.empty((2, m), np.int32), np.empty((deepest + 2, 4), np.int64))
    return groups, np.empty(m, np.int32)


def class_votes(value: np.ndarray, voting: str) -> np.ndarray:
    """Return what every leaf votes for, from the weights of its classes.

    "majority": the largest class (each of them, on a tie) with its share; "soft": all shares.

    Examples
    --------
    >>> import numpy as np
    >>> class_votes(np.array([[3.0, 1.0], [1.0, 1.0]]), "majority")
    array([[0.75, 0.  ],
           [0.5 , 0.5 ]])
    """
    shares = value / np.maximum(value.sum(axis=1, keepdims=True), 1e-300)
    if voting == "soft":
        return np.asarray(shares)
    most = shares.max(axis=1, keepdims=True)
    return np.where(shares >= most * (1 - 1e-12), shares, 0.0)
