"""Targets of predictors: a column named as y, classes, numbers, and scores against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from lookalike.saving.fields import Array, Either, Field, Fields, Maybe, Objects, Plain, Saved, Text
from lookalike.table import Kind, Schema, Table, as_table, read_table
from lookalike.table.model.targets import read_classes, read_numbers, split_target


def classes_field(dimension: str) -> Field:
    """Return the field of ``classes_``: an array of one type, or objects of several."""
    return Either(Array("text int64 float64 bool", dimension), Objects(dimension, Plain()))


class NamedTargetMixin:
    """Remembers how a column named as y was read, so that it is read alike when scored."""

    FIELDS: ClassVar[Fields] = {
        "target_": Maybe(Text()),
        "target_kind_": Maybe(Saved("Kind")),
    }

    kinds: Mapping[str, Any] | None
    target_: str | None
    target_kind_: Kind | None

    def _remember_target(self, X: Any, table: Table, y: Any) -> None:
        """Keep the name and the kind of the target.

        Parameters
        ----------
        X : the data as given
        table : Table
            The data as read, with the target set aside.
        y : array of n, or the name of a column
        """
        self.target_, self.target_kind_ = None, None
        if isinstance(y, str):
            column = next((c for c in table.aside if c.name == y), None)
            # A frozen measure has not set the target aside: its table does not have the column.
            self.target_kind_ = read_table(X)[y].kind if column is None else column.kind
            self.target_ = y

    def _true_target(self, X: Any, y: Any) -> Any:
        """Return the target as an array; a name is looked up in X and read as it was in fit."""
        if not isinstance(y, str):
            return y
        check_is_fitted(self)
        who = f"{type(self).__name__}.score"
        # Only the kind of the target: the other columns need not be readable to score.
        own = {name: kind for name, kind in (self.kinds or {}).items() if name == y}
        column = read_table(X, kinds=own or None)[y]
        kind = self.target_kind_
        if kind is not None and y == self.target_:
            if kind.takes_new_levels:  # an unseen class has no rank in the order, but is a class
                kind = replace(kind, name="category")
            column = as_table(Table([column]), Schema({y: kind}), who=who)[y]
        # A table without compared columns is fine here: only its target is read.
        return split_target(Table([column]), y, who)[1]


class TableClassifierMixin(NamedTargetMixin, ClassifierMixin):
    """Base of classifiers: reading classes, and the accuracy."""

    REGRESSOR: ClassVar[str]  # named in the hint where y holds amounts
    MIN_CLASSES: ClassVar[int] = 2

    classes_: np.ndarray

    def _read_classes(self, y: np.ndarray) -> np.ndarray:
        """Set ``classes_`` and return the number of each row's class."""
        who = f"{type(self).__name__}.fit"
        # Sorted classes, as scikit-learn has them; codes index them.
        self.classes_, codes = read_classes(y, who, self.REGRESSOR, self.MIN_CLASSES)
        return codes

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the target as numbers of classes, and as measures see it."""
        codes = self._read_classes(y)
        # As texts: measures that learn from a target would read numbers as amounts.
        return codes, np.array([f"class {code}" for code in range(len(self.classes_))])[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted right (accuracy).

        Parameters
        ----------
        X : new rows, or None where ``predict`` takes it
        y : array of n, or the name of a column of X
        sample_weight : array of n, optional
        """
        return float(super().score(X, self._true_target(X, y), sample_weight))


class TableRegressorMixin(NamedTargetMixin, RegressorMixin):
    """Base of regressors: reading numbers, and the coefficient of determination."""

    CLASSIFIER: ClassVar[str]  # named in the hint where y holds classes

    def _read_numbers(self, y: np.ndarray) -> np.ndarray:
        """Return the regression target as float64."""
        hint = f"Use {self.CLASSIFIER} for classes"
        return read_numbers(y, f"{type(self).__name__}.fit", hint)

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the target as numbers, and as measures see it."""
        values = self._read_numbers(y)
        return values, values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the variance of y that is predicted (R squared); 1 is the best.

        Parameters
        ----------
        X : new rows, or None where ``predict`` takes it
        y : array of n, or the name of a column of X
        sample_weight : array of n, optional
        """
        return float(super().score(X, self._true_target(X, y), sample_weight))
