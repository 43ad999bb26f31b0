"""Forests that learn a table's structure by telling its rows from rows with shuffled columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput, Param
from lookalike.kernels.growing import RankedTree, ThresholdTree
from lookalike.trees.by_parts import PAUSE, grow_by_parts
from lookalike.trees.grown import Grown
from lookalike.trees.sampling import count_features, count_share
from lookalike.trees.seeds import tree_states
from lookalike.trees.thresholds.flat import Forest, join_trees

DEEPEST = 2**31 - 1


def add_synthetic(
    values: np.ndarray,
    synthetic: str = "resampled",
    *,
    category: np.ndarray | None = None,
    random_state: Any = None,
) -> np.ndarray:
    """Make as many synthetic rows as there are rows, with the columns independent of each other.

    Parameters
    ----------
    values : array of shape (n, d)
    synthetic : {"resampled", "permuted", "uniform"}
        Each column drawn from itself with replacement, or permuted (both are known as addcl1), or
        uniform between its smallest and largest values (addcl2), which needs numbers.
    category : bool array, optional
        Which columns hold codes of categories.
    random_state : None, int or Generator

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    >>> fake = add_synthetic(values, "permuted", random_state=0)
    >>> bool((np.sort(fake, axis=0) == values).all())
    True
    """
    rng = make_generator(random_state)
    values = np.asarray(values, np.float64)
    n, d = values.shape
    fake = np.empty((n, d))
    if synthetic == "uniform" and category is not None and np.any(category):
        raise InvalidInput(
            Param("synthetic", "uniform"),
            "number columns only",
            f"{int(np.sum(category))} of categories",
            ("Use ", Param("synthetic", "permuted"), ", which shuffles columns of any kind"),
        )
    for j in range(d):
        x = values[:, j]
        if synthetic == "uniform":
            known = x[~np.isnan(x)]
            low, high = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
            u = rng.random(n)
            fake[:, j] = (1 - u) * low + u * high
        else:
            drawn = synthetic == "resampled"
            fake[:, j] = x[rng.integers(0, n, n)] if drawn else rng.permutation(x)
    return fake


def grow_synthetic(
    values: np.ndarray,
    category: np.ndarray | None = None,
    n_trees: int = 100,
    *,
    synthetic: str = "resampled",
    max_samples: float | int = 0.8,
    bootstrap: bool = False,
    max_features: float | int | str | None = 0.5,
    feature_sampling: str = "node",
    threshold: str = "observed",
    max_depth: int | None = None,
    keep_bag: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Grown[Forest]:
    """Grow trees that tell the rows of a table from synthetic rows with independent columns.

    What the trees need to know for that is how columns hang together, so their leaves gather rows
    that are alike [1]_ [2]_. Splits are the best by Gini impurity; equal gains: the first column in
    the order drawn, the smallest threshold. Category columns are tested one category against the
    rest. Rows whose value is missing take no part in the search for a cut on that column and join
    the larger side.

    Parameters
    ----------
    values : array of shape (n, d)
        Numbers, or codes of categories; NaN where missing.
    category : bool array of length d, optional
        Which columns hold codes of categories.
    n_trees : int
    synthetic : {"resampled", "permuted", "uniform"}
        See ``add_synthetic``; one synthetic set serves all trees.
    max_samples : float or int
        Rows per tree out of the 2n: a share in (0, 1] or a number above 1.
    bootstrap : bool
        Draw them with replacement.
    max_features : float, int, "sqrt" or None
        Columns tried per node: a share in (0, 1], a number, the root of their number, or all.
    feature_sampling : {"node", "tree"}
        Draw the columns at every node, or once for a tree.
    threshold : {"observed", "midpoint"}
        The largest value that goes left, which any increasing change of scale leaves in place, or
        halfway to the next.
    max_depth : int, optional
    keep_bag : bool
        Return which rows each tree was grown on.
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
    >>> import numpy as np
    >>> values = np.random.default_rng(0).normal(size=(200, 4))
    >>> grow_synthetic(values, n_trees=5, random_state=0).forest.n_trees
    5
    """
    from lookalike.kernels.growing import grow_gini, sample_rows

    values = np.asarray(values, np.float64)
    n, d = values.shape
    which = np.zeros(d, np.uint8) if category is None else np.asarray(category, np.uint8)
    rng = make_generator(random_state)
    fake = add_synthetic(values, synthetic, category=which, random_state=rng)
    levels, codes = _rank(np.concatenate([values, fake]))
    labels = np.repeat(np.array([1, 0], np.uint8), n)
    size = count_share(max_samples, 2 * n, "max_samples")
    if size < 2:
        raise InvalidInput(
            Param("max_samples", max_samples),
            "at least two rows per tree",
            str(size),
            ("Raise ", Param("max_samples")),
        )
    tried = count_features(max_features, d)
    states = tree_states(rng, n_trees)
    in_bag = np.zeros((n, n_trees), np.uint8) if keep_bag else None

    def one(t: int) -> ThresholdTree:
        state = states[t : t + 1]
        rows = np.empty(size, np.int64)
        if sample_rows(2 * n, size, bootstrap, labels, state, rows) < 0:
            raise InvalidInput(
                Param("max_samples", max_samples),
                "samples that hold real and synthetic rows",
                "1000 samples of one kind only",
                ("Raise ", Param("max_samples")),
            )
        if in_bag is not None:
            in_bag[rows[rows < n], t] = 1
        pool = np.arange(d)
        if feature_sampling == "tree":
            pool = np.random.default_rng(int(state[0])).permutation(d)[:tried]
        tree = RankedTree(*(np.empty(2 * size, np.int32) for _ in RankedTree._fields))
        limit = DEEPEST if max_depth is None else max_depth
        drawn = min(tried, len(pool))
        pause = max(1, PAUSE // drawn)
        made = grow_by_parts(
            size,
            lambda stack: grow_gini(
                codes, which, labels, rows, pool, drawn, limit, state, stack, pause, tree
            ),
        )
        tree = RankedTree(*(part[:made].copy() for part in tree))
        thresholds = _thresholds(levels, tree, which, threshold)
        return ThresholdTree(tree.feature, thresholds, tree.left, tree.right)

    def some(part: slice) -> list[ThresholdTree]:
        return [one(part.start + at.start) for at in blocks(part.stop - part.start, 1)]

    grown = run(some, [(part,) for part in blocks(n_trees, 4)], n_jobs, "growing trees")
    return Grown(join_trees([tree for part in grown for tree in part], which), in_bag)


def _rank(pooled: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the different values of each column, and every value as its place among them."""
    codes = np.full(pooled.shape[::-1], -1, np.int32)
    levels = []
    for j, x in enumerate(pooled.T):
        known = ~np.isnan(x)
        level, code = np.unique(x[known], return_inverse=True)
        levels.append(level)
        codes[j, known] = code
    return levels, codes


def _thresholds(
    levels: list[np.ndarray], tree: RankedTree, category: np.ndarray, kind: str
) -> np.ndarray:
    """Return the values at which the nodes of a tree of codes cut."""
    threshold = np.zeros(len(tree.feature))
    for j in np.unique(tree.feature[tree.feature >= 0]):
        at = tree.feature == j
        low = levels[j][tree.cut[at]]
        if kind == "midpoint" and not category[j]:
            high = levels[j][tree.above[at]]
            middle = low / 2 + high / 2
            low = np.where((low <= middle) & (middle < high), middle, low)
        threshold[at] = low
    return threshold
