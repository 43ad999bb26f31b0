"""Growing isolation trees whose cuts are random projections between two cells of a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param
from lookalike.kernels.cells import CellColumns, CellTree
from lookalike.trees.cells.cache import CellCache
from lookalike.trees.cells.columns import TreeColumn
from lookalike.trees.cells.growing import CACHE_PAIRS
from lookalike.trees.cells.trees import SimilarityTrees, cut_off, join_cell_trees
from lookalike.trees.seeds import tree_states


def grow_isolation_trees(
    columns: tuple[TreeColumn, ...],
    cells: tuple[Cells, ...],
    n_trees: int = 100,
    *,
    n_samples: int = 256,
    far: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> SimilarityTrees:
    """Grow isolation trees: random columns, random pairs of cells, random thresholds.

    Parameters
    ----------
    columns, cells
        From ``fit_columns`` and ``encode_columns``.
    n_trees : int
    n_samples : int
        Rows per tree, without replacement; the depth is limited to its logarithm.
    far : bool
        Take the cell farthest from the first as the second.
    random_state : None, int or Generator
    n_jobs : int, optional
    """
    from lookalike.kernels.cells import isolate, make_tree
    from lookalike.kernels.growing import draw_rows

    n = len(cells[0])
    # All pairs at once, where that is less work than the pairs of every sample.
    whole = n * n <= 2 * n_trees * n_samples**2
    cache = CellCache.of(columns, cells, CACHE_PAIRS if whole else 0, n_jobs)
    states = tree_states(random_state, n_trees)
    depth = int(np.ceil(np.log2(max(2, n_samples))))
    no_ranks = np.zeros((len(columns), n_samples), np.int32)  # random cuts sort nothing
    objects = [f for f, column in enumerate(columns) if column.is_object]
    if len(objects) * n_samples**2 > CACHE_PAIRS:
        raise InvalidInput(
            Param("max_samples", n_samples),
            f"at most {CACHE_PAIRS:,} distances per tree",
            f"{len(objects)} columns of objects with {n_samples**2:,} each",
            ("Lower ", Param("max_samples"), "; isolation needs small samples"),
        )

    def one(t: int) -> CellTree:
        state = states[t : t + 1].copy()
        drawn, swaps = np.empty(n_samples, np.int64), np.empty(n_samples, np.int64)
        draw_rows(state, n, np.arange(n), drawn, swaps)
        kinds = np.array([column.kind for column in columns], np.int64)
        values = cache.arrays.values[:, drawn]
        base, width = np.zeros(len(columns), np.int64), np.full(len(columns), n_samples)
        flat = np.empty(max(1, len(objects) * n_samples**2))
        for k, f in enumerate(objects):
            base[f] = k * n_samples**2
            flat[base[f] : base[f] + n_samples**2] = cache.block(f, drawn).ravel()
            values[f] = np.where(np.isnan(values[f]), np.nan, np.arange(n_samples))
        cells = CellColumns(kinds, values, no_ranks, flat, base, width)
        tree = make_tree(2 * n_samples, 1)
        made = isolate(cells, np.arange(n_samples), depth, far, state, tree)
        tree = cut_off(tree, made)
        # Rows of the sample become rows of the table.
        first, second = (
            np.where(ends >= 0, drawn[ends], -1).astype(np.int32)
            for ends in (tree.first, tree.second)
        )
        return tree._replace(first=first, second=second)

    def some(part: slice) -> list[CellTree]:
        return [one(part.start + at.start) for at in blocks(part.stop - part.start, 1)]

    grown = run(some, [(part,) for part in blocks(n_trees, 4)], n_jobs, "growing trees")
    return join_cell_trees(cache, [tree for part in grown for tree in part])
