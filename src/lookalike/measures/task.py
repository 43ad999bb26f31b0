"""The base of every estimator that wraps a measure: reading, columns, tags, parameters.

A task computes something from neighbors or distances; reading a table and a target, the default
measure, scikit-learn's input tags and column attributes are written here, once.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from lookalike._runtime.config import count_jobs
from lookalike._runtime.random_state import RANDOM_STATE
from lookalike.errors import InvalidInput, Param
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.default import default_measure, is_auto
from lookalike.measures.names import IsMeasure, as_measure, same_settings
from lookalike.saving import fields
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import KINDS, N_JOBS, Fields, check_params, require
from lookalike.table import Table, as_table, read_table
from lookalike.table.model.names import remember_columns
from lookalike.table.model.targets import require_target, split_target


@dataclass(frozen=True, eq=False)
class TaskSource:
    """A table that has been read once, and the measure that parts of it are fitted with.

    Parameters
    ----------
    measure : Measure
        Not fitted, unless it is frozen.
    table : Table
        Without the target; folds are slices, so their kinds are not guessed again.
    frozen : Rows, optional
        The rows as a frozen measure encodes them; fitting a part is then choosing rows.
    """

    measure: Measure
    table: Table
    frozen: Rows | None = None

    def __len__(self) -> int:
        return len(self.table)

    def fit(
        self, y: np.ndarray | None = None, at: np.ndarray | None = None
    ) -> tuple[Measure, Rows]:
        """Return the measure fitted to some of the rows (None: all), and these rows encoded."""
        if self.frozen is not None:
            return self.measure, self.frozen if at is None else self.frozen[at]
        part = self.table if at is None else self._cut(at, at)
        measure = clone(self.measure).fit(part, y if y is None or at is None else y[at])
        return measure, measure.rows_

    def ask(self, measure: Measure, fitted: np.ndarray, at: np.ndarray) -> Rows:
        """Return other rows encoded by a measure that was fitted to some."""
        return measure.encode(self._cut(at, fitted)) if self.frozen is None else self.frozen[at]

    def _cut(self, at: np.ndarray, fitted: np.ndarray) -> Any:
        if not self.measure.traits.pairwise:
            return self.table[at]
        # A matrix of distances has a column for each row: those of the fold are selected, too.
        return self.table.columns[0].values[np.ix_(at, fitted)]


def read_source(
    measure: Measure | str | None,
    X: Any,
    y: Any,
    who: str,
    kinds: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> tuple[TaskSource, np.ndarray | None]:
    """Read X and y once; return what can be fitted, and the target as an array of n.

    Parameters
    ----------
    measure : Measure or name of one, optional
        None or "auto": the default for the table. It is cloned; a frozen one is used as it is.
    X : anything ``read_table`` takes, or what the measure reads
    y : array of n, name of a column, or None
    who : who is asking, for error messages
    kinds : mapping of column to kind, optional
    n_jobs : int, optional
        Passed to the measure and those inside it, where they have none.
    """
    auto = is_auto(measure)
    measure = cast(Measure, as_measure(measure, who))
    # For functions; estimators have looked at their parameters.
    IsMeasure().check(who, "measure", measure)
    if getattr(measure, "frozen_", False):
        return _read_frozen(measure, X, y, who, kinds, n_jobs)
    # Cloned, since kinds and n_jobs are set below: the caller's measure must not change.
    measure = same_settings(clone(measure), n_jobs)
    own = measure.get_params()
    if kinds is not None and "kinds" in own:
        measure.set_params(kinds={**(own["kinds"] or {}), **kinds})
    elif kinds is not None:
        X = read_table(X, kinds=kinds)
    table, target = split_target(measure.read(X), y, who)
    if "kinds" in own:  # the table has them now; folds of it must not be parsed again
        measure.set_params(kinds=None)
    if isinstance(y, str):  # kinds of inner measures may name the target, which is gone
        _forget_kind(measure, y)
    if auto:  # now that the columns are known
        measure = same_settings(default_measure(table), n_jobs)
    return TaskSource(measure, table), target


def _forget_kind(measure: Measure, target: str) -> None:
    """Take a target out of all kinds, which would bring it back among the compared columns."""
    for name, value in measure.get_params().items():
        if name.rpartition("__")[2] == "kinds" and isinstance(value, Mapping) and target in value:
            others = {column: kind for column, kind in value.items() if column != target}
            measure.set_params(**{name: others})


def _read_frozen(
    measure: Measure, X: Any, y: Any, who: str, kinds: Any, n_jobs: int | None
) -> tuple[TaskSource, np.ndarray | None]:
    name = f"{type(measure).__name__}.frozen()"
    if not measure.traits.unseen_pairs:
        needed = "a frozen measure that can compare rows it was not fitted to"
        found = f"{type(measure).__name__}, which only knows its own"
        hint = "Pass the measure itself, not its frozen form"
        raise InvalidInput(Param("measure", of=who), needed, found, hint)
    if kinds is not None:
        needed = "a measure that is not fitted yet"
        hint = "Give the kinds to the measure before fitting it"
        raise InvalidInput(Param("kinds", of=who), needed, name, hint)
    if isinstance(y, str):  # the fitted measure may never have seen the target's column
        table, target = split_target(read_table(X), y, who)
        if y not in measure.schema_.aside:
            table = table.drop(y)
    else:
        table, target = split_target(as_table(X, measure.schema_, who=who), y, who)
    if n_jobs is not None and hasattr(measure, "n_jobs"):
        measure = copy.copy(measure)  # the caller's own object must not change
        measure.n_jobs = n_jobs
    return TaskSource(measure, table, measure.encode(table)), target


def copy_input_tags(tags: Any, measure: Any) -> Any:
    """Let scikit-learn expect of a task the input that its measure takes; return the tags."""
    # Tags must not raise: scikit-learn reads them before it has checked any parameter.
    measure = as_measure(measure if IsMeasure().fits(measure) else None)
    inner = get_tags(measure).input_tags
    for name in ("allow_nan", "categorical", "string", "pairwise", "positive_only"):
        setattr(tags.input_tags, name, getattr(inner, name))
    return tags


class TableTask(SaveMixin, BaseEstimator, abstract=True):
    """Base of the estimators that are fitted to a table: the parameters that all of them share."""

    FIELDS: ClassVar[Fields] = {
        "kinds": KINDS,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "n_features_in_": fields.Integer(0, high=2**31),
        "feature_names_in_": fields.Sometimes(fields.Objects("features", fields.Text())),
    }

    REQUIRES_TARGET: ClassVar[bool] = False

    kinds: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    def _check_params(self) -> None:
        """Check every parameter before any data is read."""
        check_params(self)
        count_jobs(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required |= self.REQUIRES_TARGET
        return accept_mixed(tags)


def accept_mixed(tags: Any, mixed: bool = True) -> Any:
    """State whether missing values, categories and texts are accepted; return the tags."""
    for name in ("allow_nan", "categorical", "string"):
        setattr(tags.input_tags, name, mixed)
    return tags


@dataclass(eq=False, repr=False)
class MeasureTask(TableTask, abstract=True):
    """Base of the estimators that wrap a measure.

    Subclasses have a parameter ``measure`` (an instance, a name such as "gower", or None for the
    default of the library), and may have ``kinds``, ``random_state`` and ``n_jobs``.
    """

    FIELDS: ClassVar[Fields] = {"measure": IsMeasure()}

    measure: Measure | str | None = None

    def _read(self, X: Any, y: Any = None) -> tuple[TaskSource, np.ndarray | None]:
        """Check the parameters and read X and y once.

        Returns
        -------
        source : TaskSource
            The table without the target, and the measure to fit.
        target : array of n, or None
        """
        self._check_params()
        who = type(self).__name__
        if self.REQUIRES_TARGET:
            y = require_target(y, who)
        return read_source(self.measure, X, y, who, self.kinds, self.n_jobs)

    def _remember_columns(self, X: Any, source: TaskSource, measure: Measure) -> None:
        """Set scikit-learn's attributes about the columns of a fitted table."""
        remember_columns(self, X, source.table, measure.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        return copy_input_tags(super().__sklearn_tags__(), self.measure)


def check_task_rows(task: Any, n: int | None = None) -> None:
    """Refuse a loaded task whose rows its fitted measure would not have encoded."""
    who = type(task).__name__
    task.measure_.check_rows(task.rows_, f"{who}.rows_")
    if n is not None:
        require(len(task.rows_) == n, f"{who}.rows_", f"{n} rows", str(len(task.rows_)))
