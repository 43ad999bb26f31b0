"""What classifiers made of similarity trees share: class weights, votes, out-of-bag accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.prediction.mixins import TableClassifierMixin
from lookalike.prediction.supervised_forest import SupervisedForest
from lookalike.saving.fields import (
    Array,
    Choice,
    Dims,
    Either,
    Fields,
    Instance,
    Objects,
    Plain,
    Sometimes,
    require,
)


class ForestClassifier(TableClassifierMixin, SupervisedForest, abstract=True):
    """What classifiers made of similarity trees share."""

    FIELDS: ClassVar[Fields] = {
        "criterion": Choice("gini", "entropy"),
        "voting": Choice("majority", "soft"),
        "class_weight": Either(
            Choice(None, "balanced", "balanced_subsample"),
            Instance(Mapping, named="a mapping of class to weight"),
        ),
        "classes_": Either(
            Array("text int64 float64 bool", "classes"), Objects("classes", Plain())
        ),
        "oob_decision_function_": Sometimes(Array("float64", "rows", "classes")),
    }

    REGRESSOR = "RandomSimilarityForestRegressor"
    BY_COLUMN: ClassVar[bool] = True  # whether a test is about one column

    criterion: str
    voting: str
    class_weight: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column
            At least two classes; gaps are an error. A named column is taken out of the table.
        sample_weight : array of n, optional
            How much each row counts in impurities and votes; rows of weight 0 take no part.
        """
        table, target, weight = self._read_supervised(X, y, sample_weight)
        label = self._read_classes(target)
        reweigh = None
        if self.class_weight == "balanced_subsample":

            def reweigh(times: np.ndarray) -> np.ndarray:
                drawn = np.bincount(label, times, minlength=len(self.classes_))
                share = times.sum() / (len(self.classes_) * np.maximum(drawn, 1))
                return np.asarray(share[label])

        elif self.class_weight is not None:
            weight = weight * self._class_weights(label)[label]
        n_classes = len(self.classes_)
        self._grow(table, label, weight, label=label, n_classes=n_classes, reweigh=reweigh)
        if self.BY_COLUMN:
            self.feature_importances_ = self.trees_.importances(self.n_features_in_)
        return self

    def _class_weights(self, label: np.ndarray) -> np.ndarray:
        given = self.class_weight
        if given == "balanced":
            classes = np.arange(len(self.classes_))
            return np.asarray(compute_class_weight("balanced", classes=classes, y=label))
        known = list(self.classes_)
        odd = [name for name in given if name not in known]
        if odd:
            found = f"a weight for {odd[0]!r}"
            hint = Phrase("Name classes as they are in ", Param("y"))
            who = Param("class_weight", of=type(self).__name__)
            raise InvalidInput(who, f"classes among {known[:5]}", found, hint)
        return np.array([float(given.get(name, 1.0)) for name in known])

    def _score_out_of_bag(self, leaves: np.ndarray, unseen: np.ndarray, y: np.ndarray) -> None:
        self.oob_decision_function_ = _shares(self._mean_unseen(leaves, self._votes(), unseen))
        judged = np.asarray(unseen.any(axis=1))
        right = self.oob_decision_function_[judged].argmax(axis=1) == y[judged]
        self.oob_score_ = float(right.mean()) if judged.any() else float("nan")

    def _votes(self) -> np.ndarray:
        trees = self.trees_
        return trees.soft_votes if self.voting == "soft" else trees.majority_votes

    def _proba(self, cells: tuple[Cells, ...]) -> np.ndarray:
        return _shares(self._mean_votes(cells, self._votes()))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return each class's share of the trees' votes.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        array of shape (n, number of classes), columns in the order of ``classes_``
        """
        cells = self._encode(X)
        return self._proba(cells)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest share of votes; the first of them on a tie.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        array of n classes
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def _score_cells(self, cells: tuple[Cells, ...], y: Any) -> float:
        found = self.classes_[self._proba(cells).argmax(axis=1)]
        return float(np.mean(found == np.asarray(y)))

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that leaves vote for the known classes."""
        super().check_loaded(dims)
        fits = self.trees_.value.shape[1] == dims["classes"]
        require(fits, f"{type(self).__name__}.classes_", "a class per column of votes", "others")


def _shares(scores: np.ndarray) -> np.ndarray:
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))
