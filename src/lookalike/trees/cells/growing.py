"""Growing forests of similarity trees: with labels, with a target, or with nothing but the rows."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks, run
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param
from lookalike.kernels.cells import OUTSIDE, CellTree, SplitRules, Targets
from lookalike.trees.by_parts import PAUSE, grow_by_parts
from lookalike.trees.cells.cache import CellCache
from lookalike.trees.cells.columns import TreeColumn
from lookalike.trees.cells.growing_lazy import grow_lazily
from lookalike.trees.cells.trees import SimilarityTrees, cut_off, join_cell_trees
from lookalike.trees.grown import Grown
from lookalike.trees.sampling import count_share
from lookalike.trees.seeds import tree_states

CACHE_PAIRS = 20_000_000  # distances kept for a forest: 160 MB
PER_TREE = 2_000_000  # and for a tree, where they are computed as they are asked for
CRITERIA = {"gini": 0, "entropy": 1, "variance": 2}
DEEPEST = 2**31 - 1


@dataclass(frozen=True)
class Limits:
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

    def for_kernels(self, n_columns: int) -> SplitRules:
        """Return the whole numbers that kernels read."""
        share = self.max_features
        whole = isinstance(share, numbers.Integral)
        tried = int(share) if whole else int(share * n_columns)
        return SplitRules(
            min(max(1, tried), n_columns),
            int(self.max_pairs),
            DEEPEST if self.max_depth is None else int(self.max_depth),
            int(self.min_samples_split),
            int(self.min_samples_leaf),
            CRITERIA[self.criterion],
            int(self.by_class),
            int(self.balanced),
            int(self.midpoint),
        )


def grow_trees(
    cache: CellCache,
    label: np.ndarray | None = None,
    target: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    *,
    n_classes: int = 1,
    n_trees: int = 100,
    limits: Limits | None = None,
    bootstrap: bool = True,
    max_samples: float | int = 1.0,
    both: bool = False,
    reweigh: Callable[[np.ndarray], np.ndarray] | None = None,
    keep_bag: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Grown[SimilarityTrees]:
    """Grow trees that tell labels apart, or predict a target.

    Parameters
    ----------
    cache : CellCache
        The fitted cells.
    label : int array, optional
        Class numbers from 0 to ``n_classes - 1``.
    target : float array, optional
        What to predict, where there are no labels.
    weight : float array, optional
        Weight of each row; a row of weight 0 takes no part.
    n_classes, n_trees : int
    limits : Limits, optional
    bootstrap : bool
        Draw as many rows as there are, with replacement; else ``max_samples`` of them without.
    max_samples : float or int
    both : bool
        For labels 0 and 1: draw again where a sample holds one of them only. ``max_samples`` then
        counts with ``bootstrap``, too.
    reweigh : function, optional
        Takes how often each row was drawn and returns weights for this tree.
    keep_bag : bool
    random_state : None, int or Generator
    n_jobs : int, optional
    """
    from lookalike.kernels.cells import draw_times, grow_similarity, least_weight, make_tree
    from lookalike.kernels.growing import draw_rows, sample_rows

    n = len(cache)
    limits = limits or Limits()
    rules = limits.for_kernels(len(cache.columns))
    share = float(limits.min_weight_fraction_leaf)
    weights = np.ones(n) if weight is None else np.asarray(weight, np.float64)
    labels = np.zeros(n, np.int64) if label is None else np.asarray(label, np.int64)
    amounts = np.zeros(n) if target is None else np.asarray(target, np.float64)
    size = n if bootstrap and not both else count_share(max_samples, n, "max_samples")
    kinds = labels.astype(np.uint8)
    states = tree_states(random_state, n_trees)
    in_bag = np.zeros((n, n_trees), np.uint8) if keep_bag else None
    lazy = bool((cache.arrays.kinds == OUTSIDE).any())

    def draw(state: np.ndarray) -> np.ndarray:
        """Draw the rows of a tree; return how often each came."""
        times = np.zeros(n, np.int64)
        if both:
            drawn = np.empty(size, np.int64)
            if size < 2 or sample_rows(n, size, bootstrap, kinds, state, drawn) < 0:
                raise InvalidInput(
                    Param("max_samples", max_samples),
                    "samples that hold real and synthetic rows",
                    f"samples of {size} with one kind only",
                    ("Raise ", Param("max_samples")),
                )
            times += np.bincount(drawn, minlength=n)
        elif bootstrap:
            draw_times(state, n, times)
        elif size == n:
            times[:] = 1
        else:
            drawn, swaps = np.empty(size, np.int64), np.empty(size, np.int64)
            draw_rows(state, n, np.arange(n), drawn, swaps)
            times[drawn] = 1
        if not ((times > 0) & (weights > 0)).any():  # nearly all weights are 0
            times[:] = 1
        return times

    def one(t: int) -> CellTree:
        state = states[t : t + 1].copy()
        times = draw(state)
        if in_bag is not None:
            in_bag[:, t] = times > 0
        here = weights * times
        if reweigh is not None:
            here = here * reweigh(times)
        rows = np.flatnonzero(here > 0)
        targets = Targets(labels, amounts, here, times, n_classes)
        tree = make_tree(2 * len(rows), n_classes)
        if lazy:
            made = grow_lazily(cache, targets, rows, rules, share, state, PER_TREE, tree)
        else:
            floor, pool = least_weight(share, here, rows), np.arange(len(cache.columns))
            pause = max(1, PAUSE // max(1, rules.max_columns))
            made = grow_by_parts(
                len(rows),
                lambda stack: grow_similarity(
                    cache.arrays, targets, rows, rules, floor, pool, state, stack, pause, tree
                ),
            )
        return cut_off(tree, made)

    def some(part: slice) -> list[CellTree]:
        return [one(part.start + at.start) for at in blocks(part.stop - part.start, 1)]

    grown = run(some, [(part,) for part in blocks(n_trees, 4)], n_jobs, "growing trees")
    return Grown(join_cell_trees(cache, [tree for part in grown for tree in part]), in_bag)


def grow_unsupervised(
    columns: tuple[TreeColumn, ...],
    cells: tuple[Cells, ...],
    n_trees: int = 100,
    *,
    limits: Limits | None = None,
    max_samples: float | int = 0.8,
    bootstrap: bool = False,
    resample: bool = False,
    cache_pairs: int = CACHE_PAIRS,
    keep_bag: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Grown[SimilarityTrees]:
    """Grow similarity trees without labels: tell the rows from rows whose columns were shuffled.

    As many synthetic rows as there are rows are made by permuting every column by itself, which
    needs no arithmetic and so works for sets, texts and graphs. What separates the two is how
    columns hang together [1]_; each tree sees a share of all rows, real and synthetic [2]_.

    Parameters
    ----------
    columns, cells
        From ``fit_columns`` and ``encode_columns``.
    n_trees : int
    limits : Limits, optional
    max_samples : float or int
        Rows per tree out of the 2n.
    bootstrap : bool
        Draw them with replacement.
    resample : bool
        Make synthetic columns by drawing with replacement; False permutes them.
    cache_pairs : int
    keep_bag : bool
        Return which of the real rows each tree was grown on.
    random_state : None, int or Generator
    n_jobs : int, optional

    References
    ----------
    .. [1] T. Shi, S. Horvath (2006). Unsupervised learning with random forest predictors. Journal
       of Computational and Graphical Statistics 15(1). doi:10.1198/106186006X94072
    .. [2] M. Bicego, F. Cicalese, A. Mensi (2023). RatioRF: a novel measure for random forest
       clustering based on the Tversky's ratio model. IEEE Transactions on Knowledge and Data
       Engineering 35(1). doi:10.1109/TKDE.2021.3086147

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.trees.cells.columns import encode_columns, fit_columns
    >>> table = la.read_table({"tags": [{"a"}, {"a", "b"}, {"x"}, {"x", "y"}], "n": [1, 2, 8, 9]})
    >>> columns = fit_columns(table)
    >>> grown = grow_unsupervised(columns, encode_columns(columns, table), 5, random_state=0)
    >>> grown.forest.n_trees
    5
    """
    cache = CellCache.of(columns, cells, cache_pairs, n_jobs)
    n = len(cache)
    rng = make_generator(random_state)
    n_columns = 1 + max(column.column for column in columns)
    shuffled = [rng.integers(0, n, n) if resample else rng.permutation(n) for _ in range(n_columns)]
    rows = np.stack([np.concatenate([np.arange(n), shuffled[c.column]]) for c in columns])
    grown = grow_trees(
        cache.take(rows),
        np.repeat(np.array([1, 0]), n),
        n_classes=2,
        n_trees=n_trees,
        limits=limits,
        bootstrap=bootstrap,
        max_samples=max_samples,
        both=True,
        keep_bag=keep_bag,
        random_state=rng,
        n_jobs=n_jobs,
    )
    return Grown(grown.forest, None if grown.in_bag is None else grown.in_bag[:n])
