"""Trees whose tests compare a cell with two others, as flat arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks, cached_property, run
from lookalike.columns.base import Cells
from lookalike.kernels import cells as kernels
from lookalike.kernels.cells import CellBlock, CellTree, CellTrees
from lookalike.kernels.trees import Nodes
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.table.model.table import Table
from lookalike.trees.cells.columns import CellCache, TreeColumn, encode_columns, missing_cells
from lookalike.trees.thresholds import flat

MAX_BLOCK_ROWS = 2048  # rows taken through the trees together: a column of them stays near
BLOCK_BYTES = 2**25  # distances of a block of rows to the kept cells


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
    # A node of weight 0 votes for nothing instead of dividing by 0.
    shares = value / np.maximum(value.sum(axis=1, keepdims=True), 1e-300)
    if voting == "soft":
        return np.asarray(shares)
    most = shares.max(axis=1, keepdims=True)
    # A tolerance, so that classes of equal weight tie whatever the order in which it was added up.
    return np.where(shares >= most * (1 - 1e-12), shares, 0.0)


@saveable
@dataclass(eq=False)  # not frozen: what follows from the arrays is computed once and kept
class SimilarityTrees:
    """A forest of similarity trees: a test is a column, two of its cells and a threshold.

    A row goes left if ``d(q, x) - d(p, x)`` is at most the threshold (with squared distances, or
    the value itself where numbers are tested as they are). Nodes are in preorder: the left child
    follows its parent.

    Parameters
    ----------
    columns : tuple of TreeColumn
    kept : tuple of encoded cells, one entry per column
        The cells that tests compare with.
    feature : int32, one per node
        The column tested, as a place in ``columns``; -1 in a leaf.
    first, second : int32, one per node
        The cells p and q, as places in ``kept[feature]``; -1 where there are none.
    threshold : float64, one per node
        For columns of objects moved up by about 1e-12 of the range of the projections, so that
        rows whose projections are equal but for rounding go the same way, fitted or new.
    right : int32, one per node
        Right child, counted from the beginning of its tree; -1 in a leaf.
    default : uint8, one per node
        Side of a missing cell: 1 for left.
    offsets : int64, one per tree and one more
        Tree t has the nodes ``offsets[t]:offsets[t + 1]``.
    entries : int64, one per node
        How many drawn rows reached the node when it was grown.
    weights, impurities : float64, one per node
    value : float64 (nodes, classes)
        Weight of each class, or one column with the mean of the target.
    """

    FIELDS: ClassVar[fields.Fields] = {
        "columns": fields.TupleOf(fields.Saved("TreeColumn"), "columns"),
        "kept": fields.TupleOf(fields.Anything(), "columns"),
        "feature": fields.Array("int32", "nodes", low=-1, below="columns"),
        "first": fields.Array("int32", "nodes", low=-1),
        "second": fields.Array("int32", "nodes", low=-1),
        "threshold": fields.Array("float64", "nodes", no_nan=True),
        "right": fields.Array("int32", "nodes", low=-1),
        "default": fields.Array("uint8", "nodes", high=1),
        "offsets": fields.Offsets("nodes", "trees"),
        "entries": fields.Array("int64", "nodes", low=0),
        "weights": fields.Array("float64", "nodes", finite=True),
        "impurities": fields.Array("float64", "nodes"),
        "value": fields.Array("float64", "nodes", "outputs"),
    }

    columns: tuple[TreeColumn, ...]
    kept: tuple[Cells, ...]
    feature: np.ndarray
    first: np.ndarray
    second: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    default: np.ndarray
    offsets: np.ndarray
    entries: np.ndarray
    weights: np.ndarray
    impurities: np.ndarray
    value: np.ndarray

    def __repr__(self) -> str:
        return (
            f"SimilarityTrees: {self.n_trees:,} trees, {len(self.feature):,} nodes, "
            f"{len(self.columns)} columns, depth {int(self.depth.max(initial=0))}"
        )

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.offsets) - 1

    @cached_property
    def nodes(self) -> Nodes:
        """Depths and parents, within each tree."""
        return flat.find_shape(self.feature, self.right, self.offsets)

    @property
    def depth(self) -> np.ndarray:
        """Number of tests above every node."""
        return self.nodes.depth

    @cached_property
    def kinds(self) -> np.ndarray:
        """How kernels project the cells of each column."""
        return np.array([column.kind for column in self.columns], np.int64)

    def _ends(self, feature: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return p or q of tests as kernels read them: numbers, codes, or places among the kept."""
        out = np.zeros(len(feature))
        for f, column in enumerate(self.columns):
            here = (feature == f) & (at >= 0)
            if column.is_object:
                out[here] = at[here]
            elif here.any():
                out[here] = np.asarray(self.kept[f], np.float64)[at[here]]
        return out

    @cached_property
    def descent(self) -> CellTrees:
        """The trees as rows go down them."""
        ends = self._ends(self.feature, self.first), self._ends(self.feature, self.second)
        facts = self.threshold, self.right, self.default, self.offsets
        return CellTrees(self.feature, *ends, *facts)

    # -- rows --------------------------------------------------------------------------------------

    def encode(self, table: Table) -> tuple[Cells, ...]:
        """Encode new rows, once for every distance."""
        return encode_columns(self.columns, table)

    def leaves(self, cells: tuple[Cells, ...], n_jobs: int | None = None) -> np.ndarray:
        """Return the node in which each row ends, counted within each tree: int32 (rows, trees)."""
        out = np.empty((len(cells[0]), self.n_trees), np.int32)

        def find(block: CellBlock, part: slice) -> None:
            out[part] = self._walk(block).T

        self._by_blocks(find, cells, n_jobs, "walking down trees")
        return out

    def sum_votes(
        self, cells: tuple[Cells, ...], votes: np.ndarray, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return for each row the sum of the votes of its leaves, a line per node in ``votes``.

        The sum is taken tree after tree, so that it does not depend on how rows are cut.
        """
        out = np.zeros((len(cells[0]), votes.shape[1]))

        def add(block: CellBlock, part: slice) -> None:
            for start, leaves in zip(self.offsets, self._walk(block), strict=False):
                out[part] += votes[start:].take(leaves, axis=0)

        self._by_blocks(add, cells, n_jobs, "walking down trees")
        return out

    def _walk(self, block: CellBlock) -> np.ndarray:
        """Return the node in which each row of a block ends, a line per tree."""
        m = block.values.shape[1]
        out, rows = np.empty((self.n_trees, m), np.int32), np.empty(m, np.int64)
        # Half of the nodes of a tree and one are leaves, more than can wait together.
        waiting = np.empty((int(np.diff(self.offsets).max(initial=0)) // 2 + 2, 3), np.int64)
        kernels.find_leaves(block, self.descent, rows, waiting, out)
        return out

    def _by_blocks(
        self,
        write: Callable[[CellBlock, slice], None],
        cells: tuple[Cells, ...],
        n_jobs: int | None,
        what: str,
        rows: slice = slice(None),
    ) -> None:
        """Call ``write`` with blocks of some rows, and where a block is among these rows."""
        start, stop, _ = rows.indices(len(cells[0]))
        wide = sum(len(k) for k, c in zip(self.kept, self.columns, strict=True) if c.is_object)
        # Distances of the rows of a block to all kept cells are in memory together.
        tall = min(MAX_BLOCK_ROWS, max(16, BLOCK_BYTES // (8 * max(1, wide))))

        def one(part: slice) -> None:
            write(self._read_rows(cells, slice(part.start + start, part.stop + start)), part)

        run(one, [(part,) for part in blocks(stop - start, tall)], n_jobs, what)

    def _read_rows(self, cells: tuple[Cells, ...], part: slice) -> CellBlock:
        """Return some rows for kernels, with their distances to the kept cells."""
        d, m = len(self.columns), part.stop - part.start
        values = np.empty((d, m))
        base, width = np.zeros(d, np.int64), np.full(d, m, np.int64)
        parts = [np.empty(0)]
        used = 0
        for f, column in enumerate(self.columns):
            here = cells[f][part]
            # A cell of objects is the number of its row in the block: kernels look its distances
            # up.
            values[f] = np.arange(m) if column.is_object else here
            values[f, missing_cells(here)] = np.nan
            if not column.is_object:
                continue
            base[f] = used
            if len(self.kept[f]):
                parts.append(column.distance.compare(self.kept[f], here).ravel())
                used += len(parts[-1])
        return CellBlock(self.kinds, values, np.concatenate(parts), base, width)

    def path(self, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the paths to some leaves, root first, and where the path of each row begins.

        Nodes are numbered over the forest.
        """
        start = np.broadcast_to(self.offsets[:-1], leaves.shape).ravel()
        here = leaves.ravel()
        at = np.cumsum(self.depth[start + here] + 1)
        ends = np.concatenate([[0], at[self.n_trees - 1 :: self.n_trees]])
        nodes = np.empty(ends[-1], np.int64)
        while len(at):  # all paths together, one step up at a time
            at = at - 1
            nodes[at] = start + here
            here = self.nodes.parent[start + here]
            at, start, here = (part[here >= 0] for part in (at, start, here))
        return nodes, ends

    @cached_property
    def soft_votes(self) -> np.ndarray:
        """What every node of a forest for classes votes for: each class with its share."""
        return class_votes(self.value, "soft")

    @cached_property
    def majority_votes(self) -> np.ndarray:
        """What every node of a forest for classes votes for: its largest class with its share."""
        return class_votes(self.value, "majority")

    # -- the form that forest similarities share ---------------------------------------------------

    @cached_property
    def _inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the different projections (column, p, q), and the one of every inner node."""
        inside = self.feature >= 0
        asked = np.stack([self.feature, self.first, self.second], axis=1)[inside]
        different, number = np.unique(asked, axis=0, return_inverse=True)
        out = np.full(len(self.feature), -1, np.int64)
        out[inside] = number.ravel()
        return different, out

    @property
    def different_tests(self) -> np.ndarray:
        """The different projections that tests ask for: (column, p, q)."""
        return self._inputs[0]

    def to_forest(self, soft: bool = True) -> flat.Forest:
        """Return the trees in the form of ``Forest``: each different projection is an input.

        Two nodes that project between the same cells share an input, so tests are equal by content
        when input and threshold are. ``inputs`` gives the values of rows on these inputs.

        Parameters
        ----------
        soft : bool
            Send missing cells both ways. False: to the side that each test has learned, as
            ``leaves`` does.
        """
        different, number = self._inputs
        n_inputs, start = (
            max(1, len(different)),
            np.repeat(self.offsets[:-1], np.diff(self.offsets)),
        )
        left = np.arange(len(number)) - start + 1
        nodes = number, self.threshold, left, self.right, self.offsets
        forest = flat.flatten(*nodes, n_inputs, default=self.default, soft=soft)
        column = np.zeros(n_inputs, np.int32)
        places = np.array([c.column for c in self.columns], np.int32)
        column[: len(different)] = places[different[:, 0]]
        return replace(forest, column=column)

    def inputs(
        self, cells: tuple[Cells, ...], part: slice | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return the projections of rows on the inputs of ``to_forest``, NaN where unknown.

        Parameters
        ----------
        cells : encoded rows
        part : slice, optional
            Only these rows; the matrix is as wide as there are different projections.
        n_jobs : int, optional
        """
        different, _ = self._inputs
        start, stop, _ = (part or slice(None)).indices(len(cells[0]))
        out = np.zeros((stop - start, max(1, len(different))))
        feature, first, second = np.ascontiguousarray(different.T)
        tests = feature, self._ends(feature, first), self._ends(feature, second)

        def project(block: CellBlock, rows: slice) -> None:
            kernels.project_rows(block, *tests, out[rows, : len(different)])

        self._by_blocks(project, cells, n_jobs, "projecting rows", slice(start, stop))
        return out

    # -- facts about columns -----------------------------------------------------------------------

    def importances(self, n_columns: int) -> np.ndarray:
        """Return how much impurity the tests of each column of the table take away.

        Summed in each tree, brought to a sum of 1, and averaged; all 0 where no tree has a test.
        """
        inside = np.flatnonzero(self.feature >= 0)
        tree = np.searchsorted(self.offsets, inside, side="right") - 1
        start = self.offsets[tree]
        mass = self.weights * self.impurities
        lost = mass[inside] - mass[inside + 1] - mass[start + self.right[inside]]
        places = np.array([c.column for c in self.columns], np.int64)
        total = np.zeros((self.n_trees, n_columns))
        np.add.at(total, (tree, places[self.feature[inside]]), np.maximum(lost, 0.0))
        # A tree without a test has no importances to bring to a sum of 1; it is left out of the
        # mean.
        sums = total.sum(axis=1)
        if not (sums > 0).any():
            return np.zeros(n_columns)
        shares = (total[sums > 0] / sums[sums > 0, None]).mean(axis=0)
        return np.asarray(shares / shares.sum())

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that nodes are in preorder and tests compare with kept cells."""
        flat.check_preorder(self.feature, self.right, self.offsets, "SimilarityTrees")
        sizes = np.array([len(cells) for cells in self.kept], np.int64)
        for column, cells in zip(self.columns, self.kept, strict=True):
            where = f"SimilarityTrees.kept ({column.name[:40]!r})"
            if column.is_object:
                column.distance.check_cells(cells, None, where)
            else:
                fields.check_fields(
                    {"cells": cells}, {"cells": fields.Array("float64", "n")}, where
                )
        inside = self.feature >= 0
        asked = self.feature[inside]
        by_value = self.kinds[asked] == kernels.VALUE
        for ends in (self.first[inside], self.second[inside]):
            fits = (ends < sizes[asked]) & ((ends >= 0) | by_value)
            fields.require(
                fits.all(), "SimilarityTrees", "tests that compare with kept cells", "others"
            )


def join_cell_trees(cache: CellCache, trees: list[CellTree]) -> SimilarityTrees:
    """Put trees one after another and keep the cells that their tests compare with."""
    all_nodes = CellTree(*(np.concatenate(part) for part in zip(*trees, strict=True)))
    feature, first, second = all_nodes.feature, all_nodes.first, all_nodes.second
    sizes = [len(tree.feature) for tree in trees]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kept: list[Any] = []
    places = [np.full(len(feature), -1, np.int32) for _ in range(2)]
    for f in range(len(cache.columns)):
        here = (feature == f) & (first >= 0)
        ends = [cache.same[f][cache.source[f, rows[here]]] for rows in (first, second)]
        # Equal cells are kept once, so that tests on them are one test.
        used, at = np.unique(np.concatenate(ends), return_inverse=True)
        half = int(here.sum())
        places[0][here], places[1][here] = at[:half], at[half:]
        cells = cache.cells[f][used]
        kept.append(cells if cache.columns[f].is_object else np.asarray(cells, np.float64))
    nodes = all_nodes._replace(first=places[0], second=places[1])._asdict()
    del nodes["left"]  # the next node
    return SimilarityTrees(cache.columns, tuple(kept), offsets=offsets, **nodes)


def prune_trees(trees: SimilarityTrees, alpha: float) -> SimilarityTrees:
    """Cut back every subtree whose loss of impurity per leaf is at most alpha, weakest first [1]_.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and regression trees.
       Chapter 3. doi:10.1201/9781315139470
    """
    feature, offsets = trees.feature.copy(), trees.offsets
    start = np.repeat(offsets[:-1], np.diff(offsets))
    right = start + np.maximum(trees.right, 0)
    # A leaf costs its risk and alpha. The cheapest subtree below a node is it as a leaf, or those
    # of its two children (the same tree as by cutting the weakest link again and again, theorem
    # 3.10); in preorder, going backwards meets children first.
    cost = trees.weights / trees.weights[start] * trees.impurities + alpha
    for v in range(len(feature) - 1, -1, -1):
        if feature[v] >= 0:
            below = cost[v + 1] + cost[right[v]]
            if cost[v] <= below:
                feature[v] = -1
            else:
                cost[v] = below
    # What lies below a new leaf is dropped, and the rest renumbered.
    keep = np.zeros(len(feature), bool)
    keep[offsets[:-1]] = True
    for v in range(len(feature)):  # parents come first
        if keep[v] and feature[v] >= 0:
            keep[v + 1] = keep[right[v]] = True
    ends, leaf = np.concatenate([[0], np.cumsum(keep)]), feature < 0
    nodes = {
        "feature": feature,
        "first": np.where(leaf, np.int32(-1), trees.first),
        "second": np.where(leaf, np.int32(-1), trees.second),
        "threshold": np.where(leaf, 0.0, trees.threshold),
        "right": np.where(leaf, -1, ends[right] - ends[start]).astype(np.int32),
    }
    same = ("default", "entries", "weights", "impurities", "value")
    nodes |= {name: getattr(trees, name) for name in same}
    kept: dict[str, Any] = {name: values[keep] for name, values in nodes.items()}
    return replace(trees, offsets=ends[offsets].astype(np.int64), **kept)
