"""Growing forests of similarity trees: with labels, with a target, or with nothing but the rows."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._random import make_generator
from lookalike._threads import blocks, run
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, message
from lookalike.forests.seeds import tree_states
from lookalike.forests.cell_trees import SimilarityTrees
from lookalike.forests.cell_columns import Cellar, TreeColumn
from lookalike.forests.cell_growing_lazy import grow_objects
from lookalike.forests.synthetic import count_share
from lookalike.kernels.cell_split import OUTSIDE, TABLE

__all__ = [
    "CACHE_PAIRS",
    "GrownTrees",
    "Limits",
    "grow_isolation_trees",
    "grow_trees",
    "grow_unsupervised",
    "prune_trees",
]

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

    def packed(self, n_columns: int) -> np.ndarray:
        """Return the whole numbers that kernels read."""
        share = self.max_features
        whole = isinstance(share, numbers.Integral)
        tried = int(share) if whole else int(share * n_columns)
        return np.array(
            [
                min(max(1, tried), n_columns),
                self.max_pairs,
                DEEPEST if self.max_depth is None else self.max_depth,
                self.min_samples_split,
                self.min_samples_leaf,
                CRITERIA[self.criterion],
                self.by_class,
                self.balanced,
                self.midpoint,
            ],
            np.int64,
        )


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """Trees fresh from their grower.

    Parameters
    ----------
    trees : SimilarityTrees
    in_bag : uint8 array of shape (rows, trees) or None
        1 where a tree was grown on the row; None if nobody asked for it.
    """

    trees: SimilarityTrees
    in_bag: np.ndarray | None = None


def grow_trees(
    cellar: Cellar,
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
) -> GrownTrees:
    """Grow trees that tell labels apart, or predict a target.

    Parameters
    ----------
    cellar : Cellar
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
    from lookalike.kernels.draw import draw_rows
    from lookalike.kernels.grow import sample_rows
    from lookalike.kernels.cell_grow import draw_times, grow_similarity

    n = len(cellar)
    limits = limits or Limits()
    packed = limits.packed(len(cellar.columns))
    share = float(limits.min_weight_fraction_leaf)
    weights = np.ones(n) if weight is None else np.asarray(weight, np.float64)
    labels = np.zeros(n, np.int64) if label is None else np.asarray(label, np.int64)
    targets = np.zeros(n) if target is None else np.asarray(target, np.float64)
    size = n if bootstrap and not both else count_share(max_samples, n, "max_samples")
    kinds = labels.astype(np.uint8)
    states = tree_states(random_state, n_trees)
    in_bag = np.zeros((n, n_trees), np.uint8) if keep_bag else None
    outside = bool((cellar.kinds == OUTSIDE).any())

    def one(t: int) -> tuple[np.ndarray, ...]:
        state = states[t : t + 1].copy()
        times = np.zeros(n, np.int64)
        if both:
            drawn = np.empty(size, np.int64)
            if size < 2 or sample_rows(n, size, bootstrap, kinds, state, drawn) < 0:
                raise InvalidInput(
                    message(
                        f"max_samples={max_samples!r}",
                        "samples that hold real and synthetic rows",
                        f"samples of {size} with one kind only",
                        "Raise max_samples",
                    )
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
        if in_bag is not None:
            in_bag[:, t] = times > 0
        here = weights * times
        if reweigh is not None:
            here = here * reweigh(times)
        rows = np.flatnonzero(here > 0)
        most = 2 * len(rows)
        node: tuple[np.ndarray, ...] = (
            *(np.empty(most, np.int32) for _ in range(3)),
            np.empty(most),
            *(np.empty(most, np.int32) for _ in range(2)),
            np.empty(most, np.uint8),
            np.empty(most, np.int64),
            np.empty(most),
            np.empty(most),
            np.empty((most, n_classes)),
        )
        if outside:
            made = grow_objects(
                cellar,
                labels,
                targets,
                here,
                times,
                rows,
                n_classes,
                packed,
                share,
                state,
                PER_TREE,
                node,
            )
        else:
            made = grow_similarity(
                cellar.kinds, cellar.values, cellar.ranks, cellar.flat, cellar.base, cellar.width,
                labels, targets, here, times, rows, n_classes, packed, share, state, *node,
            )  # fmt: skip
        return tuple(part[:made].copy() for part in node)

    def some(part: slice) -> list[tuple[np.ndarray, ...]]:
        return [one(t) for t in range(part.start, part.stop)]

    grown = run(some, [(part,) for part in blocks(n_trees, 4)], n_jobs, "growing trees")
    return GrownTrees(_join(cellar, [tree for part in grown for tree in part]), in_bag)


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
) -> GrownTrees:
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
    >>> from lookalike.forests.cell_columns import encode_columns, fit_columns
    >>> table = la.read_table({"tags": [{"a"}, {"a", "b"}, {"x"}, {"x", "y"}], "n": [1, 2, 8, 9]})
    >>> columns = fit_columns(table)
    >>> grown = grow_unsupervised(columns, encode_columns(columns, table), 5, random_state=0)
    >>> grown.trees.n_trees
    5
    """
    cellar = Cellar.of(columns, cells, cache_pairs, n_jobs)
    n = len(cellar)
    rng = make_generator(random_state)
    n_columns = 1 + max(column.column for column in columns)
    shuffled = [rng.integers(0, n, n) if resample else rng.permutation(n) for _ in range(n_columns)]
    rows = np.stack([np.concatenate([np.arange(n), shuffled[c.column]]) for c in columns])
    grown = grow_trees(
        cellar.take(rows),
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
    return GrownTrees(grown.trees, None if grown.in_bag is None else grown.in_bag[:n])


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
    from lookalike.kernels.draw import draw_rows
    from lookalike.kernels.cell_isolate import isolate

    n = len(cells[0])
    # All pairs at once, where that is less work than the pairs of every sample.
    whole = n * n <= 2 * n_trees * n_samples**2
    cellar = Cellar.of(columns, cells, CACHE_PAIRS if whole else 0, n_jobs)
    states = tree_states(random_state, n_trees)
    depth = int(np.ceil(np.log2(max(2, n_samples))))
    objects = [f for f, column in enumerate(columns) if column.is_object]
    if len(objects) * n_samples**2 > CACHE_PAIRS:
        raise InvalidInput(
            message(
                f"max_samples={n_samples}",
                f"at most {CACHE_PAIRS:,} distances per tree",
                f"{len(objects)} columns of objects with {n_samples**2:,} each",
                "Lower max_samples; isolation needs small samples",
            )
        )

    def one(t: int) -> tuple[np.ndarray, ...]:
        state = states[t : t + 1].copy()
        drawn, swaps = np.empty(n_samples, np.int64), np.empty(n_samples, np.int64)
        draw_rows(state, n, np.arange(n), drawn, swaps)
        kinds = np.array([column.kind for column in columns], np.int64)
        values = cellar.values[:, drawn]
        base, width = np.zeros(len(columns), np.int64), np.full(len(columns), n_samples)
        flat = np.empty(max(1, len(objects) * n_samples**2))
        for k, f in enumerate(objects):
            base[f] = k * n_samples**2
            flat[base[f] : base[f] + n_samples**2] = cellar.block(f, drawn).ravel()
            values[f] = np.where(np.isnan(values[f]), np.nan, np.arange(n_samples))
        most = 2 * n_samples
        node: list[np.ndarray] = [np.empty(most, np.int32) for _ in range(3)]
        node += [np.empty(most), np.empty(most, np.int32), np.empty(most, np.int32)]
        node += [np.empty(most, np.uint8), np.empty(most, np.int64)]
        made = isolate(
            kinds, values, flat, base, width, np.arange(n_samples), depth, far, state, *node
        )
        parts = [part[:made].copy() for part in node]
        for place in (1, 2):  # rows of the sample become rows of the table
            parts[place] = np.where(parts[place] >= 0, drawn[parts[place]], -1).astype(np.int32)
        empty = np.zeros(made)
        return (*parts, empty, empty, np.zeros((made, 1)))

    def some(part: slice) -> list[tuple[np.ndarray, ...]]:
        return [one(t) for t in range(part.start, part.stop)]

    grown = run(some, [(part,) for part in blocks(n_trees, 4)], n_jobs, "growing trees")
    return _join(cellar, [tree for part in grown for tree in part])


def _join(cellar: Cellar, trees: list[tuple[np.ndarray, ...]]) -> SimilarityTrees:
    """Put trees one after another and keep the cells that their tests compare with."""
    joined = [np.concatenate(part) for part in zip(*trees, strict=True)]
    feature, first, second, threshold, _, right, default, entries, weights, impurities, value = (
        joined
    )
    offsets = np.concatenate([[0], np.cumsum([len(tree[0]) for tree in trees])]).astype(np.int64)
    kept: list[Any] = []
    places = [np.full(len(feature), -1, np.int32) for _ in range(2)]
    for f in range(len(cellar.columns)):
        here = (feature == f) & (first >= 0)
        ends = [cellar.same[f][cellar.source[f, rows[here]]] for rows in (first, second)]
        used, at = np.unique(np.concatenate(ends), return_inverse=True)
        half = int(here.sum())
        places[0][here], places[1][here] = at[:half], at[half:]
        cells = cellar.cells[f][used]
        kept.append(cells if cellar.columns[f].kind >= TABLE else np.asarray(cells, np.float64))
    return SimilarityTrees(
        cellar.columns,
        tuple(kept),
        feature,
        places[0],
        places[1],
        threshold,
        right,
        default,
        offsets,
        entries,
        weights,
        impurities,
        value,
    )


def prune_trees(trees: SimilarityTrees, alpha: float) -> SimilarityTrees:
    """Cut back every subtree whose loss of impurity per leaf is at most alpha, weakest first [1]_.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and regression trees.
       Chapter 3. doi:10.1201/9781315139470
    """
    from lookalike.kernels.cell_walk import prune

    feature = trees.feature.copy()
    offsets = trees.offsets
    for t in range(trees.n_trees):
        part = slice(offsets[t], offsets[t + 1])
        prune(feature[part], trees.right[part], trees.weights[part], trees.impurities[part], alpha)
    keep = np.zeros(len(feature), bool)
    keep[offsets[:-1]] = True
    start = np.repeat(offsets[:-1], np.diff(offsets))
    for v in range(len(feature)):  # preorder: parents come first
        if keep[v] and feature[v] >= 0:
            keep[v + 1] = keep[start[v] + trees.right[v]] = True
    ends = np.concatenate([[0], np.cumsum(keep)])
    new_offsets = ends[offsets].astype(np.int64)
    moved = ends[start + np.maximum(trees.right, 0)] - ends[start]
    right = np.where(feature >= 0, moved, -1).astype(np.int32)
    inner = feature >= 0
    return SimilarityTrees(
        trees.columns,
        trees.kept,
        feature[keep],
        np.where(inner, trees.first, -1)[keep].astype(np.int32),
        np.where(inner, trees.second, -1)[keep].astype(np.int32),
        np.where(inner, trees.threshold, 0.0)[keep],
        right[keep],
        trees.default[keep],
        new_offsets,
        trees.entries[keep],
        trees.weights[keep],
        trees.impurities[keep],
        trees.value[keep],
    )
