"""SimUSF: balanced trees of median splits on small samples; similarity by shared leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.files import scratch_file
from lookalike._runtime.random_state import RANDOM_STATE
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.errors import InPython, Phrase
from lookalike.measures.contract.base import Measure, Traits
from lookalike.measures.contract.explanation import ColumnDifferences, Explanation
from lookalike.measures.contract.rows import Named, Rows
from lookalike.measures.forest import explain
from lookalike.measures.forest import neighbors as near
from lookalike.measures.numeric import ORDERED, check_owners, plan_inputs, read_inputs, refuse_empty
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.sketch import Sketch, bit_sketch
from lookalike.saving import fields
from lookalike.saving.fields import Dims, Fields, require
from lookalike.table import LazyTable, Table
from lookalike.trees.thresholds.proximity import share_block
from lookalike.trees.thresholds.stochastic import grow_stochastic


@dataclass(eq=False, repr=False)
class StochasticForest(Measure):
    """Compare rows by how often random median splits keep them together (SimUSF).

    Each tree draws a small sample of rows and splits it recursively, each time at the median of a
    randomly chosen column, until one sample row is left in every leaf. The similarity of two rows
    is the share of trees in which they fall into the same leaf [1]_. Only the order of the values
    within a column matters, so units and increasing changes of scale such as logarithms change
    nothing; dependent columns are taken into account, and sparse regions count as wider.

    Use it when the scale of the columns means little and the table has many rows: fitting looks at
    small samples only, the model does not grow with the table, and comparing two rows is counting
    equal bytes. It sees numbers, ordered levels and flags; for categories see
    ``ForestProximity`` and ``Gower``. Few trees make many ties: rows far apart all have 0.

    Parameters
    ----------
    n_estimators : int
        Trees. The standard error of a similarity is at most ``1 / (2 sqrt(n_estimators))``.
    height : int
        Median splits from root to leaf, so ``2**height`` sample rows per tree; 4 to 6 are
        enough for most tables. Larger: finer, more zeros. The table needs as many different rows.
    side : {"left", "random"}
        Where values between the two middle sample values go: right, as published, or to either side
        with equal chance. With "random" a decreasing change of scale does not matter, on average.
    on_fail : {"error", "relax"}
        What to do when no sample can be split in half (columns of few values): stop, or split such
        nodes as near to the median as possible.
    max_retries : int
        Samples tried per tree before that.
    missing : {"half", "by_mass"}
        A row goes both ways at a test on a missing cell, with weights of one half each or by the
        share of fitted rows on each side.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    forest_ : the trees
    relaxed_trees_ : numbers of the trees that could not be balanced
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import StochasticForest
    >>> rows = np.random.default_rng(0).random((200, 3))
    >>> measure = StochasticForest(height=4, random_state=0).fit(rows)
    >>> logs = StochasticForest(height=4, random_state=0).fit(np.log(rows))
    >>> bool((measure.similarity() == logs.similarity()).all())
    True
    >>> distances, indices = measure.kneighbors(n_neighbors=3)
    """

    FIELDS: ClassVar[Fields] = {
        "n_estimators": fields.Integer(1),
        "height": fields.Integer(1),
        "side": fields.Choice("left", "random"),
        "on_fail": fields.Choice("error", "relax"),
        "max_retries": fields.Integer(1),
        "missing": fields.Choice("half", "by_mass"),
        "random_state": RANDOM_STATE,
        "inputs_": fields.Saved("MatrixLayout"),
        "forest_": fields.Saved("BalancedForest"),
        "relaxed_trees_": fields.Array("int64", "relaxed", low=0),
        "mass_": fields.Maybe(fields.Array("float64", "nodes", finite=True, low=0)),
    }
    ROWS: ClassVar[Fields] = {
        "leaves": RaggedOf("int32", low=0, below="leaves"),
        "weights": RaggedOf("float64", finite=True),
    }

    traits = Traits(native="similarity", conversion="one_minus", missing=True, kinds=ORDERED)

    n_estimators: int = 1000
    height: int = 5
    _: KW_ONLY
    side: str = "left"
    on_fail: str = "error"
    max_retries: int = 100
    missing: str = "half"
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return small forests, closed on one side or on both."""
        return [
            cls(30, 2, on_fail="relax", random_state=0),
            cls(30, 1, on_fail="relax", side="random", missing="by_mass", random_state=0),
        ]

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        self.inputs_ = plan_inputs(table, type(self).__name__, categories=False)
        self._grow(read_inputs(table, self.inputs_))

    def _fit_parts(self, table: LazyTable) -> None:
        if self.missing == "by_mass":
            hint: str = Phrase("Fit in memory", InPython(", or use missing='half'"))
            what = "the mass of missing values, which counts all rows in all trees"
            raise self._cannot_stream(what, hint)
        self.inputs_ = plan_inputs(table.like, type(self).__name__, categories=False)
        # ``like`` cannot show that a column is empty; the counts of missing cells of all rows do.
        for name in self.inputs_.names:
            if table.n_missing.get(name) == len(table):
                refuse_empty(name, type(self).__name__)
        shape = (len(self.inputs_.owner), len(table))
        # Trees look at a few rows each: columns lie in a file, of which only those are read.
        kind = read_inputs(table[:1], self.inputs_).dtype
        with scratch_file(shape[0] * shape[1] * kind.itemsize, type(self).__name__) as file:
            columns: Any = np.memmap(file, kind, "r+", shape=shape)
            first = 0
            for part in table.batches(columns=self.inputs_.names):
                columns[:, first : first + len(part)] = read_inputs(part, self.inputs_).T
                first += len(part)
            self._grow(np.asarray(columns).T)
            del columns

    def _grow(self, values: np.ndarray) -> None:
        who = type(self).__name__
        self.forest_ = grow_stochastic(
            values, self.n_estimators, self.height, side=self.side, on_fail=self.on_fail,
            max_retries=self.max_retries, random_state=self.random_state, n_jobs=self.n_jobs,
            who=who,
        )  # fmt: skip
        self.relaxed_trees_ = self.forest_.relaxed
        self.mass_ = None
        if self.missing == "by_mass":  # the only option that needs all fitted rows in every node
            self.mass_ = self.forest_.flat.settled(values, self.n_jobs).mass

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        values = read_inputs(table, self.inputs_)
        codes = self.forest_.codes(values, self.n_jobs)
        leaves, weights = self._spread(values)
        return Rows(seen, {"codes": codes, "leaves": leaves, "weights": weights})

    def _spread(self, values: np.ndarray) -> tuple[Ragged, Ragged]:
        """Return the leaves and weights of rows with missing cells; nothing for the others."""
        # Complete rows have one leaf per tree, which their codes hold in a byte each.
        gaps = np.flatnonzero(np.isnan(values).any(axis=1))
        offsets, present = np.zeros(len(values) + 1, np.int64), np.zeros(len(values), bool)
        if not len(gaps):
            nothing = np.empty(0, np.int32)
            return Ragged(nothing, offsets, present), Ragged(np.empty(0), offsets, present)
        flat = self.forest_.flat
        if self.mass_ is not None:
            flat = flat.counted(self.mass_)
        bins = flat.bins(values[gaps], self.n_jobs)
        leaves, weights = flat.share_leaves(bins, self.missing == "by_mass", self.n_jobs)
        offsets[gaps + 1] = np.diff(leaves.offsets)
        offsets = np.cumsum(offsets)
        codes = self.forest_.leaf_codes[leaves.values]
        return Ragged(codes, offsets, present), Ragged(weights.values, offsets, present)

    # A code is the path to a leaf in bits: every tree has 2**height of them.
    def _leaf_offsets(self) -> np.ndarray:
        return np.arange(self.forest_.n_trees + 1) << self.forest_.height

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the share of trees in which rows of a and b share a leaf."""
        codes = a.arrays["codes"], b.arrays["codes"]
        return share_block(*codes, *explain.soft_parts(a, b, self._leaf_offsets()))

    def find_nearest(self, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
        """Return unfinished lists of the nearest rows, kept while agreements are counted."""
        # Rows in several leaves have fractional agreements, which counting equal codes cannot give.
        if explain.are_complete(a, b):
            return near.nearest_by_leaves(self, a, b, k, named)
        if a is b:  # products add up in the order of the leaves: one tile serves both its sides
            return near.nearest_in_tiles(self, a, b, k, named, True, near.ROWS_PER_TILE)
        return super().find_nearest(a, b, k, named)

    def sketch(self, rows: Rows) -> Sketch | None:
        """Return random bits for every leaf: those that differ count the trees that part rows."""
        return bit_sketch(self.forest_.n_trees)

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        return explain.explain_leaves(self._flat(), self._both_numbers(a, b), *self._in_flat(a, b))

    def column_differences(self, a: Rows, b: Rows) -> ColumnDifferences:
        """Return in how many trees a row parts from each of some at every column."""
        return explain.parting_columns(self._flat(), *self._in_flat(a, b))

    def _flat(self) -> explain.FittedForest:
        return explain.FittedForest(self.forest_.flat, None, self.inputs_.owner)

    def _in_flat(self, *sides: Rows) -> Iterator[Rows]:
        """Yield rows by the leaves of the flat form of the forest."""
        # Codes count leaves by their path; the flat form of a forest by their order in the tree.
        begin, first = self._leaf_offsets(), self.forest_.flat.nodes.leaf_offsets
        number = np.zeros(begin[-1], np.int64)
        number[self.forest_.leaf_codes] = np.arange(first[-1])
        for rows in sides:
            soft, weights = explain.soft_part(rows)
            codes = number[begin[:-1] + rows.arrays["codes"]] - first[:-1]
            leaves = Ragged(number[soft.values], soft.offsets, soft.missing)
            yield Rows(rows.seen, {"codes": codes, "leaves": leaves, "weights": weights})

    def _check_parts(self, dims: Dims) -> None:
        inputs, forest = self.inputs_, self.forest_
        check_owners(self.schema_, inputs.names, inputs.owner, "StochasticForest.inputs_")
        fits = forest.n_inputs == len(inputs.owner)
        require(fits, "StochasticForest.forest_", f"{len(inputs.owner)} inputs", "others")
        if self.mass_ is not None:
            nodes = len(forest.flat.feature)
            require(dims["nodes"] == nodes, "StochasticForest.mass_", f"{nodes} nodes", "others")

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return what encoded rows look like."""
        trees, height = self.forest_.n_trees, self.forest_.height
        codes = fields.Array("uint8" if height <= 8 else "uint16", "n", trees, below=1 << height)
        return {"codes": codes, **self.ROWS}, {"leaves": trees << height}

    def check_rows(self, rows: Rows, where: str) -> None:
        """Refuse loaded rows that this measure would not have encoded."""
        super().check_rows(rows, where)
        explain.check_soft(rows, where)
