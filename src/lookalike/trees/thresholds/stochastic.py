"""Unsupervised stochastic forests: balanced trees on small samples, by order alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks, cached_property, run
from lookalike.errors import InvalidInput, Param, TooFewRows
from lookalike.kernels.balanced import encode_by_all_tests, encode_by_walking, grow_balanced
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Dims, Fields, Integer, require
from lookalike.trees.growing import tree_states
from lookalike.trees.thresholds.flat import Forest, flatten

MAX_HEIGHT = 16  # a code of a leaf has 16 bits at most
MAX_HEIGHT_ALL_TESTS = 8  # up to this height asking every test beats walking down


class BalanceError(InvalidInput):
    """No balanced tree could be grown on any of the samples drawn."""


@saveable
@dataclass(eq=False)  # not frozen: what follows from the arrays is computed once and kept
class BalancedForest:
    """Trees of one height in heap order: node v has the children 2v + 1 and 2v + 2.

    Parameters
    ----------
    feature : int32 array of shape (n_trees, 2**height - 1)
        The column tested; -1 below an early leaf of a relaxed tree.
    cut : float64 array of the same shape
        ``x <= cut`` goes left.
    height : int
    n_inputs : int
        How many columns the rows have.
    relaxed : int64 array
        Trees that could not be balanced and were cut as near to the middle as possible.
    """

    FIELDS: ClassVar[Fields] = {
        "feature": Array("int32", "trees", "inner", low=-1, below="inputs"),
        "cut": Array("float64", "trees", "inner", no_nan=True),
        "height": Integer(1, MAX_HEIGHT),
        "n_inputs": Integer(1, 2**31, size="inputs"),
        "relaxed": Array("int64", "relaxed", low=0, below="trees", ascending=True),
    }

    feature: np.ndarray
    cut: np.ndarray
    height: int
    n_inputs: int
    relaxed: np.ndarray

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.feature)

    def codes(self, values: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the leaf of every row in every tree as the answers along its path, 1 for right.

        Parameters
        ----------
        values : float32 or float64 array of shape (n, n_inputs)
            A missing value counts as "at most": rows with gaps need ``shares`` instead.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        uint8 or uint16 array of shape (n, n_trees)
        """
        single = values.dtype == np.float32
        values = np.ascontiguousarray(values, np.float32 if single else np.float64)
        cut = np.where(self.feature >= 0, self.cut, np.inf)  # an early leaf sends all rows left
        feature = np.maximum(self.feature, 0)
        if single:
            # The largest single-precision number not above the cut decides alike.
            near = cut.astype(np.float32)
            cut = np.where(near > cut, np.nextafter(near, np.float32(-np.inf)), near)
        codes = np.empty((len(values), self.n_trees), np.uint8 if self.height <= 8 else np.uint16)
        # All tests cost 2^height, a walk costs height but waits for each answer.
        encode = encode_by_all_tests if self.height <= MAX_HEIGHT_ALL_TESTS else encode_by_walking

        def one(part: slice) -> None:
            encode(values[part], feature, cut, self.height, codes[part])

        run(one, [(part,) for part in blocks(len(values), 512)], n_jobs, "finding leaves")
        return codes

    @cached_property
    def flat(self) -> Forest:
        """The same trees in the form that all forests share."""
        inner = self.feature.shape[1]
        feature = np.full((self.n_trees, 2 * inner + 1), -1, np.int32)
        feature[:, :inner] = self.feature
        cut = np.zeros(feature.shape)
        cut[:, :inner] = self.cut
        reached = self._reached()
        # Numbers of the nodes that exist, within each tree.
        place = np.cumsum(reached, axis=1) - 1
        children = np.full((2, *feature.shape), -1, np.int64)
        for side in range(2):
            children[side, :, :inner] = place[:, 2 * np.arange(inner) + 1 + side]
        offsets = np.concatenate([[0], np.cumsum(reached.sum(axis=1))])
        left, right = (child[reached] for child in children)
        return flatten(feature[reached], cut[reached], left, right, offsets, self.n_inputs)

    @cached_property
    def leaf_codes(self) -> np.ndarray:
        """For each leaf of ``flat``, over the whole forest, its tree * 2**height + code."""
        size = 1 << self.height
        if not len(self.relaxed):
            return np.arange(self.n_trees * size, dtype=np.int32)
        inner = self.feature.shape[1]
        reached = self._reached()
        leaf = reached.copy()
        leaf[:, :inner] &= self.feature < 0
        tree, node = np.nonzero(leaf)
        depth = np.floor(np.log2(node + 1)).astype(np.int64)
        # An early leaf has the code of its leftmost descendant, where ``codes`` sends its rows.
        code = (node + 1 - (1 << depth)) << (self.height - depth)
        return np.sort(tree * size + code).astype(np.int32)

    def _reached(self) -> np.ndarray:
        inner = self.feature.shape[1]
        reached = np.ones((self.n_trees, 2 * inner + 1), bool)
        for v in range(inner):
            below = reached[:, v] & (self.feature[:, v] >= 0)
            reached[:, 2 * v + 1] = reached[:, 2 * v + 2] = below
        return reached

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that trees are as high as they say."""
        nodes = 2**self.height - 1
        fits = len(self.feature) and self.feature.shape[1] == nodes
        require(fits, "BalancedForest", f"trees of {nodes} tests", str(self.feature.shape))
        early = np.flatnonzero((self.feature < 0).any(axis=1))
        named = np.isin(early, self.relaxed).all()
        require(named, "BalancedForest.relaxed", "every tree with an early leaf", "others")


def grow_stochastic(
    values: np.ndarray,
    n_trees: int = 1000,
    height: int = 5,
    *,
    side: str = "left",
    on_fail: str = "error",
    max_retries: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
    who: str = "grow_stochastic",
) -> BalancedForest:
    """Grow balanced trees on small random samples; only the order of values within columns matters.

    Each tree draws ``2**height`` rows. A node tries columns in random order and takes the first
    whose sample values fall into two halves of different values; the largest value of the lower
    half is the threshold. A sample for which that fails is thrown away and another is drawn. A
    column with a missing value among the sample rows of a node is not tried there.

    Parameters
    ----------
    values : array of shape (n, d)
        NaN where missing.
    n_trees, height : int
    side : {"left", "random"}
        Values strictly between the two halves go right, or to either side with equal chance for
        each node; with "random" a decreasing change of scale does not matter either, on average.
    on_fail : {"error", "relax"}
        What to do after ``max_retries`` samples. "relax": cut a stuck node between two different
        values as near to the middle as any column allows (ties at random), and make it a leaf if
        all its rows are equal or the height is reached.
    max_retries : int
        Samples drawn per tree.
    random_state : None, int or Generator
    n_jobs : int, optional
    who : str
        Named in errors.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.random.default_rng(0).random((100, 3))
    >>> forest = grow_stochastic(values, n_trees=10, height=3, random_state=0)
    >>> codes = forest.codes(values)
    >>> codes.shape, codes.dtype
    ((100, 10), dtype('uint8'))
    >>> again = grow_stochastic(np.exp(values), n_trees=10, height=3, random_state=0)
    >>> bool((again.codes(np.exp(values)) == codes).all())
    True
    """
    values = np.asarray(values)
    values = values if values.dtype == np.float32 else values.astype(np.float64, copy=False)
    _check_height(values, height, who, on_fail == "relax")
    states = tree_states(random_state, n_trees)
    columns = np.ascontiguousarray(values.T)
    inner = (1 << height) - 1
    feature, cut = np.empty((n_trees, inner), np.int32), np.empty((n_trees, inner))
    failed = np.full(n_trees, -2, np.int64)  # -2: not tried, because a tree before it failed

    options = height, max_retries, on_fail == "relax", side == "random"

    def one(part: slice) -> None:
        grow_balanced(columns, *options, states[part], feature[part], cut[part], failed[part])

    # Small parts, so that a table that cannot be balanced is found out soon.
    run(one, [(part,) for part in blocks(n_trees, 32)], n_jobs, "growing trees")
    if (failed < 0).any():
        built = int((failed >= 0).sum())
        raise BalanceError(
            Param("height", height, of=who),
            f"columns that halve some of {max_retries} samples of {1 << height} rows",
            f"none that would do for a tree ({built} of {n_trees} were built)",
            ("Use ", Param("height", max(1, height - 1)), ", or allow ", Param("on_fail", "relax")),
        )
    return BalancedForest(
        feature, cut, height, values.shape[1], np.flatnonzero(failed == max_retries)
    )


def _check_height(values: np.ndarray, height: int, who: str, relax: bool) -> None:
    """Refuse a height for which there are too few rows, or too few for a balanced tree."""
    needed = 1 << height
    n = len(values)
    if height > MAX_HEIGHT:
        raise InvalidInput(
            Param("height", height, of=who),
            f"a height of at most {MAX_HEIGHT}",
            str(height),
            "Heights of 4 to 6 serve most tables",
        )
    distinct, seen = (n, n) if relax else (0, 0)
    while distinct < needed and seen < n:  # most tables have enough different rows at their start
        seen = min(n, max(4 * needed, 4 * seen))
        # Four times as many rows each time: sorting all rows of a large table for a check would
        # take longer than growing.
        some = np.ascontiguousarray(values[:seen]) + 0.0  # -0.0 equals 0.0
        distinct = len(np.unique(some, axis=0))
    if distinct < needed:
        tallest = max(0, int(np.floor(np.log2(max(1, distinct)))))
        raise TooFewRows(
            Param("height", height, of=who),
            f"at least {needed} {'rows' if relax else 'different rows'}",
            (f"{distinct} of ", Param("n_samples", n)),
            ("Use ", Param("height", tallest)) if tallest else "Give at least two rows that differ",
        )
