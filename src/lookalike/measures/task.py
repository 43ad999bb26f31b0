"""The base of every estimator that wraps a measure: reading, columns, tags, parameters.

A task says what it does with neighbors or distances; how a table and a target are read, which
measure is meant by None, what scikit-learn is told about the input and what is remembered of the
columns is written here, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from lookalike._runtime.config import count_jobs
from lookalike._runtime.random_state import RANDOM_STATE
from lookalike.measures.contract.base import Measure
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.names import IsMeasure, as_measure
from lookalike.measures.source import Source, read_source
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import (
    KINDS,
    N_JOBS,
    Fields,
    Integer,
    Objects,
    Sometimes,
    Text,
    check_params,
    require,
)
from lookalike.table.model.names import remember_columns
from lookalike.table.model.targets import require_target


def copy_input_tags(tags: Any, measure: Any) -> Any:
    """Let scikit-learn expect of a task the input that its measure takes; return the tags."""
    if isinstance(measure, str) and IsMeasure().fits(measure):
        measure = as_measure(measure)
    measure = measure if isinstance(measure, Measure) else Gower()
    inner = get_tags(measure).input_tags
    for name in ("allow_nan", "categorical", "string", "pairwise", "positive_only"):
        setattr(tags.input_tags, name, getattr(inner, name))
    return tags


class MeasureTask(SaveMixin, BaseEstimator, abstract=True):
    """Base of the estimators that wrap a measure.

    Subclasses have a parameter ``measure`` (an instance, a name such as "gower", or None for
    ``Gower()``), and may have ``kinds``,
    ``random_state`` and ``n_jobs``; their rules are stated here.
    """

    FIELDS: ClassVar[Fields] = {
        "measure": IsMeasure(),
        "kinds": KINDS,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "n_features_in_": Integer(0, high=2**31),
        "feature_names_in_": Sometimes(Objects("features", Text())),
    }

    REQUIRES_TARGET: ClassVar[bool] = False

    measure: Measure | str | None
    kinds: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    def _read(self, X: Any, y: Any = None) -> tuple[Source, np.ndarray | None]:
        """Check the parameters and read X and y once.

        Returns
        -------
        source : Source
            The table without the target, and the measure to fit.
        target : array of n, or None
        """
        check_params(self)
        count_jobs(self.n_jobs)
        who = type(self).__name__
        if self.REQUIRES_TARGET:
            y = require_target(y, who)
        return read_source(self.measure, X, y, who, self.kinds, self.n_jobs)

    def _remember_columns(self, X: Any, source: Source, measure: Measure) -> None:
        """Set scikit-learn's attributes about the columns of a fitted table."""
        remember_columns(self, X, source.table, measure.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.REQUIRES_TARGET:
            tags.target_tags.required = True
        return copy_input_tags(tags, self.measure)


def check_task_rows(task: Any, n: int | None = None) -> None:
    """Refuse a loaded task whose rows its fitted measure would not have encoded."""
    who = type(task).__name__
    task.measure_.check_rows(task.rows_, f"{who}.rows_")
    if n is not None:
        require(len(task.rows_) == n, f"{who}.rows_", f"{n} rows", str(len(task.rows_)))
