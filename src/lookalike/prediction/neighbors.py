"""Predict a class or a number from the rows that are most alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.evaluate.vote import class_totals, means, winners
from lookalike.measures.contract.base import Measure
from lookalike.prediction.mixins import TableClassifierMixin, TableRegressorMixin, class_words
from lookalike.prediction.neighbor_predictor import NeighborPredictor
from lookalike.saving.fields import Array, Choice, Either, Fields, Objects, Plain

TALL = 4096  # rows whose votes are counted at once


class NeighborClassifier(TableClassifierMixin, NeighborPredictor):
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
        How many rows vote; never shrunk. "tune": the k with the fewest errors in 5-fold
        cross-validation, the smaller one on ties. Tried are 1 to 15, then 20, 25, 30, 40, 50 and
        further up to twice the square root of n, at most 200.
    weights : {"uniform", "distance", "kernel", "tune"}
        Every vote counts alike; in proportion to 1 / distance, where rows at distance 0 decide
        alone; or by a bell curve of the distance, two deviations wide at the last neighbor
        (Gaussian kernel). "tune": the one of the three with the fewest errors, chosen together
        with ``n_neighbors="tune"`` or for the k that is given.
    tie : {"first", "nearest"}
        Among classes with equal votes the one whose member comes first in the list, or the class
        of the very nearest row even if it is not among them.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
        How rows are split into the folds of "tune". None: the same every time.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    classes_ : the classes, sorted
    measure_ : the fitted measure
    n_neighbors_ : int
        How many rows vote.
    weights_ : str
        How their votes are weighted.
    cv_results_ : dict of arrays, with "tune" only
        ``n_neighbors`` and ``weights`` (one entry for each choice), ``error`` (its share of wrong
        rows) and ``fold_errors`` (the same in each fold).
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
    >>> from lookalike.prediction import NeighborClassifier
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

    FIELDS: ClassVar[Fields] = {
        "tie": Choice("first", "nearest"),
        "classes_": Either(
            Array("text int64 float64 bool", "classes"), Objects("classes", Plain())
        ),
        "votes_": Array("int64", "rows", low=0, below="classes"),
    }

    REGRESSOR = "NeighborRegressor"
    LEAST_CLASSES = 1  # rows that are all alike are a fair answer

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
        super().__init__(
            measure,
            n_neighbors,
            weights=weights,
            kinds=kinds,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.tie = tie

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = self._read_classes(y)
        return codes, class_words(codes, len(self.classes_))

    def _strata(self, votes: np.ndarray) -> np.ndarray | None:
        return votes

    def _answers(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        best = np.empty(len(votes), dtype=np.int64)
        for part in blocks(len(votes), TALL):
            totals = class_totals(votes[part], weights[part], len(self.classes_))
            best[part] = winners(totals, votes[part], self.tie)
        return best

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        return answers != votes

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
        votes, weights = self._ask(X)
        return np.asarray(self.classes_[self._answers(votes, weights)])

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


class NeighborRegressor(TableRegressorMixin, NeighborPredictor):
    """Predict a number as the mean over the rows most like it.

    Takes tables as they come, as ``NeighborClassifier`` does, and works wherever scikit-learn
    expects a regressor. It never predicts beyond the values it has seen; for trends that go on
    outside the data use a model of the trend.

    Parameters
    ----------
    measure : Measure, optional
        As for ``NeighborClassifier``.
    n_neighbors : int or "tune"
        How many rows are averaged; never shrunk. "tune": the k with the smallest mean squared error
        in 5-fold cross-validation, of the same numbers as for ``NeighborClassifier``.
    weights : {"uniform", "distance", "kernel", "tune"}
        A plain mean, or one weighted by distance, as for ``NeighborClassifier``.
    kinds : mapping of column to kind, optional
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        As for ``NeighborClassifier``.

    Attributes
    ----------
    measure_ : the fitted measure
    n_neighbors_ : int
        How many rows are averaged.
    weights_ : str
        How they are weighted.
    cv_results_ : dict of arrays, with "tune" only
        ``n_neighbors`` and ``weights`` (one entry for each choice), ``error`` (its mean squared
        error) and ``fold_errors`` (the same in each fold).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] T. Cover (1968). Estimation by the nearest neighbor rule. IEEE Transactions on
       Information Theory 14(1), 50-55. doi:10.1109/TIT.1968.1054098

    Examples
    --------
    >>> from lookalike.prediction import NeighborRegressor
    >>> flats = {
    ...     "area": [30.0, 32.0, 80.0, 85.0, None],
    ...     "district": ["center", "harbor", "center", "harbor", "harbor"],
    ...     "rent": [600.0, 500.0, 1400.0, 1100.0, 900.0],
    ... }
    >>> model = NeighborRegressor(n_neighbors=2).fit(flats, "rent")
    >>> model.predict({"area": [84.0], "district": ["harbor"]})
    array([1000.])
    """

    FIELDS: ClassVar[Fields] = {
        "votes_": Array("float64", "rows"),
    }

    CLASSIFIER = "NeighborClassifier"

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = self._read_numbers(y)
        return values, values

    def _strata(self, votes: np.ndarray) -> np.ndarray | None:
        return None

    def _answers(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return means(votes, weights)

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        return np.square(answers - votes)

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
        return self._answers(votes, weights)
