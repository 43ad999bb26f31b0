"""Drift: whether added rows are distributed like those a measure was fitted to."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.text import short
from lookalike.errors import InPython, LookalikeWarning
from lookalike.index.segments import join_columns
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Fields, Integer, Real
from lookalike.table import Column, LazyTable, Table
from lookalike.table.model.tally import Tally

# Thresholds chosen by hand.
MAX_SHARE_OUTSIDE = 0.05  # of the added values outside the fitted range
MIN_OUTSIDE = 5  # values, since one odd row is not drift
MAX_SHIFT = 0.2  # between the two distribution functions
FALSE_ALARMS = 0.01  # probability of a false alarm about a shift, over all columns (Bonferroni)
DECILES = np.linspace(0.0, 1.0, 11)
NEW = {"category": "new categories", "order": "new levels"}


@saveable
@dataclass(frozen=True, eq=False)
class Fitted:
    """Statistics of a fitted column.

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
        Live rows that the measure was fitted to, and rows that were added later.
    columns : tuple of ColumnDrift
    """

    fitted: int
    added: int
    columns: tuple[ColumnDrift, ...]

    @property
    def reasons(self) -> list[str]:
        """Why refitting is advised, one sentence each."""
        reasons = [f"{c.column!r}: {c.reason}" for c in self.columns if c.reason]
        if self.added > max(self.fitted, MIN_OUTSIDE):
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
        names = [field.name for field in fields(ColumnDrift) if field.name != "examples"]
        return {name: [getattr(c, name) for c in self.columns] for name in names}


def learn_fitted(table: Table | LazyTable) -> dict[str, Fitted]:
    """Return ranges, deciles and shares of missing values; of files a column at a time."""
    lazy, fitted = table if isinstance(table, LazyTable) else None, {}
    for column in table if isinstance(table, Table) else table.like:
        name = column.name
        n_missing = int(column.missing.sum()) if lazy is None else lazy.n_missing[name]
        count, points, shares = len(table) - n_missing, np.empty(0), np.empty(0)
        if column.kind.name == "number":
            tally = Tally.of([column.values]) if lazy is None else lazy.tally(name)
            finite = tally.finite()
            count = finite.count
            if count:
                points = finite.quantiles(DECILES)
                # Interpolation may round them, and a fitted value must not be outside the range.
                points[[0, -1]] = finite.values[0], finite.values[-1]
                shares = finite.upto(points) / count
        low, high = (points[0], points[-1]) if len(points) else (math.nan, math.nan)
        share = n_missing / len(table) if len(table) else 0.0
        fitted[name] = Fitted(share, count, low, high, points, shares)
    return fitted


def warn_of(columns: Sequence[ColumnDrift], who: str) -> None:
    """Warn of columns whose added values differ from the fitted ones, if there are any."""
    if columns:
        found = "; ".join(f"in {column.column!r} {column.reason}" for column in columns)
        hint = ("Refit to learn from them", InPython(": refit(); drift() has details"))
        warnings.warn(LookalikeWarning(who, "rows like the fitted ones", found, hint), stacklevel=3)


def report_drift(
    fitted: Mapping[str, Fitted], n_fitted: int, added: Sequence[tuple[Table, np.ndarray]]
) -> Drift:
    """Compare rows that were added with the statistics of the fitted ones.

    One column is read at a time: rows that stay in files need not fit in memory.

    Parameters
    ----------
    fitted : mapping of column to its statistics
    n_fitted : int, live rows among the fitted ones
    added : tables of rows that were added, each with a boolean array of live rows
    """
    # Each table is read a column at a time, and only its live rows are kept.
    n_added = sum(int(live.sum()) for _, live in added)
    columns = []
    for name, before in fitted.items() if n_added else ():
        cells = join_columns([table[name].take(live) for table, live in added])
        columns.append(_compare(before, cells, FALSE_ALARMS / len(fitted)))
    return Drift(n_fitted, n_added, tuple(columns))


def _compare(before: Fitted, column: Column, alarms: float) -> ColumnDrift:
    kind, missing, known = column.kind.name, column.missing, np.empty(0)
    if kind == "number":
        known = column.values[np.isfinite(column.values)].astype(np.float64)
    shift, outside, examples = 0.0, 0, []
    if len(known) and len(before.points):
        odd = known[(known < before.low) | (known > before.high)]
        # Only at the deciles, which is all that is stored: a lower bound of Kolmogorov-Smirnov's.
        upto = np.searchsorted(np.sort(known), before.points, side="right") / len(known)
        shift, outside, examples = float(np.abs(upto - before.shares).max()), len(odd), odd.tolist()
    elif kind in NEW:
        outside, examples = int((column.values < -1).sum()), list(column.unknown.values())
    # Unknown levels count as missing cells, since they have no rank, but are values here.
    total = int((~missing).sum()) + (outside if kind == "order" else 0)
    examples = list(dict.fromkeys(examples))[:3]
    share = outside / max(total, 1)
    reason = ""
    # Of rows like the fitted ones, 2 in n + 1 lie beyond the range of n.
    if outside >= MIN_OUTSIDE and share > MAX_SHARE_OUTSIDE + 2 / (before.values + 1):
        shown = ", ".join(map(short, examples))
        what = NEW.get(kind, "outside the fitted range")
        reason = f"{share:.0%} of the added values are {what} ({shown})"
    elif shift > max(MAX_SHIFT, _critical(len(known), before.values, alarms)):
        reason = f"the added values are distributed differently (shift {shift:.2f})"
    gone = float(missing.mean()), before.missing
    return ColumnDrift(column.name, kind, total, share, shift, *gone, tuple(examples), reason)


def _critical(added: int, fitted: int, alarms: float) -> float:
    """Return the shift that two samples of one distribution exceed so rarely.

    The asymptotic critical value of the two-sample Kolmogorov-Smirnov test.
    """
    return math.sqrt(-math.log(alarms / 2) / 2 * (1 / max(added, 1) + 1 / max(fitted, 1)))
