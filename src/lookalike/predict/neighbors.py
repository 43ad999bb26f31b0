"""Predict a class or a number from the rows that are most alike."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from lookalike._params import OneOf, Rule
from lookalike._threads import blocks
from lookalike.errors import InvalidInput, message
from lookalike.evaluate.vote import class_totals, means_by_k, winners, winners_by_k
from lookalike.measures.base import Measure
from lookalike.predict._base import _NeighborPredictor

__all__ = ["NeighborClassifier", "NeighborRegressor"]

TALL = 4096  # rows whose votes are counted at once


class NeighborClassifier(ClassifierMixin, _NeighborPredictor):
    """Say what a row is by the classes of the rows most like it.

    Takes tables as they come: with ``Gower``, the default, numbers, categories, texts, sets and
    gaps side by side. It works wherever scikit-learn expects a classifier: pipelines,
    cross-validation, grid search over the parameters of the measure (``measure__missing``).

    With many columns that have nothing to do with the class, learn weights for them
    (``measure=Gower(weights="relieff")``); where classes are far from even, look at
    ``predict_proba`` rather than at the vote.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: ``Gower()``. A clone is fitted. The frozen form of a fitted
        measure (``measure.frozen()``) keeps what it has learned, and the rows given to ``fit`` are
        then read as new rows. ``Precomputed()`` takes a matrix of distances as X.
    n_neighbors : int or "tune"
        How many rows vote; never shrunk. "tune": the k from 1 to 15 with the fewest errors in
        5-fold cross-validation, the smaller one on ties.
    weights : {"uniform", "distance"}
        Every vote counts alike, or in proportion to 1 / distance; rows at distance 0 then decide
        alone.
    tie : {"first", "nearest"}
        Among classes with equal votes the one whose member comes first in the list, or the class
        of the very nearest row even if it is not among them.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int or Generator
        How rows are dealt to the folds of "tune". None: in their order, the same every time.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    classes_ : the classes, sorted
    measure_ : the fitted measure
    n_neighbors_ : int
        How many rows vote.
    cv_results_ : dict of arrays, with "tune" only
        ``n_neighbors``, ``error`` (share of wrong rows for each k) and ``fold_errors`` (the same
        in each fold).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    Neighbors are ordered by (distance, position). Rows that share nothing comparable have
    similarity 0 and come last.

    References
    ----------
    .. [1] T. Cover and P. Hart (1967). Nearest neighbor pattern classification. IEEE Transactions
       on Information Theory 13(1), 21-27. doi:10.1109/TIT.1967.1053964

    Examples
    --------
    >>> from lookalike.predict import NeighborClassifier
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 0.03],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", None],
    ...     "animal": ["cat", "cat", "cat", "dog", "dog", "mouse"],
    ... }
    >>> model = NeighborClassifier(n_neighbors=2).fit(pets, "animal")
    >>> print(*model.predict({"weight": [28.0, None], "sound": [None, "meow"]}))
    dog cat
    >>> position, why = model.explain({"weight": 28.0, "sound": "woof"})[0]
    >>> pets["animal"][position], round(why.similarity, 3)
    ('dog', 0.967)
    """

    PARAMS: ClassVar[dict[str, Rule]] = {"tie": OneOf("first", "nearest")}

    def __init__(
        self,
        measure: Measure | None = None,
        n_neighbors: int | str = 5,
        *,
        weights: str = "uniform",
        tie: str = "first",
        kinds: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.tie = tie
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = _as_classes(y, type(self).__name__)
        self.classes_, codes = np.unique(y, return_inverse=True)
        # Measures that learn from a target take numbers for amounts and words for classes.
        words = np.array([f"class {code}" for code in range(len(self.classes_))])
        return codes.astype(np.int64), words[codes]

    def _groups(self, votes: np.ndarray) -> np.ndarray:
        return votes

    def _answers_by_k(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return winners_by_k(votes, weights, len(self.classes_), self.tie)

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        return answers != votes[:, None]

    def predict(self, X: Any = None) -> np.ndarray:
        """Return the class that most of the nearest rows have.

        Parameters
        ----------
        X : new rows, optional
            None: each fitted row is predicted from the others (leave-one-out). A measure that has
            learned from y has seen these classes; score it by cross-validation instead.

        Returns
        -------
        array of n classes
        """
        codes, weights = self._ask(X)
        best = np.empty(len(codes), dtype=np.int64)
        for part in blocks(len(codes), TALL):
            totals = class_totals(codes[part], weights[part], len(self.classes_))
            best[part] = winners(totals, codes[part], self.tie)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any = None) -> np.ndarray:
        """Return each class's share of the votes.

        ``predict`` takes the largest share; where shares tie it looks at who is nearest.

        Parameters
        ----------
        X : new rows, optional
            None: each fitted row is predicted from the others (leave-one-out).

        Returns
        -------
        array of shape (n, number of classes), columns in the order of ``classes_``
        """
        codes, weights = self._ask(X)
        totals = class_totals(codes, weights, len(self.classes_))
        return totals / totals.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted right.

        Parameters
        ----------
        X : new rows, or None
            None: the fitted rows, each predicted from the others.
        y : array of n, or the name of a column of X
        sample_weight : array of n, optional
        """
        return float(super().score(X, self._true_target(X, y), sample_weight))


class NeighborRegressor(RegressorMixin, _NeighborPredictor):
    """Predict a number as the mean over the rows most like it.

    Takes tables as they come, as ``NeighborClassifier`` does, and works wherever scikit-learn
    expects a regressor. It never predicts beyond the values it has seen; for trends that go on
    outside the data use a model of the trend.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: ``Gower()``. A clone is fitted. The frozen form of a fitted
        measure (``measure.frozen()``) keeps what it has learned, and the rows given to ``fit`` are
        then read as new rows. ``Precomputed()`` takes a matrix of distances as X.
    n_neighbors : int or "tune"
        How many rows are averaged; never shrunk. "tune": the k from 1 to 15 with the smallest mean
        squared error in 5-fold cross-validation, the smaller one on ties.
    weights : {"uniform", "distance"}
        A plain mean, or one weighted by 1 / distance; rows at distance 0 then decide alone.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int or Generator
        How rows are dealt to the folds of "tune". None: in their order, the same every time.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted measure
    n_neighbors_ : int
        How many rows are averaged.
    cv_results_ : dict of arrays, with "tune" only
        ``n_neighbors``, ``error`` (mean squared error for each k) and ``fold_errors`` (the same
        in each fold).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] T. Cover (1968). Estimation by the nearest neighbor rule. IEEE Transactions on
       Information Theory 14(1), 50-55. doi:10.1109/TIT.1968.1054098

    Examples
    --------
    >>> from lookalike.predict import NeighborRegressor
    >>> flats = {
    ...     "area": [30.0, 32.0, 80.0, 85.0, None],
    ...     "district": ["center", "harbor", "center", "harbor", "harbor"],
    ...     "rent": [600.0, 500.0, 1400.0, 1100.0, 900.0],
    ... }
    >>> model = NeighborRegressor(n_neighbors=2).fit(flats, "rent")
    >>> model.predict({"area": [84.0], "district": ["harbor"]})
    array([1000.])
    """

    def __init__(
        self,
        measure: Measure | None = None,
        n_neighbors: int | str = 5,
        *,
        weights: str = "uniform",
        kinds: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        amounts = _as_amounts(y, type(self).__name__)
        return amounts, amounts

    def _groups(self, votes: np.ndarray) -> np.ndarray:
        return np.zeros(len(votes), dtype=np.int64)

    def _answers_by_k(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return means_by_k(votes, weights)

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        return np.square(answers - votes[:, None])

    def predict(self, X: Any = None) -> np.ndarray:
        """Return the mean target of the nearest rows.

        Parameters
        ----------
        X : new rows, optional
            None: each fitted row is predicted from the others (leave-one-out).

        Returns
        -------
        array of n numbers
        """
        votes, weights = self._ask(X)
        return means_by_k(votes, weights)[:, -1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination of the predictions; 1 is the best there is.

        Parameters
        ----------
        X : new rows, or None
            None: the fitted rows, each predicted from the others.
        y : array of n, or the name of a column of X
        sample_weight : array of n, optional
        """
        return float(super().score(X, self._true_target(X, y), sample_weight))


def _as_classes(y: np.ndarray, who: str) -> np.ndarray:
    """Return labels that can be sorted; amounts and a mixture of types are refused."""
    if y.dtype == object and all(isinstance(label, numbers.Number | np.bool_) for label in y):
        y = np.asarray(y.tolist())
    try:
        np.sort(y)
    except TypeError as error:
        types = sorted({type(label).__name__ for label in y})
        do = "Turn them all into strings"
        raise InvalidInput(
            message(f"{who}.fit", "classes of one type", f"{' and '.join(types)} labels", do)
        ) from error
    if y.dtype.kind == "f" and not (np.isfinite(y) & (y == np.round(y))).all():
        broken = y[~np.isfinite(y) | (y != np.round(y))]
        raise InvalidInput(
            message(
                f"{who}.fit",
                "classes: strings, whole numbers or flags",
                f"{broken[0]:g} in y (Unknown label type: continuous)",
                "Use NeighborRegressor for amounts, or turn y into strings",
            )
        )
    return y


def _as_amounts(y: np.ndarray, who: str) -> np.ndarray:
    """Return the target as float64; words and infinities are refused."""
    try:
        if y.dtype.kind not in "fiubO":
            raise ValueError(f"{y.dtype} values")
        amounts = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            message(f"{who}.fit", "numbers as y", str(error), "Use NeighborClassifier for classes")
        ) from error
    wrong = ~np.isfinite(amounts)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        found = f"{amounts[row]:g} in row {row} (infinity or a value too large)"
        raise InvalidInput(message(f"{who}.fit", "finite numbers as y", found, "Drop these rows"))
    return amounts
