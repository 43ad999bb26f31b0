"""The one form that every tree takes, grown here or elsewhere: flat arrays of a whole forest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, cached_property, run
from lookalike.columns.ragged import Ragged
from lookalike.errors import InvalidInput, Param, TooLarge
from lookalike.kernels import trees as kernels
from lookalike.kernels.trees import Nodes, Splits, Tests
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Dims, Fields, Flag, Offsets, require


@saveable
@dataclass(eq=False)  # not frozen: what follows from the arrays is computed once and kept
class Forest:
    """Trees as flat arrays: a row goes left if its value is at most the threshold.

    The nodes of a tree follow one another in preorder, so a left child comes right after its parent
    and the leaves below a node are numbered without gaps. ``flatten`` brings any trees into this
    form.

    Parameters
    ----------
    feature : int32, one per node
        The input that the node tests; -1 in a leaf.
    threshold : float64, one per node
        ``x <= threshold`` goes left; with ``equal`` set, ``x == threshold`` goes left.
    right : int32, one per node
        Right child, counted from the beginning of its tree; -1 in a leaf.
    offsets : int64, one per tree and one more
        Tree t has the nodes ``offsets[t]:offsets[t + 1]``.
    equal : uint8, one per node
        1 for a test of one category against the rest.
    default : uint8, one per node
        Side of a missing value where it must take one: 1 for left.
    mass : float64, one per node
        How many of the fitted rows reach the node; 0 before they have been counted.
    column : int32, one per input
        The table's column behind each input. Usually the same; a test on two objects of a column is
        an input of its own.
    soft : bool
        A missing value goes both ways, each with a share of the weight. False: by ``default`` only.
    single : bool
        Values are rounded to single precision before they are tested, as scikit-learn does.

    Examples
    --------
    >>> import numpy as np
    >>> forest = flatten(
    ...     feature=[0, -1, 1, -1, -1],
    ...     threshold=[0.5, 0, 0.5, 0, 0],
    ...     left=[1, -1, 3, -1, -1],
    ...     right=[2, -1, 4, -1, -1],
    ...     offsets=[0, 5],
    ...     n_inputs=2,
    ... )
    >>> forest
    Forest: 1 tree, 5 nodes, 2 inputs, depth 2
    >>> forest.leaves(np.array([[0.2, 0.2], [0.8, 0.2], [0.8, 0.8]])).ravel()
    array([0, 1, 2], dtype=uint16)
    """

    FIELDS: ClassVar[Fields] = {
        "feature": Array("int32", "nodes", low=-1, below="inputs"),
        "threshold": Array("float64", "nodes", no_nan=True),
        "right": Array("int32", "nodes", low=-1, below="nodes"),
        "offsets": Offsets("nodes", "trees"),
        "equal": Array("uint8", "nodes", high=1),
        "default": Array("uint8", "nodes", high=1),
        "mass": Array("float64", "nodes", finite=True, low=0),
        "column": Array("int32", "inputs", low=0),
        "soft": Flag(),
        "single": Flag(),
    }

    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    offsets: np.ndarray
    equal: np.ndarray
    default: np.ndarray
    mass: np.ndarray
    column: np.ndarray
    soft: bool = True
    single: bool = False

    def __repr__(self) -> str:
        trees = f"{self.n_trees:,} tree" + ("" if self.n_trees == 1 else "s")
        depth = int(self.nodes.depth.max(initial=0))
        return (
            f"Forest: {trees}, {len(self.feature):,} nodes, {self.n_inputs} inputs, depth {depth}"
        )

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.offsets) - 1

    @property
    def n_inputs(self) -> int:
        """How many inputs the tests may ask for."""
        return len(self.column)

    @cached_property
    def nodes(self) -> Nodes:
        """Depths, parents and leaf numbers."""
        return find_shape(self.feature, self.right, self.offsets)

    @property
    def splits(self) -> Splits:
        """What a walk from root to leaf needs, for kernels."""
        return Splits(
            self.feature, self.tests.cut, self.right, self.equal, self.default, self.offsets
        )

    @cached_property
    def tests(self) -> Tests:
        """Tests by content, numbered over the whole forest."""
        inside = self.feature >= 0
        category = np.zeros(self.n_inputs, np.uint8)
        category[self.feature[inside & (self.equal > 0)]] = 1
        # Sorted by input and threshold, equal tests are neighbors: a test is known by its content,
        # wherever its nodes are.
        asked = np.lexsort((self.threshold[inside], self.feature[inside]))
        at = np.flatnonzero(inside)[asked]
        f, c = self.feature[at], self.threshold[at] + 0.0  # -0.0 and 0.0 are one threshold
        new = np.ones(len(at), bool)
        new[1:] = (f[1:] != f[:-1]) | (c[1:] != c[:-1])
        number = np.cumsum(new) - 1
        counts = np.bincount(f[new], minlength=self.n_inputs)
        cut_offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        size = len(self.feature)
        test, cut = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
        test[at] = number
        cut[at] = number - cut_offsets[f]
        repeat, slot = np.empty(size, np.uint8), np.empty(size, np.int32)
        height, n_slots = np.empty(size, np.int32), np.empty(self.n_trees, np.int64)
        shape = self.offsets, self.nodes.parent, int(cut_offsets[-1])
        kernels.find_repeated_tests(test, *shape, repeat, slot, n_slots, height)
        return Tests(c[new], cut_offsets, category, test, cut, repeat, slot, n_slots, height)

    @cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        """Greatest depth, and greatest number of nodes, of leaves and of shared tests in a tree."""
        return (
            int(self.nodes.depth.max(initial=0)),
            int(np.diff(self.offsets).max(initial=0)),
            int(self.nodes.n_leaves.max(initial=0)),
            int(self.tests.n_slots.max(initial=0)),
        )

    def bins(self, values: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return rows as integers: how many thresholds of its column each value exceeds.

        That is all a forest can ask about a row, exactly, in one to four bytes per value; the
        largest number of the type is a missing value.
        """
        values = np.asarray(values)
        if values.ndim != 2 or values.shape[1] != self.n_inputs:
            needed = f"rows of {self.n_inputs} columns, as it was grown on"
            hint = "Give the same columns in the same order"
            raise InvalidInput("forest", needed, f"an array of shape {values.shape}", hint)
        if self.single:
            # Beyond the range of single precision a value becomes infinite, in scikit-learn as
            # well, and goes to the same side.
            with np.errstate(over="ignore"):
                values = values.astype(np.float32)
        values = values.astype(np.float64, copy=False)
        tests = self.tests
        bins = np.empty(values.shape, bin_type(self))
        unknown = bins.dtype.type(unknown_bin(bins))

        facts = tests.cuts, tests.cut_offsets, tests.category, unknown

        def one(part: slice) -> None:
            kernels.bin_values(values[part], *facts, bins[part])

        run(one, [(part,) for part in blocks(len(bins), BLOCK_ROWS)], n_jobs, "reading rows")
        return bins

    def leaves(self, values: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the leaf that each row reaches in each tree; missing values go by ``default``.

        Parameters
        ----------
        values : array of shape (n, n_inputs)
            NaN where missing.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        array of shape (n, n_trees)
            Leaf numbers, uint16 or, for trees of very many leaves, uint32.
        """
        return self.leaves_of(self.bins(values, n_jobs), n_jobs)

    def leaves_of(self, bins: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the leaves of rows that were turned into bins; see ``leaves``."""
        splits, leaf = self.splits, self.nodes.leaf
        most = int(self.nodes.n_leaves.max(initial=0))
        found = np.empty((len(bins), self.n_trees), leaf_type(most))
        unknown = bins.dtype.type(unknown_bin(bins))

        def one(part: slice) -> None:
            kernels.find_leaves(bins[part], splits, leaf, unknown, found[part])

        run(one, [(part,) for part in blocks(len(bins), BLOCK_ROWS)], n_jobs, "walking down trees")
        return found

    def settled(self, values: np.ndarray, n_jobs: int | None = None) -> Forest:
        """Return the forest with the fitted rows counted in every node.

        A missing value follows the larger count of rows whose value is known (ties: left); a forest
        that came with sides of its own (``soft=False``) keeps them.
        """
        return self.count_rows(self.bins(values, n_jobs), n_jobs)

    def count_rows(self, bins: np.ndarray, n_jobs: int | None = None) -> Forest:
        """Return the forest with rows that were turned into bins counted; see ``settled``."""
        mass, side = np.empty(len(self.feature)), np.empty(len(self.feature), np.uint8)
        unknown, splits = bins.dtype.type(unknown_bin(bins)), self.splits

        def one(part: slice) -> None:
            trees = np.array([part.start, part.stop])
            kernels.count_rows(bins, splits, trees, unknown, self.soft, mass, side)

        run(one, [(part,) for part in blocks(self.n_trees, 16)], n_jobs, "counting rows in nodes")
        return self.counted(mass, side)

    def share_leaves(
        self, bins: np.ndarray, by_mass: bool = False, n_jobs: int | None = None
    ) -> tuple[Ragged, Ragged]:
        """Return the leaves that rows with missing values may belong to, and the weight of each.

        Parameters
        ----------
        bins : array from ``bins``
        by_mass : bool
            Split a weight by the fitted counts of the two children instead of in halves.
        n_jobs : int, optional

        Returns
        -------
        leaves, weights : Ragged
            One entry per leaf of positive weight, numbered over the whole forest, ascending; none
            for a row without missing values, whose leaves are in ``leaves_of``. The weights of a
            row sum to 1 in each tree.
        """
        unknown = bins.dtype.type(unknown_bin(bins))
        rows = np.flatnonzero(has_missing(bins)) if self.soft else np.empty(0, np.int64)
        counts = np.zeros(len(bins), np.int64)
        nothing, no_weight = np.empty(0, np.int32), np.empty(0)
        splits, nodes = self.splits, self.nodes

        def walk(row: int, out: np.ndarray, weights: np.ndarray) -> int:
            facts = splits, self.mass, nodes, unknown, by_mass
            return int(kernels.share_leaves(bins[row], *facts, out, weights))

        # Twice down the trees: how many leaves there are is not known before the first time.
        def count(part: slice) -> None:
            for row in rows[part]:
                counts[row] = walk(row, nothing, no_weight)

        parts = [(part,) for part in blocks(len(rows), 64)]
        run(count, parts, n_jobs, "spreading rows with gaps")
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        # Four bytes for a leaf, eight for its weight.
        needed = int(offsets[-1]) * 12
        if needed > settings().memory_limit:
            more = Param("memory_limit", of="config")
            raise TooLarge(
                f"forest of {self.n_trees:,} trees",
                f"{show_bytes(needed)} for the leaves that {len(rows):,} rows with gaps may reach",
                f"a memory limit of {show_bytes(settings().memory_limit)}",
                ("Raise ", more, ", encode fewer rows in one call, or grow smaller trees"),
            )
        reached, weights = np.empty(offsets[-1], np.int32), np.empty(offsets[-1])

        def fill(part: slice) -> None:
            for row in rows[part]:
                leaves = slice(offsets[row], offsets[row + 1])
                walk(row, reached[leaves], weights[leaves])

        run(fill, parts, n_jobs, "spreading rows with gaps")
        present = np.zeros(len(bins), bool)
        return Ragged(reached, offsets, present), Ragged(weights, offsets, present)

    def counted(self, mass: np.ndarray, default: np.ndarray | None = None) -> Forest:
        """Return the forest with these counts of fitted rows and sides of missing values."""
        # Rows may be counted again for the same trees; what follows from the shape is kept.
        changed = replace(self, mass=mass, default=self.default if default is None else default)
        # None of these depends on what was changed.
        changed.nodes, changed.tests, changed.sizes = self.nodes, self.tests, self.sizes
        return changed

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that nodes are in preorder and an input has one kind of test."""
        check_preorder(self.feature, self.right, self.offsets, "Forest")
        one_kind = not len(_tested_twice(self.feature, self.equal, self.n_inputs))
        require(one_kind, "Forest.equal", "one kind of test per input", "both kinds")


def _tested_twice(feature: np.ndarray, equal: np.ndarray, n_inputs: int) -> np.ndarray:
    """Return the inputs that are tested both by thresholds and by categories."""
    inside = feature >= 0
    tested = np.zeros((n_inputs, 2), bool)
    tested[feature[inside], equal[inside]] = True
    return np.flatnonzero(tested.all(axis=1))


def find_shape(feature: np.ndarray, right: np.ndarray, offsets: np.ndarray) -> Nodes:
    """Return what follows from the shape of trees whose nodes are in preorder."""
    size = len(feature)
    parent, depth, end, leaf, first, last = (np.empty(size, np.int32) for _ in range(6))
    n_leaves = np.empty(len(offsets) - 1, np.int64)
    kernels.write_shapes(feature, right, offsets, parent, depth, end, leaf, first, last, n_leaves)
    leaf_offsets = np.concatenate([[0], np.cumsum(n_leaves)]).astype(np.int64)
    start = np.repeat(offsets[:-1], np.diff(offsets))
    leaf_node = (np.arange(size) - start)[leaf >= 0].astype(np.int32)
    return Nodes(parent, depth, end, leaf, first, last, n_leaves, leaf_node, leaf_offsets)


def check_preorder(feature: np.ndarray, right: np.ndarray, offsets: np.ndarray, where: str) -> None:
    """Refuse loaded trees unless each is whole and its nodes are in preorder.

    Which nodes are leaves fixes where every right child is; children come after their parents, so
    no walk can go in circles or leave its tree.
    """
    size, start = len(feature), np.repeat(offsets[:-1], np.diff(offsets))
    within = np.arange(size) - start
    order, place = np.empty((2, size), np.int64)
    # A saved forest comes from untrusted files: this walk follows no child before it is checked.
    left = (within + 1).astype(np.int32)
    wrong = kernels.order_nodes(feature, left, right, offsets, order, place)
    whole = len(offsets) > 1 and wrong < 0
    require(whole, where, "trees whose every node is reached once from the root", "others")
    ordered = np.array_equal(order, within) and (right[feature < 0] == -1).all()
    require(bool(ordered), where, "right children in preorder", "others")


def flatten(
    feature: Any,
    threshold: Any,
    left: Any,
    right: Any,
    offsets: Any,
    n_inputs: int,
    *,
    equal: Any = None,
    default: Any = None,
    soft: bool = True,
    single: bool = False,
) -> Forest:
    """Bring trees into the one form: check them and put their nodes in preorder.

    Parameters
    ----------
    feature, threshold, left, right : sequences, one entry per node
        As in ``Forest``, with left children, in any order that begins with the root of each tree.
    offsets : sequence
        Where each tree begins, and the end of the last.
    n_inputs : int
        How many columns the rows have.
    equal, default : sequences, optional
    soft, single : bool
        See ``Forest``.

    Examples
    --------
    >>> stump = flatten([0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [0, 3], n_inputs=1)
    >>> stump.n_trees, stump.n_inputs
    (1, 1)
    """
    feature = np.asarray(feature, np.int32)
    threshold = np.asarray(threshold, np.float64)
    children = np.asarray(left, np.int32), np.asarray(right, np.int32)
    offsets = np.asarray(offsets, np.int64)
    size = len(feature)
    same = np.zeros(size, np.uint8) if equal is None else np.asarray(equal, np.uint8)
    side = np.ones(size, np.uint8) if default is None else np.asarray(default, np.uint8)
    inside = feature >= 0
    feature = np.where(inside, feature, np.int32(-1))
    threshold = np.where(inside, threshold, 0.0)
    if size and int(feature.max()) >= n_inputs:
        _refuse(f"tests on inputs 0 to {n_inputs - 1}", f"a test on input {int(feature.max())}")
    if np.isnan(threshold[inside]).any():
        _refuse("a threshold in every inner node", "a node without one")
    both = _tested_twice(feature, same, n_inputs)
    if len(both):
        _refuse("one kind of test per input", f"thresholds and categories on input {both[0]}")
    order, place = np.empty(size, np.int64), np.empty(size, np.int64)
    # Preorder makes a subtree a range: its leaves, rows and counts are slices.
    wrong = kernels.order_nodes(feature, *children, offsets, order, place)
    if wrong >= 0:
        _refuse("trees whose every node is reached once from the root", f"tree {wrong} is not")
    start = np.repeat(offsets[:-1], np.diff(offsets))
    taken = order + start
    # A leaf has no children, whatever the arrays of another library hold there.
    rights = place[np.maximum(children[1][taken], 0) + start]
    return Forest(
        feature[taken],
        threshold[taken],
        np.where(feature[taken] >= 0, rights, -1).astype(np.int32),
        offsets,
        same[taken],
        side[taken],
        np.zeros(size),
        np.arange(n_inputs, dtype=np.int32),
        soft,
        single,
    )


def _refuse(needed: str, found: str) -> None:
    raise InvalidInput("forest", needed, found, "Check the arrays of the trees")


BLOCK_ROWS = 1024


def unknown_bin(bins: np.ndarray) -> int:
    """Return the bin of a missing value."""
    return int(np.iinfo(bins.dtype).max)


def bin_type(forest: Forest) -> type[np.unsignedinteger]:
    """Return the type of bins.

    A forest with more inputs than columns tests pairs of cells: very many inputs of a few cuts
    each, for which a byte is worth having. Others keep to one type, however few their cuts.
    """
    # 254 and 65534: a bin counts the cuts below a value, and the largest number is kept for
    # missing.
    most = int(np.diff(forest.tests.cut_offsets).max(initial=0))
    if most < 254 and forest.n_inputs > int(forest.column.max(initial=0)) + 1:
        return np.uint8
    return np.uint16 if most < 65534 else np.uint32


def has_missing(bins: np.ndarray) -> np.ndarray:
    """Return which rows miss a value that some test asks for."""
    # In blocks: the comparison makes an array of the size of the bins.
    unknown = unknown_bin(bins)
    parts = [(bins[part] == unknown).any(axis=1) for part in blocks(len(bins), 64)]
    return np.concatenate([np.zeros(0, bool), *parts])


def leaf_type(n_leaves: int) -> type[np.unsignedinteger]:
    """Return the narrowest type for leaf numbers; two numbers are left free as marks."""
    # The two largest numbers mark rows that a tree was grown on, see ``out_of_bag_block``.
    return np.uint16 if n_leaves <= 65534 else np.uint32
