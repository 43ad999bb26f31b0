"""Whether rows that came later still look like those a measure was fitted to."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike.errors import InPython, LookalikeWarning
from lookalike.measures.contract.explanation import show
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Fields, Integer, Real
from lookalike.table import Column, LazyTable, Table

SHARE = 0.05  # of the added values may lie outside before refitting is advised
LEAST = 5  # so many must, since one odd row is not drift
SHIFT = 0.2  # largest step between the two distributions that is taken lightly
ALARMS = 0.01  # chance of a false alarm about the distribution, over all columns together
DECILES = np.linspace(0.0, 1.0, 11)


@saveable
@dataclass(frozen=True, eq=False)
class Fitted:
    """What is remembered of a fitted column.

    Parameters
    ----------
    missing : float, the share of missing cells
    values : int, the number of others
    low, high : float, the range of a column of numbers, else NaN
    points, shares : float64, deciles and the share of fitted values up to each of them
    """

    FIELDS: ClassVar[Fields] = {
        "missing": Real(nan=True),
        "values": Integer(0),
        "low": Real(nan=True),
        "high": Real(nan=True),
        "points": Array("float64", "points"),
        "shares": Array("float64", "points"),
    }

    missing: float
    values: int
    low: float
    high: float
    points: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class ColumnDrift:
    """How the added values of a column compare with the fitted ones.

    Parameters
    ----------
    column, kind : str
    values : int
        Added values that are not missing.
    outside : float
        Share of them beyond the fitted range, or in categories that were not fitted.
    shift : float
        Largest difference between the distributions of fitted and added numbers, taken at the
        fitted deciles (0 the same, 1 apart); 0 for other kinds.
    missing, fitted_missing : float
        Shares of missing cells.
    examples : tuple
        Some of the values outside.
    reason : str
        Why refitting is advised, empty if it is not.
    """

    column: str
    kind: str
    values: int
    outside: float
    shift: float
    missing: float
    fitted_missing: float
    examples: tuple[Any, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Drift:
    """Whether the rows that were added still fit what was learned.

    Parameters
    ----------
    fitted, added : int
        Live rows that the measure was fitted to, and rows that came later.
    columns : tuple of ColumnDrift
    """

    fitted: int
    added: int
    columns: tuple[ColumnDrift, ...]

    @property
    def reasons(self) -> list[str]:
        """Why refitting is advised, one sentence each."""
        reasons = [
            f"{column.column!r}: {column.reason}" for column in self.columns if column.reason
        ]
        if self.added > max(self.fitted, LEAST):
            reasons.append(f"{self.added:,} rows were added to {self.fitted:,} fitted ones")
        return reasons

    @property
    def refit(self) -> bool:
        """Whether refitting is advised."""
        return bool(self.reasons)

    def __str__(self) -> str:
        lines = [f"{self.added:,} rows added to {self.fitted:,} fitted ones"]
        lines += [f"  {reason}" for reason in self.reasons]
        lines.append("refitting is advised" if self.refit else "the fitted measure still fits")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the report as lists."""
        names = ("column", "kind", "values", "outside", "shift", "missing", "fitted_missing")
        return {name: [getattr(c, name) for c in self.columns] for name in (*names, "reason")}


def learn_fitted(table: Table) -> dict[str, Fitted]:
    """Remember ranges, deciles and gaps of a table that is fitted."""
    found = {}
    for column in table:
        gaps = float(column.missing.mean()) if len(column) else 0.0
        known = _numbers(column)
        if len(known):
            points = np.quantile(known, DECILES)
            points[[0, -1]] = known.min(), known.max()
            ranked = np.searchsorted(np.sort(known), points, side="right") / len(known)
            found[column.name] = Fitted(gaps, len(known), points[0], points[-1], points, ranked)
        else:
            count, nothing = int((~column.missing).sum()), np.empty(0)
            found[column.name] = Fitted(gaps, count, math.nan, math.nan, nothing, nothing)
    return found


def learn_fitted_parts(table: LazyTable) -> dict[str, Fitted]:
    """Remember the same of a table that stays in files, a column at a time."""
    found = {}
    for column in table.like:
        gaps = table.n_missing[column.name]
        share, count = gaps / len(table) if len(table) else 0.0, len(table) - gaps
        points = shares = np.empty(0)
        low = high = math.nan
        if column.kind.name == "number":
            tally = table.tally(column.name)
            finite = tally.finite()
            count = finite.count
            if count:
                points = finite.quantiles(DECILES)
                points[[0, -1]] = finite.values[0], finite.values[-1]
                shares = finite.upto(points) / count
                low, high = points[0], points[-1]
        found[column.name] = Fitted(share, count, low, high, points, shares)
    return found


def warn_of(columns: Sequence[ColumnDrift], who: str) -> None:
    """Warn of columns whose added values differ from the fitted ones, if there are any."""
    if columns:
        warnings.warn(
            LookalikeWarning(
                who,
                "rows like the fitted ones",
                "; ".join(f"in {column.column!r} {column.reason}" for column in columns),
                ("Refit to learn from them", InPython(": refit(); drift() tells more")),
            ),
            stacklevel=3,
        )


def report_drift(
    fitted: Mapping[str, Fitted], n_fitted: int, added: Sequence[tuple[Table, np.ndarray]]
) -> Drift:
    """Compare rows that were added with what is remembered of the fitted ones.

    A column is read at a time: rows that stay in files need not fit in memory.

    Parameters
    ----------
    fitted : mapping of column to what is remembered of it
    n_fitted : int, fitted rows that are still there
    added : tables of rows that came later, each with a boolean array of those still there
    """
    n_added = sum(int(live.sum()) for _, live in added)
    columns = []
    for name, before in fitted.items() if n_added else ():
        cells = [table[name].take(live) for table, live in added]
        columns.append(_compare(before, cells, ALARMS / len(fitted)))
    return Drift(n_fitted, n_added, tuple(columns))


def _compare(before: Fitted, columns: Sequence[Column], alarms: float) -> ColumnDrift:
    first = columns[0]
    gaps = np.concatenate([column.missing for column in columns])
    total = int((~gaps).sum())
    shift, outside = 0.0, 0
    examples: tuple[Any, ...] = ()
    known = np.concatenate([_numbers(column) for column in columns])
    if len(known) and len(before.points):
        odd = (known < before.low) | (known > before.high)
        outside, examples = int(odd.sum()), _first(known[odd].tolist())
        ranked = np.searchsorted(np.sort(known), before.points, side="right") / len(known)
        shift = float(np.abs(ranked - before.shares).max())
    elif first.kind.name in ("category", "order"):
        outside = sum(int((column.values < -1).sum()) for column in columns)
        examples = _first([value for column in columns for value in column.unknown.values()])
        if first.kind.name == "order":  # not compared, but written none the less
            total += outside
    share = outside / total if total else 0.0
    reason = ""
    # Of rows like the fitted ones, 2 in n + 1 lie beyond the range of n.
    if outside >= LEAST and share > SHARE + 2 / (before.values + 1):
        new = {"category": "new categories", "order": "new levels"}
        what = new.get(first.kind.name, "outside the fitted range")
        shown = ", ".join(show(value) for value in examples)
        reason = f"{share:.0%} of the added values are {what} ({shown})"
    elif len(known) and shift > max(SHIFT, _critical(len(known), before.values, alarms)):
        reason = f"the added values are distributed otherwise (shift {shift:.2f})"
    return ColumnDrift(
        first.name,
        first.kind.name,
        total,
        share,
        shift,
        float(gaps.mean()),
        before.missing,
        examples,
        reason,
    )


def _critical(added: int, fitted: int, alarms: float) -> float:
    """Return the step between two samples that chance exceeds so rarely (Smirnov's bound)."""
    return math.sqrt(-math.log(alarms / 2) / 2 * (1 / added + 1 / max(fitted, 1)))


def _numbers(column: Column) -> np.ndarray:
    if column.kind.name != "number":
        return np.empty(0)
    return np.asarray(column.values[np.isfinite(column.values)], dtype=np.float64)


def _first(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))[:3]
