"""Result of a part of a paper: tables of our and the printed values, findings, plots."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ANY = "*"


@dataclass(frozen=True)
class Value:
    """One value of ours, and the printed one if there is one.

    Parameters
    ----------
    ours : float, or None if it is not available
    published : float, or None where nothing is printed
    within : float, the difference that needs no cause; None: nothing is judged
    digits : int, decimals to print
    spread : float, standard deviation over the repetitions, if it says something
    chosen : bool, True where a setting was chosen by looking at this very score
    """

    ours: float | None
    published: float | None = None
    within: float | None = None
    digits: int = 3
    spread: float | None = None
    chosen: bool = False

    @property
    def difference(self) -> float | None:
        """Ours less the printed one; None where one of them is missing."""
        if self.ours is None or self.published is None or math.isnan(self.ours):
            return None
        return self.ours - self.published

    @property
    def beyond(self) -> bool:
        """Whether the difference is larger than the one that needs no cause."""
        gap = self.difference
        # Half a unit of the last printed digit belongs to rounding, not to us.
        slack = 0.5 * 10.0**-self.digits
        return gap is not None and self.within is not None and abs(gap) > self.within + slack

    def __str__(self) -> str:
        if self.ours is None:
            text = "-"
        else:
            text = f"{self.ours:.{self.digits}f}"
            if self.spread is not None:
                text += f" ±{self.spread:.{self.digits}f}"
        if self.published is not None:
            text += f" ({self.published:.{self.digits}f}"
            gap = self.difference
            text += ")" if gap is None else f", {gap:+.{self.digits}f})".replace("-", "−")
        return text + (" †" if self.chosen else "") + (" !" if self.beyond else "")


Row = Mapping[str, "Value | str | int | float | None"]


@dataclass(frozen=True)
class Sheet:
    """One table: rows of values, how it was made, and the cause of every large difference.

    Parameters
    ----------
    name : str, short, for anchors and files
    title : str
    rows : list of mappings from column to a Value, a word or a count; the first column names a row
    about : str, the setting: counts, readings of what the paper leaves open
    causes : mapping of (row, column) to a sentence; "*" matches every row or every column
    """

    name: str
    title: str
    rows: Sequence[Row]
    about: str = ""
    causes: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def columns(self) -> list[str]:
        """Return the columns in the order they first come in."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def differences(self) -> list[tuple[str, str, Value, str | None]]:
        """Every value beyond its tolerance: row, column, value, and its cause (None: none)."""
        found = []
        for row in self.rows:
            name = str(next(iter(row.values())))
            for column, value in row.items():
                if isinstance(value, Value) and value.beyond:
                    found.append((name, column, value, self.cause(name, column)))
        return found

    def explained(self) -> dict[str, list[str]]:
        """Return the cells of the differences by their cause; one cause may explain many."""
        together: dict[str, list[str]] = {}
        for row, column, value, cause in self.differences():
            gap = f"{value.difference:+.{value.digits}f}".replace("-", "−")
            places = together.setdefault(cause or "No cause is known yet.", [])
            places.append(f"{row}, {column} ({gap})")
        return together

    def cause(self, row: str, column: str) -> str | None:
        """Return the sentence for a difference, the most particular one first."""
        # A sentence about one cell says more than one about its row, its column or the table.
        for key in ((row, column), (row, ANY), (ANY, column), (ANY, ANY)):
            if key in self.causes:
                return self.causes[key]
        return None


@dataclass(frozen=True)
class Finding:
    """A statement of the paper that our results confirm or not.

    Parameters
    ----------
    says : str, the finding
    holds : bool
    values : str, the values that support it
    cause : str, where it does not hold: why, or what was tried
    headline : bool, True for the few that carry the paper
    """

    says: str
    holds: bool
    values: str
    cause: str = ""
    headline: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot: ``draw`` gets an empty matplotlib figure.

    Parameters
    ----------
    name : str, of the file
    alt : str, what is to be seen, in a sentence
    draw : function of a figure
    size : width and height in inches
    """

    name: str
    alt: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (8.0, 4.5)


@dataclass(frozen=True)
class Result:
    """All of one part: its sheets, its findings, its plots."""

    sheets: Sequence[Sheet] = ()
    findings: Sequence[Finding] = ()
    plots: Sequence[Plot] = ()


def size_row(name: str, x: Any, y: np.ndarray, printed: tuple[int, int, int]) -> dict[str, Any]:
    """Return rows, columns and classes of a set, each with the printed count.

    Parameters
    ----------
    name : str, of the set
    x : array of shape (n_rows, n_columns)
    y : array of n_rows classes
    printed : rows, columns and classes as printed
    """
    found = (*x.shape, len(np.unique(y)))
    row: dict[str, Any] = {"set": name}
    for title, ours, theirs in zip(("rows", "columns", "classes"), found, printed, strict=True):
        row[title] = Value(ours, theirs, 0, digits=0)
    return row
