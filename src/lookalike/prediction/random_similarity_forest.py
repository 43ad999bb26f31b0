"""Random similarity forests: every column of a table brings its own distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import r2_score

from lookalike.columns.base import Cells
from lookalike.prediction.forest_classifier import ForestClassifier
from lookalike.prediction.mixins import TableRegressorMixin
from lookalike.prediction.supervised_forest import SupervisedForest
from lookalike.saving.fields import Array, Dims, Fields, Sometimes, require
from lookalike.trees.cells.growing import CACHE_PAIRS


class RandomSimilarityForestClassifier(ForestClassifier):
    """Say what a row is from columns of any kind, each compared in its own way.

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
        to the fitted rows. A list of these makes the column take part once with each. A function
        costs one Python call per pair; with an attribute ``batch(cells, cell)`` it is asked for
        many at once.
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
        Judge the forest by the rows that its trees have not seen.
    ccp_alpha : float
        Cut back subtrees that take away less impurity per leaf than this; 0: none.
    class_weight : mapping, "balanced" or "balanced_subsample", optional
        Weights of classes; "balanced" makes them count alike, over all rows or in each tree.
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

    References
    ----------
    .. [1] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests. European
       Conference on Machine Learning and Knowledge Discovery in Databases.
       doi:10.48550/arXiv.2204.05389

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

    def __init__(
        self,
        n_estimators: int = 100,
        distances: Mapping[str, Any] | None = None,
        *,
        max_features: float | int = 0.5,
        max_pairs: int = 1,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        projection: str = "distance",
        numeric: str = "projection",
        voting: str = "majority",
        bootstrap: bool = True,
        oob_score: bool = False,
        ccp_alpha: float = 0.0,
        class_weight: Any = None,
        kinds: Mapping[str, Any] | None = None,
        cache_pairs: int = CACHE_PAIRS,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.distances = distances
        self.max_features = max_features
        self.max_pairs = max_pairs
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.projection = projection
        self.numeric = numeric
        self.voting = voting
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.kinds = kinds
        self.cache_pairs = cache_pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _tree_options(self) -> dict[str, Any]:
        return {"max_features": self.max_features, "criterion": self.criterion}


class RandomSimilarityForestRegressor(TableRegressorMixin, SupervisedForest):
    """Predict a number from columns of any kind, each compared in its own way.

    The trees of ``RandomSimilarityForestClassifier`` with the variance of the target in place of
    impurity: the first cell of a pair is any, the second one whose target is more than a standard
    deviation away (any other target, where there is none), and a leaf says the mean. It never
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
        Judge the forest by the rows that its trees have not seen.
    ccp_alpha : float
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

    FIELDS: ClassVar[Fields] = {
        "oob_prediction_": Sometimes(Array("float64", "rows")),
    }

    CLASSIFIER = "RandomSimilarityForestClassifier"

    def __init__(
        self,
        n_estimators: int = 100,
        distances: Mapping[str, Any] | None = None,
        *,
        max_features: float | int = 0.5,
        max_pairs: int = 1,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        projection: str = "distance",
        numeric: str = "projection",
        bootstrap: bool = True,
        oob_score: bool = False,
        ccp_alpha: float = 0.0,
        kinds: Mapping[str, Any] | None = None,
        cache_pairs: int = CACHE_PAIRS,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.distances = distances
        self.max_features = max_features
        self.max_pairs = max_pairs
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.projection = projection
        self.numeric = numeric
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.ccp_alpha = ccp_alpha
        self.kinds = kinds
        self.cache_pairs = cache_pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _tree_options(self) -> dict[str, Any]:
        return {"max_features": self.max_features, "criterion": "variance"}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n numbers, or the name of a column
        sample_weight : array of n, optional
            How much each row counts; rows of weight 0 take no part.
        """
        table, target, weight = self._read_supervised(X, y, sample_weight)
        values = self._read_numbers(target)
        self._grow(table, values, weight, target=values)
        self.feature_importances_ = self.trees_.importances(self.n_features_in_)
        return self

    def _score_out_of_bag(self, leaves: np.ndarray, unseen: np.ndarray, y: np.ndarray) -> None:
        self.oob_prediction_ = self._mean_unseen(leaves, self.trees_.value, unseen)[:, 0]
        judged = np.asarray(unseen.any(axis=1))
        self.oob_score_ = (
            float(r2_score(y[judged], self.oob_prediction_[judged]))
            if judged.sum() > 1
            else float("nan")
        )

    def _means(self, cells: tuple[Cells, ...]) -> np.ndarray:
        return self._mean_votes(cells, self.trees_.value)[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean of the predictions of the trees.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        array of n numbers
        """
        return self._means(self._encode(X))

    def _score_cells(self, cells: tuple[Cells, ...], y: Any) -> float:
        return float(r2_score(np.asarray(y, np.float64), self._means(cells)))

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that a leaf holds one number."""
        super().check_loaded(dims)
        fits = self.trees_.value.shape[1] == 1
        require(fits, "RandomSimilarityForestRegressor.trees_", "one number per leaf", "others")
