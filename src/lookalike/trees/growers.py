"""How a forest is grown: small objects that hold the options of one kind of forest each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lookalike._runtime.estimator import Estimator
from lookalike._runtime.random_state import RANDOM_STATE, make_generator
from lookalike.errors import InvalidInput, Param, TooFewRows, suggest
from lookalike.kernels import growing as kernels
from lookalike.kernels.growing import RankedTree, ThresholdTree
from lookalike.saving import fields
from lookalike.saving.encode import SaveMixin
from lookalike.table import Table
from lookalike.trees import growing
from lookalike.trees.cells.columns import CellCache, encode_columns, fit_columns
from lookalike.trees.cells.growing import CACHE_PAIRS, Goal, Sampling, TreeLimits, grow_trees
from lookalike.trees.cells.trees import SimilarityTrees
from lookalike.trees.thresholds.flat import Forest, flatten


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
        found = f"{int(np.sum(category))} of categories"
        hint = ("Use ", Param("synthetic", "permuted"), ", which shuffles columns of any kind")
        raise InvalidInput(Param("synthetic", "uniform"), "number columns only", found, hint)
    for j in range(d):
        x = values[:, j]
        if synthetic == "uniform":
            known = x[~np.isnan(x)]
            # A column without values stays missing in all synthetic rows.
            low, high = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
            u = rng.random(n)
            # Weighted ends: high - low may overflow.
            fake[:, j] = (1 - u) * low + u * high
        else:
            drawn = synthetic == "resampled"
            fake[:, j] = x[rng.integers(0, n, n)] if drawn else rng.permutation(x)
    return fake


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
            # Halved before adding, so that the sum cannot overflow. Where no number lies between
            # the two, the lower one stays the threshold.
            middle = low / 2 + high / 2
            low = np.where((low <= middle) & (middle < high), middle, low)
        threshold[at] = low
    return threshold


SHARE = fields.Real(0.0, 1.0, open_low=True)

# From the state of a tree, which it moves on: its rows, and the tree.
GrowOne = Callable[[np.ndarray], tuple[np.ndarray, ThresholdTree]]


class Grower(SaveMixin, Estimator, ABC, abstract=True):
    """Base of the objects that say how a forest is grown; an option of None is as published.

    Out-of-bag similarities were published with other settings than the rest, so what None means
    may depend on whether the rows of each tree are asked for.
    """

    FIELDS: ClassVar[fields.Fields] = {
        "n_estimators": fields.Maybe(fields.Integer(1)),
        "max_depth": fields.Maybe(fields.Integer(1)),
        "bootstrap": fields.Choice(None, True, False),
        "threshold": fields.Choice("observed", "midpoint"),
        "random_state": RANDOM_STATE,
        "max_samples": fields.Maybe(fields.Either(SHARE, fields.Integer(2))),
        "max_features": fields.Maybe(
            fields.Either(SHARE, fields.Integer(1), fields.Choice("sqrt", "all"))
        ),
    }

    PUBLISHED: ClassVar[dict[str, Any]] = {"n_estimators": 100}
    PUBLISHED_OUT_OF_BAG: ClassVar[dict[str, Any]] = {}

    # None only before ``resolved`` has filled in what was published.
    n_estimators: Any
    random_state: Any

    def with_shorthands(self, n_estimators: int | None, random_state: Any) -> Self:
        """Return a copy with the number of trees and the seed that were given elsewhere."""
        params = self.get_params(deep=False)
        # Two different values would leave one of them without effect.
        if None not in (n_estimators, own := self.n_estimators) and n_estimators != own:
            given, found = (Param("n_estimators", value) for value in (n_estimators, own))
            other = ("another in the forest: ", found)
            raise InvalidInput(given, "one n_estimators", other, "Give it once")
        params["n_estimators"] = own if n_estimators is None else n_estimators
        # Whatever seeds all parts of a measure seeds both; the seed nearest to the trees counts.
        if self.random_state is None:
            params["random_state"] = random_state
        return type(self)(**params)

    def resolved(self, out_of_bag: bool) -> Self:
        """Return a copy whose options are checked, and as published where they are None."""
        fields.check_params(self)
        # Out-of-bag similarities were published with settings of their own.
        usual = {**self.PUBLISHED, **(self.PUBLISHED_OUT_OF_BAG if out_of_bag else {})}
        given = self.get_params(deep=False)
        return type(self)(**{k: usual.get(k) if v is None else v for k, v in given.items()})


@dataclass(eq=False, repr=False)
class SyntheticGrower(Grower, abstract=True):
    """Base of the growers whose trees tell the rows of a table from synthetic ones."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "n_estimators": 100,
        "max_samples": 0.8,
        "max_features": 0.5,
        "bootstrap": False,
        "synthetic": "resampled",
    }
    PUBLISHED_OUT_OF_BAG: ClassVar[dict[str, Any]] = {
        "n_estimators": 1000,
        "max_samples": 1.0,
        "max_features": "sqrt",
        "bootstrap": True,
        "synthetic": "permuted",
    }

    n_estimators: Any = None
    _: KW_ONLY
    max_samples: Any = None
    max_features: Any = None
    bootstrap: Any = None
    synthetic: Any = None
    max_depth: int | None = None
    threshold: str = "observed"
    random_state: Any = None


class MatrixGrower(Grower, abstract=True):
    """Base of the growers that read a matrix; ``CellSimilarityForest`` reads a table."""

    def grow(
        self,
        values: np.ndarray,
        category: np.ndarray | None = None,
        *,
        out_of_bag: bool = False,
        n_jobs: int | None = None,
    ) -> growing.GrownForest[Forest]:
        """Grow the forest on a matrix: numbers or codes of categories, NaN where missing.

        Parameters
        ----------
        values : array of shape (n, d)
        category : bool array of length d, optional
            Which columns hold codes of categories.
        out_of_bag : bool
            Grow as published for out-of-bag similarities, and return the rows of each tree.
        n_jobs : int, optional
        """
        values = np.asarray(values, np.float64)
        n, d = values.shape
        which = np.zeros(d, np.uint8) if category is None else np.asarray(category, np.uint8)
        chosen = self.resolved(out_of_bag)
        rng = make_generator(chosen.random_state)
        grow_one = chosen._prepare(values, which, rng)
        states = growing.tree_states(rng, chosen.n_estimators)
        in_bag = np.zeros((n, len(states)), np.uint8) if out_of_bag else None

        def one(t: int) -> ThresholdTree:
            rows, tree = grow_one(states[t : t + 1])
            if in_bag is not None:
                in_bag[:, t] = growing.count_times(rows, n)
            return tree

        trees = growing.grow_each(one, len(states), n_jobs)
        feature, threshold, left, right = map(np.concatenate, zip(*trees, strict=True))
        offsets = np.cumsum([0, *(len(tree.feature) for tree in trees)])
        equal = np.where(feature >= 0, which[np.maximum(feature, 0)], 0)
        return growing.GrownForest(
            flatten(feature, threshold, left, right, offsets, d, equal=equal), in_bag
        )

    @abstractmethod
    def _prepare(
        self, values: np.ndarray, category: np.ndarray, rng: np.random.Generator
    ) -> GrowOne:
        """Return what grows a tree; no option is None but where None has a meaning of its own."""


@dataclass(eq=False, repr=False)
class SyntheticForest(SyntheticGrower, MatrixGrower):
    """Grow trees that tell the rows of a table from rows with independent columns.

    What the trees must know for that is how columns hang together, so their leaves gather rows that
    are alike [1]_. Numbers, ordered levels, flags and categories are tested; only the order of
    numbers matters, unless the synthetic rows are uniform.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100, and 1000 out of bag.
    max_samples : float or int, optional
        Rows per tree: a share in (0, 1] of the real and synthetic rows, or a number above 1. None:
        0.8; all of them out of bag.
    max_features : float, int, "sqrt" or "all", optional
        Columns tried per node. None: one half; the square root out of bag.
    feature_sampling : {"node", "tree"}
        Draw these columns at every node, or once per tree.
    bootstrap : bool, optional
        Draw the rows of a tree with replacement. None: only out of bag.
    synthetic : {"resampled", "permuted", "uniform"}, optional
        Synthetic columns: drawn from the column with replacement, permuted, or uniform between its
        smallest and largest values. None: resampled; permuted out of bag.
    max_depth : int, optional
        None: until leaves are pure.
    threshold : {"observed", "midpoint"}
        Cut at the largest value that goes left, or halfway to the next.
    random_state : None, int, RandomState or Generator

    References
    ----------
    .. [1] T. Shi, S. Horvath (2006). Unsupervised learning with random forest predictors. Journal
       of Computational and Graphical Statistics 15(1). doi:10.1198/106186006X94072

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.trees import SyntheticForest
    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> SyntheticForest(5, max_depth=3, random_state=0).grow(rows).forest.n_trees
    5
    """

    FIELDS: ClassVar[fields.Fields] = {
        "feature_sampling": fields.Choice("node", "tree"),
        "synthetic": fields.Choice(None, "resampled", "permuted", "uniform"),
    }
    _: KW_ONLY
    feature_sampling: str = "node"

    def _prepare(
        self, values: np.ndarray, category: np.ndarray, rng: np.random.Generator
    ) -> GrowOne:
        """Grow by Gini impurity: real rows against synthetic ones.

        Of equal gains the first column in the order drawn is taken, then the smallest threshold.
        Rows whose value is missing take no part in the search for a cut on that column and join the
        larger side.
        """
        n, d = values.shape
        fake = add_synthetic(values, self.synthetic, category=category, random_state=rng)
        # Only the order of values matters to Gini impurity: kernels sort and compare ranks.
        levels, codes = [], np.full((d, 2 * n), -1, np.int32)
        for j, x in enumerate(np.concatenate([values, fake]).T):
            known = ~np.isnan(x)
            level, codes[j, known] = np.unique(x[known], return_inverse=True)
            levels.append(level)
        tried = growing.count_features(self.max_features, d)
        # Real rows come first, as many synthetic ones behind them.
        labels = np.repeat(np.array([1, 0], np.uint8), n)
        limit = self.max_depth or growing.MAX_DEPTH

        def one(state: np.ndarray) -> tuple[np.ndarray, ThresholdTree]:
            rows = growing.draw_both(labels, self.max_samples, self.bootstrap, state)
            size = len(rows)
            pool = np.arange(d)
            if self.feature_sampling == "tree":
                # From the state of the tree, so that it is the same for every number of threads.
                pool = np.random.default_rng(int(state[0])).permutation(d)[:tried]
            tree = RankedTree(*np.full((5, 2 * size), -1, np.int32))
            scratch = (*np.empty((2, size), np.int64), np.empty(256, np.int64))
            drawn = min(tried, len(pool))
            facts = codes, category, labels, rows, pool, drawn, limit, state
            pause = max(1, growing.ROWS_BEFORE_PAUSE // drawn)
            grown = growing.grow_by_parts(
                size, tree, lambda stack: kernels.grow_gini(*facts, stack, pause, scratch, tree)
            )
            thresholds = _thresholds(levels, grown, category, self.threshold)
            return rows, ThresholdTree(grown.feature, thresholds, grown.left, grown.right)

        return one


@dataclass(eq=False, repr=False)
class ExtraForest(MatrixGrower):
    """Grow trees by cutting random columns at random places (extremely randomized trees).

    No labels and no search, so it is fast; the scale of the columns matters, as a cut is uniform
    between the smallest and the largest value in a node. A category column is cut into one of its
    categories and the rest.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100.
    max_samples : float or int, optional
        Rows per tree, without replacement: a share in (0, 1] or a number above 1. None: 0.8.
    max_depth : int, optional
        None: the base-2 logarithm of the rows per tree, rounded up.
    random_state : None, int, RandomState or Generator

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.trees import ExtraForest
    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> ExtraForest(5, max_depth=3, random_state=0).grow(rows).forest.nodes.depth.max()
    np.int32(3)
    """

    PUBLISHED: ClassVar[dict[str, Any]] = {"n_estimators": 100, "max_samples": 0.8}

    n_estimators: Any = None
    _: KW_ONLY
    max_samples: Any = None
    max_depth: int | None = None
    random_state: Any = None

    def _prepare(
        self, values: np.ndarray, category: np.ndarray, rng: np.random.Generator
    ) -> GrowOne:

        n, d = values.shape
        size = growing.count_share(self.max_samples, n)
        limit = self.max_depth or math.ceil(math.log2(max(2, size)))
        columns = np.ascontiguousarray(values.T)

        def one(state: np.ndarray) -> tuple[np.ndarray, ThresholdTree]:
            rows = np.empty(size, np.int64)
            kernels.sample_rows(n, False, state, rows)
            # Leaves hold at least a row each, so no tree has more than 2 * size - 1 nodes.
            feature, left, right = np.full((3, 2 * size), -1, np.int32)
            tree = ThresholdTree(feature, np.zeros(2 * size), left, right)
            facts = columns, category, rows, limit, np.arange(d), np.empty(size), state
            return rows, growing.grow_by_parts(
                size, tree, lambda stack: kernels.grow_random(*facts, stack, tree)
            )

        return one


class IsolatingForest(ExtraForest):
    """Grow isolation trees: random cuts on small samples, which keeps them low and fast [1]_.

    The forest that mass-based similarities were published with; ``ExtraForest`` on samples of 256
    rows. Unlike ``sklearn.ensemble.IsolationForest`` it judges no outliers.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100.
    max_samples : float or int, optional
        Rows per tree, without replacement: a share in (0, 1] or a number above 1. None: 256.
    max_depth : int, optional
        None: the base-2 logarithm of the rows per tree, rounded up.
    random_state : None, int, RandomState or Generator

    References
    ----------
    .. [1] F. T. Liu, K. M. Ting, Z.-H. Zhou (2008). Isolation forest. IEEE International
       Conference on Data Mining. doi:10.1109/ICDM.2008.17

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.trees import IsolatingForest
    >>> rows = np.random.default_rng(0).normal(size=(1000, 3))
    >>> IsolatingForest(5, random_state=0).grow(rows).forest.nodes.depth.max()
    np.int32(8)
    """

    PUBLISHED: ClassVar[dict[str, Any]] = {"n_estimators": 100, "max_samples": 256}


@dataclass(eq=False, repr=False)
class CellSimilarityForest(SyntheticGrower):
    """Grow trees on columns of any kind: sets, texts, sequences, series, graphs.

    A test asks whether a cell is nearer to one cell of the column or to another (a random
    similarity forest [1]_). Without labels the trees tell the rows of the table from rows whose
    columns were shuffled.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100, and 1000 out of bag.
    max_samples : float or int, optional
        Rows per tree: a share in (0, 1] of the real and synthetic rows, or a number above 1. None:
        0.8; all of them out of bag.
    max_features : float, int, "sqrt" or "all", optional
        Columns tried per node. None: one half; the square root out of bag.
    bootstrap : bool, optional
        Draw the rows of a tree with replacement. None: only out of bag.
    synthetic : {"resampled", "permuted"}, optional
        Synthetic columns: drawn from the column with replacement, or permuted. None: permuted.
    max_depth : int, optional
        None: until leaves are pure.
    threshold : {"observed", "midpoint"}
        Cut at the largest projection that goes left, or halfway to the next.
    distances : mapping of column name to distance, optional
        How the cells of a column are compared, where the default is not wanted: a name ("jaccard",
        "levenshtein", "dtw", ...), a function of two cells, or whatever else
        ``RandomSimilarityForestClassifier`` takes.
    numeric : {"projection", "value"}
        Whether numbers are compared with two others like every other cell, or tested as they are,
        which makes trees of numbers those of ``SyntheticForest``.
    random_state : None, int, RandomState or Generator

    References
    ----------
    .. [1] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests. European
       Conference on Machine Learning and Knowledge Discovery in Databases.
       doi:10.48550/arXiv.2204.05389

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.trees import CellSimilarityForest
    >>> table = la.read_table({"tags": [{"a"}, {"a", "b"}, {"x"}, {"x", "y"}], "n": [1, 2, 8, 9]})
    >>> CellSimilarityForest(5, distances={"tags": "jaccard"}).grow(table).forest.n_trees
    5
    """

    FIELDS: ClassVar[fields.Fields] = {
        "synthetic": fields.Choice(None, "resampled", "permuted"),
        "distances": fields.Maybe(
            fields.Instance(Mapping, named="a mapping of column to distance")
        ),
        "numeric": fields.Choice("projection", "value"),
    }
    PUBLISHED: ClassVar[dict[str, Any]] = SyntheticGrower.PUBLISHED | {"synthetic": "permuted"}

    _: KW_ONLY
    distances: Mapping[str, Any] | None = None
    numeric: str = "projection"

    def grow(
        self, table: Table, *, out_of_bag: bool = False, n_jobs: int | None = None
    ) -> growing.GrownForest[SimilarityTrees]:
        """Grow the trees on a table.

        Parameters
        ----------
        table : Table
        out_of_bag : bool
            Grow as published for out-of-bag similarities, and return the rows of each tree.
        n_jobs : int, optional
        """
        chosen = self.resolved(out_of_bag)
        who = type(self).__name__
        if len(table) < 2:
            raise TooFewRows(who, "at least 2 rows", Param("n_samples", len(table)), "Add rows")
        columns = fit_columns(table, chosen.distances, numeric=chosen.numeric, who=who)
        cells = encode_columns(columns, table, fitted=True)
        n, rng = len(table), make_generator(chosen.random_state)
        # Synthetic rows: shuffled columns, which needs no arithmetic and so works for sets, texts
        # and graphs. All distances of a column see the same shuffled rows.
        permuted, d = chosen.synthetic == "permuted", 1 + max(c.column for c in columns)
        shuffled = [rng.permutation(n) if permuted else rng.integers(0, n, n) for _ in range(d)]
        rows = np.stack([np.concatenate([np.arange(n), shuffled[c.column]]) for c in columns])
        limits = TreeLimits(
            growing.count_features(chosen.max_features, len(columns)),
            max_depth=chosen.max_depth,
            midpoint=chosen.threshold == "midpoint",
        )
        grown = grow_trees(
            CellCache.of(columns, cells, CACHE_PAIRS, n_jobs).take(rows),
            Goal(np.repeat(np.array([1, 0]), n), n_classes=2),
            chosen.n_estimators,
            limits=limits,
            sampling=Sampling(chosen.bootstrap, chosen.max_samples, both=True),
            keep_bag=out_of_bag,
            random_state=rng,
            n_jobs=n_jobs,
        )
        bag = grown.in_bag
        return growing.GrownForest(grown.forest, None if bag is None else bag[:n])


GROWERS: dict[str, type[Grower]] = {
    "synthetic": SyntheticForest,
    "extra": ExtraForest,
    "isolation": IsolatingForest,
    "similarity": CellSimilarityForest,
}


def find_grower(name: str) -> Grower:
    """Return the grower of a name, with every option as published.

    Examples
    --------
    >>> find_grower("extra")
    ExtraForest()
    """
    if name not in GROWERS:
        needed = "one of " + ", ".join(map(repr, GROWERS)) + ", a grower or a fitted forest"
        raise InvalidInput(Param("forest", name), needed, repr(name), suggest(name, GROWERS))
    return GROWERS[name]()
