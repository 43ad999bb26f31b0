"""Random similarity forests: every column of a table brings its own distance."""

from __future__ import annotations

import dataclasses
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.metrics import r2_score
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.measures.task import TableTask
from lookalike.prediction import mixins
from lookalike.saving import fields
from lookalike.table import Schema, Table, as_table, read_table
from lookalike.table.model.names import remember_columns
from lookalike.table.model.targets import check_sample_weight, require_target, split_target
from lookalike.trees.cells import columns as tree_columns
from lookalike.trees.cells.growing import CACHE_PAIRS, Goal, Sampling, TreeLimits, grow_trees
from lookalike.trees.cells.trees import SimilarityTrees, prune_trees


class TreeForest(TableTask, abstract=True):
    """Base of the forests of similarity trees: reading and encoding tables, leaves and paths."""

    FIELDS: ClassVar[fields.Fields] = {
        "n_estimators": fields.Integer(1),
        "distances": fields.Maybe(
            fields.Instance(Mapping, named="a mapping of column to distance")
        ),
        "projection": fields.Choice("distance", "squared"),
        "numeric": fields.Choice("projection", "value"),
        "schema_": fields.Saved("Schema"),
        "trees_": fields.Saved("SimilarityTrees"),
    }

    n_estimators: int
    distances: Mapping[str, Any] | None = None
    projection: Any
    numeric: str
    trees_: SimilarityTrees
    schema_: Schema

    # -- reading -----------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any = None) -> tuple[Table, np.ndarray | None]:
        """Check parameters, read the table, take out the target."""
        self._check_params()
        who = type(self).__name__
        table, target = split_target(self._read_table(X), y, who)
        if not table.columns:
            aside = Param("kinds"), " if they were set aside"
            hint = Phrase("Give columns to learn from, or name them in ", *aside)
            raise InvalidInput(f"{who}.fit", "a column to compare", "none", hint)
        # New rows are read by the kinds of the fitted ones, never guessed again.
        self.schema_ = table.schema
        remember_columns(self, X, table)
        return table, target

    def _read_table(self, X: Any) -> Table:
        named = tree_columns.named_columns(self.distances or ())
        return read_table(X, kinds=self.kinds).compare_also(named)

    def _fit_columns(
        self, table: Table
    ) -> tuple[tuple[tree_columns.TreeColumn, ...], tuple[Cells, ...]]:
        """Choose the distances, and encode the fitted rows."""
        options = {"projection": self.projection, "numeric": self.numeric}
        columns = tree_columns.fit_columns(
            table, self.distances, who=type(self).__name__, **options
        )
        return columns, tree_columns.encode_columns(columns, table, fitted=True)

    def _encode(self, X: Any) -> tuple[Cells, ...]:
        """Encode new rows."""
        check_is_fitted(self, "trees_")
        return self.trees_.encode(as_table(X, self.schema_, who=type(self).__name__))

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf in which each row ends, one column per tree.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        int32 array of shape (n, n_estimators)
            Node numbers, counted within each tree.
        """
        cells = self._encode(X)  # first: it checks that the model is fitted
        return self.trees_.leaves(cells, self.n_jobs)

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """Return the nodes that each row passes, as scikit-learn's forests do.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        indicator : sparse matrix of shape (n, nodes)
            1 where a row passes a node.
        n_nodes_ptr : array of n_estimators + 1
            Tree t has the columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]``.
        """
        # Paths follow from the leaves: the parents of a leaf are the nodes a row has passed.
        leaves = self.apply(X)
        nodes, ends = self.trees_.path(leaves)
        ones = np.ones(len(nodes), np.int64)
        shape = (len(leaves), len(self.trees_.feature))
        return csr_matrix((ones, nodes, ends), shape=shape), self.trees_.offsets

    # -- loading -----------------------------------------------------------------------------------

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that trees test columns of the table."""
        # Trees address columns by position: in a table of other columns they would test wrong
        # cells.
        names = list(self.schema_.kinds)
        who = type(self).__name__
        fields.require(self.n_features_in_ == len(names), f"{who}.n_features_in_", str(len(names)))
        self._check_columns(names)

    def _check_columns(self, names: list[str]) -> None:
        for column in self.trees_.columns:
            where = f"{type(self).__name__}.trees_"
            fields.require(column.fits(names), where, "columns of the table", column.name[:40])


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedForest(mixins.NamedTargetMixin, TreeForest, ABC, abstract=True):
    """Forests that are grown with a target."""

    FIELDS: ClassVar[fields.Fields] = {
        "max_features": fields.Either(fields.Real(0.0, 1.0, open_low=True), fields.Integer(1)),
        "max_pairs": fields.Integer(1),
        "max_depth": fields.Maybe(fields.Integer(1)),
        "min_samples_split": fields.Integer(2),
        "min_samples_leaf": fields.Integer(1),
        "min_weight_fraction_leaf": fields.Real(0.0, 0.5),
        "bootstrap": fields.Flag(),
        "oob_score": fields.Flag(),
        "ccp_alpha": fields.Real(0.0),
        "splitter": fields.Choice("best", "random"),
        "cache_pairs": fields.Integer(0, fields.INT64),
        "in_bag_": fields.Maybe(fields.Array("uint8", "rows", "trees")),
        "feature_importances_": fields.Sometimes(fields.Array("float64", "columns")),
        "oob_score_": fields.Sometimes(fields.Real(nan=True)),
    }

    REQUIRES_TARGET = True
    BY_COLUMN: ClassVar[bool] = True  # whether a test is about one column
    TREE_OPTIONS: ClassVar[dict[str, Any]] = {}  # of ``TreeLimits``, where they are not parameters

    max_pairs: int = 1
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    projection: Any = "distance"
    bootstrap: bool = True
    oob_score: bool = False
    ccp_alpha: float = 0.0
    splitter: str = "best"
    kinds: Mapping[str, Any] | None = None
    cache_pairs: int = CACHE_PAIRS
    random_state: Any = None
    n_jobs: int | None = None

    # -- what classifier and regressor write -------------------------------------------------------

    @abstractmethod
    def _read_goal(self, target: np.ndarray, weight: np.ndarray) -> Goal:
        """Return what the trees are to learn, given the weights of the rows."""

    @abstractmethod
    def _score_out_of_bag(self, leaves: np.ndarray, unseen: np.ndarray, goal: Goal) -> None:
        """Score the forest by the trees that have not seen a row."""

    # -- growing -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column
            At least two classes, or numbers; no missing values. A named column is taken out of the
            table.
        sample_weight : array of n, optional
            How much each row counts in impurities, votes and means; rows of weight 0 take no part.
        """
        who = type(self).__name__
        table, target = self._read(X, require_target(y, who))
        self._remember_target(X, table, y)
        weight = check_sample_weight(sample_weight, len(table), who)
        goal = self._read_goal(np.asarray(target), weight)
        if self.oob_score and not self.bootstrap:
            needed = Param("bootstrap", True), ", as only then are rows left out of a tree"
            given, found = Param("oob_score", True, of=who), Param("bootstrap", False)
            raise InvalidInput(given, needed, found, "Leave one of them out")
        columns, cells = self._fit_columns(table)
        # The limits are parameters of the same names; a forest fixes those that it does not have.
        params = self.get_params(deep=False) | self.TREE_OPTIONS
        limits = {field.name for field in dataclasses.fields(TreeLimits)} & params.keys()
        grown = grow_trees(
            tree_columns.CellCache.of(columns, cells, self.cache_pairs, self.n_jobs),
            goal,
            self.n_estimators,
            limits=TreeLimits(**{name: params[name] for name in limits}),
            sampling=Sampling(bootstrap=self.bootstrap),
            keep_bag=self.oob_score,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        prune = self.ccp_alpha > 0
        self.trees_ = prune_trees(grown.forest, self.ccp_alpha) if prune else grown.forest
        self.in_bag_: np.ndarray | None = grown.in_bag
        # Scored after pruning: the out-of-bag score is that of the forest that predicts.
        if grown.in_bag is not None:
            unseen = grown.in_bag == 0
            if always := int((~unseen.any(axis=1)).sum()):
                drawn = Param("n_samples", always), " drawn for every tree, which cannot be scored"
                wanted, hint = "trees that were grown without the row", Param("n_estimators")
                warning = LookalikeWarning("out-of-bag score", wanted, drawn, ("Raise ", hint))
                warnings.warn(warning, stacklevel=2)
            self._score_out_of_bag(self.trees_.leaves(cells, self.n_jobs), unseen, goal)
        if self.BY_COLUMN:
            self.feature_importances_ = self.trees_.importances(self.n_features_in_)
        return self

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that a leaf votes for the known classes, or holds one number."""
        super().check_loaded(dims)
        # Votes index classes without a check.
        fits = self.trees_.value.shape[1] == dims.get("classes", 1)
        fields.require(fits, f"{type(self).__name__}.trees_", "votes for the target", "others")

    # -- votes -------------------------------------------------------------------------------------

    def _mean_votes(self, cells: tuple[Cells, ...], votes: np.ndarray) -> np.ndarray:
        """Return the mean over trees of the votes of the leaves of encoded rows."""
        return self.trees_.sum_votes(cells, votes, self.n_jobs) / self.trees_.n_trees

    def _mean_unseen(self, leaves: np.ndarray, votes: np.ndarray, use: np.ndarray) -> np.ndarray:
        """Return the mean over the trees to be used of the votes of their leaves."""
        # Tree by tree, in order: the sum does not depend on threads.
        total = np.zeros((len(leaves), votes.shape[1]))
        count = np.zeros(len(leaves))
        for t in range(leaves.shape[1]):
            vote = votes[self.trees_.offsets[t] + leaves[:, t]]
            total += vote * use[:, t, None]
            count += use[:, t]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / count[:, None])  # NaN where every tree has seen the row


@dataclass(eq=False, repr=False)
class ColumnForest(SupervisedForest, abstract=True):
    """Parameters of the forests whose tests are about one column."""

    n_estimators: int = 100
    distances: Mapping[str, Any] | None = None
    _: KW_ONLY
    max_features: float | int = 0.5
    numeric: str = "projection"


@dataclass(eq=False, repr=False, kw_only=True)
class ForestClassifier(mixins.TableClassifierMixin, SupervisedForest, abstract=True):
    """Base of the classifiers made of similarity trees."""

    FIELDS: ClassVar[fields.Fields] = {
        "criterion": fields.Choice("gini", "entropy"),
        "voting": fields.Choice("majority", "soft"),
        "class_weight": fields.Either(
            fields.Choice(None, "balanced"),
            fields.Instance(Mapping, named="a mapping of class to weight"),
        ),
        "classes_": mixins.classes_field("classes"),
        "oob_decision_function_": fields.Sometimes(fields.Array("float64", "rows", "classes")),
    }

    REGRESSOR = "RandomSimilarityForestRegressor"

    criterion: str = "gini"
    voting: str = "majority"
    class_weight: Any = None

    def _read_goal(self, target: np.ndarray, weight: np.ndarray) -> Goal:
        label = self._read_classes(target)
        if self.class_weight is not None:
            # Multiplied with the weights of rows, as in scikit-learn.
            weight = weight * self._class_weights(label)[label]
        return Goal(label=label, weight=weight, n_classes=len(self.classes_))

    def _class_weights(self, label: np.ndarray) -> np.ndarray:
        given = self.class_weight
        if given == "balanced":
            classes = np.arange(len(self.classes_))
            return np.asarray(compute_class_weight("balanced", classes=classes, y=label))
        known = list(self.classes_)
        for name in given:
            if name not in known:
                hint = Phrase("Name classes as they are in ", Param("y"))
                who, found = Param("class_weight", of=type(self).__name__), f"a weight for {name!r}"
                raise InvalidInput(who, f"classes among {known[:5]}", found, hint)
        return np.array([float(given.get(name, 1.0)) for name in known])

    def _score_out_of_bag(self, leaves: np.ndarray, unseen: np.ndarray, goal: Goal) -> None:
        self.oob_decision_function_ = _shares(self._mean_unseen(leaves, self._votes(), unseen))
        judged = np.asarray(unseen.any(axis=1))
        # Rows that every tree has seen have no vote, and are left out of the mean.
        right = self.oob_decision_function_.argmax(axis=1)[judged] == goal.label[judged]
        self.oob_score_ = float(right.mean()) if judged.any() else float("nan")

    def _votes(self) -> np.ndarray:
        trees = self.trees_
        return trees.soft_votes if self.voting == "soft" else trees.majority_votes

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return each class's share of the trees' votes.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        array of shape (n, number of classes), columns in the order of ``classes_``
        """
        return _shares(self._mean_votes(self._encode(X), self._votes()))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest share of votes; the first of them on a tie.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        array of n classes
        """
        codes = self.predict_proba(X).argmax(axis=1)  # first: it checks that the model is fitted
        return np.asarray(self.classes_[codes])


def _shares(scores: np.ndarray) -> np.ndarray:
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


@dataclass(eq=False, repr=False)  # of both bases
class RandomSimilarityForestClassifier(ForestClassifier, ColumnForest):
    """Classify rows by columns of any kind, each with its own distance.

    Trees vote. Each test of a tree takes one column and two of its cells, p of one class and q of
    another, and asks whether a row's cell is nearer to p or to q: rows whose ``d(q, x) - d(p, x)``
    is at most a threshold go left [1]_. So any column that has a distance can take part: numbers,
    categories, sets, texts, sequences, series, graphs, or a matrix of distances.

    On plain numbers it does about what a random forest does, and a random forest is simpler; use
    this one where some columns are not numbers, or where whole objects are known only through
    distances.

    Parameters
    ----------
    n_estimators : int
        How many trees.
    distances : mapping of column name to distance, optional
        For columns whose default is not wanted: the name of a distance ("jaccard", "levenshtein",
        "dtw", ...), a ``Distance`` with options, a function of two cells, a square matrix whose
        positions the column holds, or "precomputed" for a column of vectors that are the distances
        to the fitted rows. A list of these makes the column take part once with each. Several names
        compare these columns as one, ``{("lat", "lon"): "great_circle"}``: a function gets an array
        of their numbers, or a tuple of their cells where not all are numbers, and importances count
        for the first. A function costs one Python call per pair; with an attribute
        ``batch(cells, cell)`` it is called once for many pairs.
    max_features : float or int
        Columns tried at each node: a share (at least one column) or a number. Columns whose cells
        are all alike in the node are not counted.
    max_pairs : int
        Pairs of cells tried per column and node.
    criterion : {"gini", "entropy"}
    max_depth : int, optional
        None: until leaves are pure.
    min_samples_split, min_samples_leaf : int
        Fewest rows (drawn several times, they count several times) that a node must have to be
        split, and on each side of a test.
    min_weight_fraction_leaf : float
        Least share of the weight of all rows on each side of a test.
    projection : {"distance", "squared"}
        Whether distances or their squares are subtracted. On a line the first is constant beyond
        p and q, the second is not.
    numeric : {"projection", "value"}
        Whether numbers are projected like everything else, or tested as they are.
    voting : {"majority", "soft"}
        A leaf votes for its largest class with that class's share, or for every class with its
        share.
    bootstrap : bool
        Grow each tree on rows drawn with replacement.
    oob_score : bool
        Score the forest on the rows that its trees have not seen (out of bag).
    ccp_alpha : float
        Cut back subtrees that take away less impurity per leaf than this; 0: none.
    splitter : {"best", "random"}
        Look for the best threshold of a test, or draw one between the smallest and the largest
        projection, as extremely randomized trees do [2]_: the best of the columns and pairs tried
        is still taken.
    class_weight : mapping or "balanced", optional
        Weights of classes; "balanced" makes them count alike.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    cache_pairs : int
        Distances between cells that may be kept for the whole forest. Columns of objects that fit
        are compared once, all pairs; others are compared as trees ask, which is slower.
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. The forest does not depend on it.

    Attributes
    ----------
    classes_ : the classes, sorted
    trees_ : SimilarityTrees
        The tests of all trees as flat arrays.
    feature_importances_ : array, one entry per column
        Impurity taken away by the tests of each column, as a share.
    oob_score_ : float, with ``oob_score`` only
        Share of rows that the trees which have not seen them get right.
    oob_decision_function_ : array of shape (n, number of classes), with ``oob_score`` only
    in_bag_ : uint8 array of shape (n, n_estimators), with ``oob_score``, else None
        1 where a tree was grown on the row.
    feature_names_in_, n_features_in_ : as in scikit-learn

    Notes
    -----
    A missing cell takes no part in choosing a test of its column, and then goes to the larger side.
    The first cell of a pair comes from the class whose members vary least; among equally good cuts
    the more even one is taken. Rows whose cell is missing enter the comparison of columns with the
    impurity they have among themselves.

    For importances by shuffled columns use ``sklearn.inspection.permutation_importance`` on a frame
    of rows that were not fitted: on fitted ones every column that was memorized looks useful.

    References
    ----------
    .. [1] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests. European
       Conference on Machine Learning and Knowledge Discovery in Databases.
       doi:10.48550/arXiv.2204.05389
    .. [2] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning
       63(1). doi:10.1007/s10994-006-6226-1

    Examples
    --------
    >>> from lookalike.prediction import RandomSimilarityForestClassifier
    >>> recipes = {
    ...     "needs": [{"egg", "flour"}, {"egg", "milk"}, {"flour", "milk"}, {"rice", "soy"}]
    ...     + [{"soy", "egg"}, {"rice", "fish"}],
    ...     "minutes": [50, 40, None, 20, 10, 25],
    ...     "course": ["cake", "cake", "cake", "main", "main", "main"],
    ... }
    >>> model = RandomSimilarityForestClassifier(n_estimators=20, random_state=0)
    >>> model = model.fit(recipes, "course")
    >>> print(*model.predict({"needs": [{"fish", "soy"}, {"flour", "egg"}], "minutes": [15, 45]}))
    main cake
    """


class RandomSimilarityForestRegressor(mixins.TableRegressorMixin, ColumnForest):
    """Predict a number from columns of any kind, each with its own distance.

    The trees of ``RandomSimilarityForestClassifier`` with the variance of the target in place of
    impurity: the first cell of a pair is any, the second one whose target is more than a standard
    deviation away (any other target, where there is none), and a leaf predicts the mean. It never
    predicts beyond the values it has seen.

    Parameters
    ----------
    n_estimators : int
        How many trees.
    distances : mapping of column name to distance, optional
        As for ``RandomSimilarityForestClassifier``.
    max_features : float or int
        Columns tried at each node: a share (at least one column) or a number.
    max_pairs : int
        Pairs of cells tried per column and node.
    max_depth : int, optional
    min_samples_split, min_samples_leaf : int
    min_weight_fraction_leaf : float
    projection : {"distance", "squared"}
    numeric : {"projection", "value"}
    bootstrap : bool
    oob_score : bool
        Score the forest on the rows that its trees have not seen (out of bag).
    ccp_alpha : float
    splitter : {"best", "random"}
    kinds : mapping of column to kind, optional
    cache_pairs : int
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        As for ``RandomSimilarityForestClassifier``.

    Attributes
    ----------
    trees_ : SimilarityTrees
    feature_importances_ : array, one entry per column
        Variance taken away by the tests of each column, as a share.
    oob_score_ : float, with ``oob_score`` only
        Coefficient of determination on rows that trees have not seen.
    oob_prediction_ : array of n, with ``oob_score`` only
    in_bag_ : uint8 array of shape (n, n_estimators), with ``oob_score``, else None
    feature_names_in_, n_features_in_ : as in scikit-learn

    References
    ----------
    .. [1] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests. European
       Conference on Machine Learning and Knowledge Discovery in Databases.
       doi:10.48550/arXiv.2204.05389

    Examples
    --------
    >>> from lookalike.prediction import RandomSimilarityForestRegressor
    >>> words = {"word": ["cat", "cart", "carts", "dog", "dogs", "doges"]}
    >>> model = RandomSimilarityForestRegressor(random_state=0, kinds={"word": "text"})
    >>> model = model.fit(words, [1.0, 1.0, 1.0, 5.0, 5.0, 5.0])
    >>> low, high = model.predict({"word": ["carta", "dogs"]})
    >>> bool(low < 2 < 4 < high)
    True
    """

    FIELDS: ClassVar[fields.Fields] = {
        "oob_prediction_": fields.Sometimes(fields.Array("float64", "rows"))
    }

    TREE_OPTIONS: ClassVar[dict[str, Any]] = {"criterion": "variance"}

    CLASSIFIER = "RandomSimilarityForestClassifier"

    def _read_goal(self, target: np.ndarray, weight: np.ndarray) -> Goal:
        return Goal(target=self._read_numbers(target), weight=weight)

    def _score_out_of_bag(self, leaves: np.ndarray, unseen: np.ndarray, goal: Goal) -> None:
        self.oob_prediction_ = self._mean_unseen(leaves, self.trees_.value, unseen)[:, 0]
        judged = np.asarray(unseen.any(axis=1))
        self.oob_score_ = float("nan")
        if judged.sum() > 1:  # the variance of one row is 0
            self.oob_score_ = float(r2_score(goal.target[judged], self.oob_prediction_[judged]))

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean of the predictions of the trees.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        array of n numbers
        """
        return self._mean_votes(self._encode(X), self.trees_.value)[:, 0]
