"""What the clustering estimators share: their rules, their tags, the columns they have seen."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lookalike._params import KINDS, N_JOBS, AtLeast, Rule
from lookalike._save import Saved
from lookalike.measures.base import Measure
from lookalike.measures.gower import Gower
from lookalike.measures.rows import Rows
from lookalike.table import Table

__all__ = ["IsMeasure"]


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
        return "Pass an instance, for example measure=Gower() or measure=Vector()"


class _Clusterer(ClusterMixin, Saved, BaseEstimator):
    """Base of the estimators that cluster by one measure and can label new rows."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "measure": IsMeasure(),
        "dense_limit": AtLeast(1),
        "kinds": KINDS,
        "n_jobs": N_JOBS,
    }

    measure: Measure | None
    measure_: Measure
    rows_: Rows
    model_: Any

    def _measure(self) -> Measure:
        return Gower() if self.measure is None else self.measure

    def _remember_columns(self, X: Any, measure: Measure, table: Table) -> None:
        self.n_features_in_ = measure.n_features_in_
        if isinstance(X, Table | dict) or hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(table.names, dtype=object)

    def _assign(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        new = self.measure_.encode(X)
        return np.asarray(self.model_.assign(self.measure_, self.rows_, new), dtype=np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        measure = self._measure()
        if isinstance(measure, Measure):
            inner = get_tags(measure).input_tags
            for name in ("allow_nan", "categorical", "string", "pairwise", "positive_only"):
                setattr(tags.input_tags, name, getattr(inner, name))
        return tags
