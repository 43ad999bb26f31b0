"""Growing forests of similarity trees: with labels, with a target, or with nothing but the rows."""

from __future__ import annotations

import numbers
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lookalike._runtime.threads import check_stopped
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param
from lookalike.kernels import cells as kernels
from lookalike.kernels import growing as steps
from lookalike.trees import growing
from lookalike.trees.cells.columns import CellCache, TreeColumn
from lookalike.trees.cells.trees import SimilarityTrees, join_cell_trees

# Both limits were chosen by hand.
CACHE_PAIRS = 20_000_000  # distances kept for a forest: 160 MB
CACHE_PAIRS_PER_TREE = 2_000_000  # and for a tree, where they are computed as they are asked for
CRITERIA = {"gini": 0, "entropy": 1, "variance": 2}


@dataclass(frozen=True)
class TreeLimits:
    """How a tree is grown.

    Parameters
    ----------
    max_features : float or int
        Columns tried per node: a share of them (at least one) or a number.
    max_pairs : int
        Pairs of cells tried per column and node.
    max_depth, min_samples_split, min_samples_leaf
        As in scikit-learn's trees.
    criterion : {"gini", "entropy", "variance"}
    by_class : bool
        Take the first cell of a pair from the class that varies least; else from the whole node.
    balanced : bool
        Of two equally good cuts take the more even one.
    midpoint : bool
        Put thresholds halfway between two projections; else on the lower of them.
    min_weight_fraction_leaf : float
        Least share of all weight on each side of a test.
    splitter : {"best", "random"}
        Look for the best threshold, or draw one between the smallest and the largest projection.
    """

    max_features: float | int = 0.5
    max_pairs: int = 1
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    criterion: str = "gini"
    by_class: bool = True
    balanced: bool = True
    midpoint: bool = False
    min_weight_fraction_leaf: float = 0.0
    splitter: str = "best"

    def for_kernels(self, n_columns: int) -> kernels.SplitRules:
        """Return the same in numbers, as kernels read them; no weight is known yet."""
        share = self.max_features
        tried = share if isinstance(share, numbers.Integral) else share * n_columns
        depth = growing.MAX_DEPTH if self.max_depth is None else self.max_depth
        leaf = self.min_samples_split, self.min_samples_leaf, CRITERIA[self.criterion]
        random = self.splitter == "random"
        switches = self.by_class, self.balanced, self.midpoint, random, False
        first = min(max(1, int(tried)), n_columns)
        return kernels.SplitRules(*map(int, (first, self.max_pairs, depth, *leaf, *switches, 0)))


@dataclass(frozen=True, eq=False)
class Goal:
    """The target of the trees: classes, or amounts to predict.

    Parameters
    ----------
    label : int array, optional
        Class numbers from 0 to ``n_classes - 1``.
    target : float array, optional
        What to predict, where there are no labels.
    weight : float array, optional
        Weight of each row; a row of weight 0 takes no part.
    n_classes : int
    """

    label: Any = None
    target: Any = None
    weight: np.ndarray | None = None
    n_classes: int = 1


@dataclass(frozen=True)
class Sampling:
    """Which rows each tree is grown on.

    Parameters
    ----------
    bootstrap : bool
        Draw as many rows as there are, with replacement; else ``max_samples`` of them without.
    max_samples : float or int
    both : bool
        For labels 0 and 1: draw again where a sample holds one of them only. ``max_samples`` then
        counts with ``bootstrap``, too.
    """

    bootstrap: bool = True
    max_samples: float | int = 1.0
    both: bool = False

    def draw(self, labels: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Draw the rows of a tree; return how often each came."""
        n = len(labels)
        if self.both:
            drawn = growing.draw_both(labels, self.max_samples, self.bootstrap, state)
            return np.bincount(drawn, minlength=n)
        size = n if self.bootstrap else growing.count_share(self.max_samples, n)
        drawn = np.arange(size)
        if self.bootstrap or size < n:
            steps.sample_rows(n, self.bootstrap, state, drawn)
        return np.bincount(drawn, minlength=n)


def grow_trees(
    cache: CellCache,
    goal: Goal,
    n_trees: int = 100,
    *,
    limits: TreeLimits | None = None,
    sampling: Sampling | None = None,
    keep_bag: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> growing.GrownForest[SimilarityTrees]:
    """Grow trees that tell labels apart, or predict a target.

    Parameters
    ----------
    cache : CellCache
        The fitted cells.
    goal : Goal
    n_trees : int
    limits : TreeLimits, optional
    sampling : Sampling, optional
    keep_bag : bool
        Return which rows each tree was grown on.
    random_state : None, int or Generator
    n_jobs : int, optional
    """
    n, limits, sampling = len(cache), limits or TreeLimits(), sampling or Sampling()
    rules = limits.for_kernels(len(cache.columns))
    share = float(limits.min_weight_fraction_leaf)
    weights = np.ones(n) if goal.weight is None else np.asarray(goal.weight, np.float64)
    labels = np.zeros(n, np.int64) if goal.label is None else np.asarray(goal.label, np.int64)
    amounts = np.zeros(n) if goal.target is None else np.asarray(goal.target, np.float64)
    states = growing.tree_states(random_state, n_trees)
    in_bag = np.zeros((n, n_trees), np.uint8) if keep_bag else None
    # Columns whose matrix of distances would not fit are computed node by node, in Python.
    lazy = bool((cache.arrays.kinds == kernels.UNCACHED).any())

    def one(t: int) -> kernels.CellTree:
        # A copy: the kernel moves it on, and a forest may be grown again from the same states.
        state = states[t : t + 1].copy()
        times = sampling.draw(labels, state)
        if not ((times > 0) & (weights > 0)).any():  # nearly all weights are 0
            times = np.ones(n, np.int64)
        if in_bag is not None:
            in_bag[:, t] = np.minimum(times, 255)
        here = weights * times
        rows = np.flatnonzero(here > 0)
        targets = kernels.Targets(labels, amounts, here, times, goal.n_classes)
        tree = kernels.make_tree(2 * len(rows), goal.n_classes)
        scratch = kernels.make_scratch(len(rows), goal.n_classes, len(cache))
        # Added row by row, whatever numpy's own order of sums is.
        own = rules._replace(floor=float(np.cumsum(share * here[rows])[-1]) if len(rows) else 0.0)
        facts = cache.arrays, targets, rows, own, np.arange(len(cache.columns)), state
        slow = LazyGrower(cache, targets, own, state, scratch)
        pause = max(1, growing.ROWS_BEFORE_PAUSE // max(1, rules.max_columns))

        def grow(stack: steps.NodeStack) -> None:
            if lazy:
                slow.grow(stack, rows, tree)
            else:
                kernels.grow_similarity(*facts, stack, pause, scratch, tree)

        return growing.grow_by_parts(len(rows), tree, grow)

    return growing.GrownForest(
        join_cell_trees(cache, growing.grow_each(one, n_trees, n_jobs)), in_bag
    )


# -- distances computed as they are asked for ------------------------------------------------------
# The same steps and the same random numbers as ``kernels.cells``, node by node in Python: only
# columns whose matrix of distances would not fit are worth it. Each object column compares one cell
# with all members of a node in one call.


UNKNOWN = -1.0  # no distance is negative


@dataclass(eq=False)
class LazyGrower:
    """Grows one tree whose distances are computed as they are asked for; the latest are remembered.

    Parameters
    ----------
    cache, targets, rules, state, scratch
        As for ``kernels.cells.grow_similarity``.
    """

    cache: CellCache
    targets: kernels.Targets
    rules: kernels.SplitRules
    state: np.ndarray
    scratch: kernels.Scratch
    remembered: OrderedDict[tuple[int, int], np.ndarray] = field(default_factory=OrderedDict)

    def grow(self, stack: steps.NodeStack, rows: np.ndarray, tree: kernels.CellTree) -> None:
        """Grow the tree on some rows."""
        pool, test = np.arange(len(self.cache.columns)), self.scratch.test
        while stack.count[steps.WAITING]:
            check_stopped()
            at, low, high, depth = steps.next_node(stack, tree.left, tree.right)
            facts = low, high, depth, self.targets, self.rules
            node, splits = kernels.describe_node(tree, at, rows, *facts)
            test[0] = -1
            drawn = tried = 0
            while splits and drawn < len(pool) and tried < self.rules.max_columns:
                tried += self._try_column(int(steps.draw_next(self.state, pool, drawn)), node)
                drawn += 1
            if test[0] < 0:
                continue
            column = kernels.column_of(self.cache.arrays, test[0])
            if column.kind == kernels.UNCACHED:
                # Rows with a missing cell have no distances to ask for.
                known = rows[low:high][~np.isnan(column.values[rows[low:high]])]
                values = np.full(len(self.cache), np.nan)
                f, p, q = test[:3].tolist()
                values[known] = self._projections(f, p, q, known)
                # Projections are parted as numbers are that are tested as they are.
                column = column._replace(kind=kernels.VALUE, values=values)
            kernels.split_node(stack, tree, at, column, rows, low, high, depth, self.scratch)

    def _distances(self, f: int, row: int, rows: np.ndarray) -> np.ndarray:
        """Return the distances of a row to others."""
        key = (f, int(self.cache.same[f][self.cache.source[f, row]]))
        known = self.remembered.get(key)
        if known is None:
            known = self.remembered[key] = np.full(len(self.cache), UNKNOWN)
            # The oldest goes first: nodes near the root ask for the most rows, and once.
            if len(self.remembered) > max(2, CACHE_PAIRS_PER_TREE // len(self.cache)):
                self.remembered.popitem(last=False)
        self.remembered.move_to_end(key)
        # Only what was not asked for before: a node's rows are a subset of its parent's.
        new = rows[known[rows] == UNKNOWN]
        if len(new):
            known[new] = self.cache.distances(f, row, new)
        return np.asarray(known[rows])

    def _draw(self, rows: np.ndarray) -> int:
        return int(kernels.draw_entry(self.state, rows, len(rows), self.targets.times))

    def _projections(self, f: int, p: int, q: int, rows: np.ndarray) -> np.ndarray:
        to_p, to_q = self._distances(f, p, rows), self._distances(f, q, rows)
        with np.errstate(invalid="ignore"):  # both infinitely far: the projection is unknown
            if self.cache.columns[f].kind == kernels.TABLE_SQUARED:
                return np.asarray(to_q * to_q - to_p * to_p)
            return np.asarray(to_q - to_p)

    def _variance(self, f: int, rows: np.ndarray) -> float:
        """Return half the mean squared distance of some rows."""
        counts = self.targets.times[rows]
        if len(rows) <= kernels.MAX_ROWS_ALL_PAIRS:
            distances, counts = self.cache.block(f, rows).ravel(), np.outer(counts, counts).ravel()
        else:
            distances = self._distances(f, self._draw(rows), rows)
        known = ~np.isnan(distances)
        often, d = counts[known], distances[known]
        # Row by row in the order of the kernel: the same bits whether distances are cached or not.
        return float(np.cumsum(often * d * d)[-1] / (2.0 * often.sum())) if len(d) else 0.0

    def _least_varied_class(self, f: int, here: np.ndarray) -> np.ndarray:
        """Return the rows of the class whose cells vary least; of about equal ones the first."""
        members, least = here, np.inf
        for c in range(self.targets.n_classes):
            group = here[self.targets.label[here] == c]
            if not len(group):
                continue
            varied = self._variance(f, group)
            if members is here or varied < least * (1.0 - kernels.TIE_TOLERANCE):
                members, least = group, varied
        return members

    def _try_column(self, f: int, node: kernels.NodeRows) -> bool:
        """Try the tests of one column; return whether its cells vary in this node."""
        facts = self.targets, self.rules, self.state, self.scratch
        if self.cache.arrays.kinds[f] != kernels.UNCACHED:
            column = kernels.column_of(self.cache.arrays, f)
            return bool(kernels.try_column(f, column, node, *facts))
        targets, rules, state, scratch = facts
        here = node.rows[node.low : node.high]
        here = here[~np.isnan(self.cache.arrays.values[f][here])]
        if len(here) < 2 or not self._variance(f, here) > 0:
            return False
        by_class = rules.by_class and rules.criterion != kernels.VARIANCE
        members = self._least_varied_class(f, here) if by_class else here
        for _ in range(rules.max_pairs):
            p, spread = self._draw(members), np.sqrt(node.impurity)
            scratch.gaps[: len(here)] = self._distances(f, p, here)
            rest = spread, rules, targets, state, scratch
            q = int(kernels.draw_second(here, len(here), p, *rest))
            if q < 0:
                continue
            a, b = (p, q) if rules.by_class else (q, p)
            proj = self._projections(f, a, b, here)
            known = ~np.isnan(proj)
            k = int(known.sum())
            scratch.item[:k], scratch.proj[:k] = here[known], proj[known]
            steps.sort_values(scratch.proj, scratch.item, k, scratch.gaps, scratch.spare)
            kernels.try_cut(f, a, b, kernels.UNCACHED, node, k, *facts)
        return True


# -- isolation -------------------------------------------------------------------------------------


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
    n, d = len(cells[0]), len(columns)
    # One matrix for all trees, where that is less work than the pairs of every sample.
    whole = n * n <= 2 * n_trees * n_samples**2
    cache = CellCache.of(columns, cells, CACHE_PAIRS if whole else 0, n_jobs)
    states = growing.tree_states(random_state, n_trees)
    # Outliers are isolated early; deeper levels separate ordinary rows (Liu et al. 2008).
    depth = int(np.ceil(np.log2(max(2, n_samples))))
    rules = kernels.SplitRules(1, 1, depth, 2, 1, kernels.VARIANCE, 1, 0, 0, 1, 1 + far, 0.0)
    objects = sum(column.is_object for column in columns)
    if objects * n_samples**2 > CACHE_PAIRS:
        raise InvalidInput(
            Param("max_samples", n_samples),
            f"at most {CACHE_PAIRS:,} distances per tree",
            f"{objects} columns of objects with {n_samples**2:,} each",
            ("Lower ", Param("max_samples"), "; isolation needs small samples"),
        )

    def one(t: int) -> kernels.CellTree:
        state = states[t : t + 1].copy()
        drawn = np.empty(n_samples, np.int64)
        steps.sample_rows(n, False, state, drawn)
        if (cache.arrays.kinds == kernels.UNCACHED).any():
            sample = CellCache.of(columns, tuple(own[drawn] for own in cells), CACHE_PAIRS, 1)
        else:
            sample = cache.take(np.broadcast_to(drawn, (d, n_samples)))
        tree, scratch = kernels.make_tree(2 * n_samples, 1), kernels.make_scratch(n_samples, 1)
        rows, ones = np.arange(n_samples), np.ones(n_samples)
        goal = kernels.Targets(0 * rows, 1.0 * rows, ones, ones.astype(np.int64), 1)
        facts = sample.arrays, goal, rows, rules, np.arange(d), state
        grown = growing.grow_by_parts(
            n_samples,
            tree,
            lambda stack: kernels.grow_similarity(
                *facts, stack, growing.ROWS_BEFORE_PAUSE, scratch, tree
            ),
        )
        # Rows of the sample become rows of the table.
        first, second = (
            np.where(ends >= 0, drawn[ends], -1).astype(np.int32)
            for ends in (grown.first, grown.second)
        )
        return kernels.CellTree(*grown._replace(first=first, second=second))

    return join_cell_trees(cache, growing.grow_each(one, n_trees, n_jobs))
