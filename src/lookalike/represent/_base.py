"""What all representations share: reading, names of columns, answers for new rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lookalike._config import count_jobs
from lookalike._params import KINDS, N_JOBS, AtLeast, Rule, check_params
from lookalike._random import RANDOM_STATE
from lookalike._save import Saved
from lookalike._threads import blocks, run
from lookalike.errors import InvalidInput, message
from lookalike.measures.base import Measure
from lookalike.measures.gower import Gower
from lookalike.measures.rows import Rows
from lookalike.measures.source import Source, read_source
from lookalike.table import Table, as_table

__all__ = ["IsMeasure", "_Representation"]

TALL = 8192  # rows that are encoded and compared at once


class IsMeasure(Rule):
    """A measure, not its class and not its name."""

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        return value is None or isinstance(value, Measure)

    def wants(self) -> str:
        """Say what is allowed, in words."""
        return "a lookalike measure, or None for Gower()"

    def advice(self, value: Any) -> str:
        """Say what to do about a wrong value."""
        return "Pass an instance, for example Gower() or Vector()"


class _Representation(Saved, TransformerMixin, BaseEstimator):
    """Base of the transformers that turn rows into similarities."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "measure": IsMeasure(),
        "kinds": KINDS,
        "max_rows": AtLeast(2),
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    }

    measure: Measure | None
    kinds: Mapping[str, Any] | None
    random_state: Any
    n_jobs: int | None
    measure_: Measure

    # -- what a representation writes --------------------------------------------------------------

    def _learn(self, source: Source, y: np.ndarray | None) -> Rows:
        """Learn from what was read, and return its rows encoded."""
        raise AssertionError("written by the subclasses")

    def _of(self, rows: Rows) -> np.ndarray:
        """Return the new columns of rows that ``measure_`` has encoded."""
        raise AssertionError("written by the subclasses")

    def _names_out(self) -> list[str]:
        raise AssertionError("written by the subclasses")

    # -- fitting and transforming ------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows, and choose the prototypes.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            Needed where prototypes, their number or the measure are learned from a target. A named
            column is taken out of the table.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn from rows and return their new columns, each row known to be a fitted one.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional

        Returns
        -------
        array of shape (n, number of new columns)
        """
        rows = self._fit(X, y)
        return self._in_blocks(len(rows), lambda at: rows[at])

    def _fit(self, X: Any, y: Any) -> Rows:
        check_params(self)
        count_jobs(self.n_jobs)
        who = type(self).__name__
        source, target = read_source(self.measure, X, y, who, self.kinds, self.n_jobs)
        rows = self._learn(source, target)
        self.n_features_in_ = self.measure_.n_features_in_
        if isinstance(X, Table | Mapping) or hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(source.table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return rows

    def transform(self, X: Any) -> np.ndarray:
        """Return the new columns of any rows, a block at a time.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of shape (n, number of new columns)
        """
        check_is_fitted(self, "measure_")
        measure = self.measure_
        if measure.traits.pairwise:
            rows = measure.encode(X)
            return self._in_blocks(len(rows), lambda at: rows[at])
        # Read once, encoded a block at a time: not all encoded rows of a long table at once.
        table = as_table(X, measure.schema_, who=type(self).__name__)
        return self._in_blocks(len(table), lambda at: measure.encode(table[at]))

    def _in_blocks(self, n: int, rows_at: Any) -> np.ndarray:
        out = np.empty((n, len(self._names_out())))

        def one(at: slice) -> None:
            out[at] = self._of(rows_at(at))

        run(one, [(at,) for at in blocks(n, TALL)], self.n_jobs, "comparing with prototypes")
        return out

    # -- scikit-learn ------------------------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the new columns.

        Parameters
        ----------
        input_features : array of str, optional
            Checked against the fitted columns, otherwise not used.
        """
        check_is_fitted(self, "measure_")
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            known = getattr(self, "feature_names_in_", None)
            who = f"{type(self).__name__}.get_feature_names_out"
            do = "Leave input_features out"
            if known is not None and not np.array_equal(given, known):
                found = f"{given.tolist()!r}: input_features is not equal to feature_names_in_"
                raise InvalidInput(message(who, "the names of the fitted columns", found, do))
            if len(given) != self.n_features_in_:
                found = (
                    f"{len(given)} (input_features should have length equal to number of features, "
                    f"{self.n_features_in_})"
                )
                raise InvalidInput(message(who, f"{self.n_features_in_} names", found, do))
        return np.asarray(self._names_out(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        measure = Gower() if self.measure is None else self.measure
        if isinstance(measure, Measure):
            inner = get_tags(measure).input_tags
            for name in ("allow_nan", "categorical", "string", "pairwise", "positive_only"):
                setattr(tags.input_tags, name, getattr(inner, name))
        return tags
