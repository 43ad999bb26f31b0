"""The answer of a matching: pairs, and whether the two groups are alike before and after."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lookalike._runtime.text import plain
from lookalike.linkage.joined import Joined
from lookalike.show import layout
from lookalike.show.html.document import grid
from lookalike.show.html.drawings import mark, words
from lookalike.show.html.markup import COLORS, color_key, figure, svg
from lookalike.show.result import Spell
from lookalike.table import Column

if TYPE_CHECKING:
    from rich.console import Console

WELL_BALANCED = 0.1  # largest standardized difference that is usually accepted (Austin 2009)
MAX_LEVELS = 20  # levels of a category that are lines of the balance table, the commonest
# Of the plot, in pixels.
LINE_HEIGHT, NAME_WIDTH, PLOT_WIDTH = 20, 180, 360


class Balance(NamedTuple):
    """How alike two groups are in a column, or in a level of one.

    Standardized mean differences: the difference of the means (for a level, of the shares) divided
    by the standard deviation of all treated rows, before and after matching alike [1]_.

    References
    ----------
    .. [1] P. C. Austin (2009). Balance diagnostics for comparing the distribution of baseline
       covariates between treatment groups in propensity-score matched samples. Statistics in
       Medicine 28(25), 3083-3107. doi:10.1002/sim.3697
    """

    column: str
    level: str | None
    treated: float
    control: float
    before: float | None
    treated_matched: float
    control_matched: float
    after: float | None

    @property
    def name(self) -> str:
        """The column, with the level where it is one."""
        return self.column if self.level is None else f"{self.column}: {self.level}"


@dataclass(frozen=True, eq=False)
class Matched(Joined):
    """Treated rows with the control rows they are matched to; a ``Joined`` with the balance.

    Parameters
    ----------
    tables, lists, ids, names, measure, k, why, backend, frames : see ``Joined``
    method : str
    """

    method: str = "optimal"

    @cached_property
    def balance(self) -> list[Balance]:
        """Each compared column, or level, before and after; means leave missing cells out."""
        tables = self.tables
        treated, control = tables.read_left(tables.left[:]), tables.right.table
        # Treated rows count once, controls as often as they are matched, as weights for the ATT:
        # of several matches of one row each has its share.
        per_row = np.bincount(self.rows, minlength=len(self.lists))
        position = np.searchsorted(tables.right.segments.positions, self.matches)
        weights = np.bincount(position, 1.0 / per_row[self.rows], minlength=len(control))
        found = []
        for name in (*tables.on, *(name for name in tables.by if name not in tables.on)):
            for level, x, y in _numbers_of(treated[name], control[name]):
                found.append(_balance(name, level, x, y, per_row > 0, weights))
        return found

    @property
    def sizes(self) -> dict[str, float]:
        """Numbers of rows, of those matched, and what the weighted controls are worth."""
        uses = np.bincount(np.unique(self.matches, return_inverse=True)[1]).astype(float)
        worth = float(uses.sum() ** 2 / (uses**2).sum()) if len(uses) else 0.0
        return {
            "treated": len(self.lists),
            "treated_matched": len(np.unique(self.rows)),
            "control": len(self.tables.right.segments),
            "control_matched": len(uses),
            "effective_control": worth,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs, the balance and the numbers of rows."""
        lines = [plain(one._asdict()) for one in self.balance]
        return super().to_dict() | {"method": self.method, "sizes": self.sizes, "balance": lines}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print how many rows are matched, and the balance before and after."""
        sizes, (treated, control) = self.sizes, self.names
        text = f"{treated}: {sizes['treated_matched']:,} of {sizes['treated']:,} rows matched to "
        text += f"{sizes['control_matched']:,} of {sizes['control']:,} rows of {control}"
        layout.headline(console, f"{text}, by {self.measure}, {self.method}")
        if self.tables.reason not in ("", "given"):
            layout.say(console, self.tables.reason)
        heads = [("column", "left"), ("treated", "right"), ("control", "right"),
                 ("matched", "right"), ("before", "right"), ("after", "right")]  # fmt: skip
        lines = [
            [one.name, *map(_write, (one.treated, one.control, one.control_matched)),
             _write(one.before, 2), _write(one.after, 2)]
            for one in self.balance
        ]  # fmt: skip
        console.print(layout.grid(heads, lines))
        layout.say(console, "before, after: standardized mean differences")
        poor = [one.name for one in self.balance if abs(one.after or 0.0) > WELL_BALANCED]
        if poor:
            names = ", ".join(poor[:6]) + (f" and {len(poor) - 6} more" if len(poor) > 6 else "")
            layout.say(console, f"above {WELL_BALANCED:g} after matching: {names}", "yellow")
        if self.unmatched:
            gone = f"{len(self.unmatched):,} of {sizes['treated']:,} rows have no match"
            layout.say(console, gone, "yellow")

    def html_body(self) -> str:
        """Return the plot of the balance (a Love plot), and its table."""
        heads = ("column", "treated", "control", "control matched", "before", "after")
        rows = [
            [one.name, *map(_write, (one.treated, one.control, one.control_matched)),
             _write(one.before, 2), _write(one.after, 2)]
            for one in self.balance
        ]  # fmt: skip
        return love_plot(self.balance) + grid(heads, rows, numeric=[False, *[True] * 5])


def love_plot(balance: list[Balance]) -> str:
    """Return absolute standardized differences as dots, a line per column: before and after.

    Parameters
    ----------
    balance : list of Balance
    """
    known = [one for one in balance if one.before is not None]
    most = max(
        [2 * WELL_BALANCED, *(abs(v or 0.0) for one in known for v in (one.before, one.after))]
    )
    width, height = NAME_WIDTH + PLOT_WIDTH + 20, LINE_HEIGHT * (len(known) + 1)

    def across(value: float | None) -> float:
        return NAME_WIDTH + PLOT_WIDTH * abs(value or 0.0) / most

    limit = across(WELL_BALANCED)
    parts = [
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - LINE_HEIGHT}" stroke="#888"{dash}/>'
        for x, dash in ((NAME_WIDTH, ""), (limit, ' stroke-dasharray="3 3"'))
    ]
    for number, one in enumerate(known):
        y = LINE_HEIGHT * (number + 0.5)
        parts.append(words((NAME_WIDTH - 8, y + 4), one.name, "end"))
        for value, color, word in (
            (one.before, COLORS[1], "before"),
            (one.after, COLORS[0], "after"),
        ):
            if value is not None:
                title = f"{one.name} {word}: {value:.2f}"
                parts.append(mark((across(value), y), 5, color, title))
    foot = height - 4
    for value in (0.0, WELL_BALANCED, most):
        parts.append(words((across(value), foot), f"{value:.2g}"))
    drawing = svg(width, height, "standardized mean differences before and after matching", parts)
    key = color_key(((COLORS[1], "before matching"), (COLORS[0], "after matching")))
    return figure(drawing + key, "Absolute standardized mean differences")


def _numbers_of(left: Column, right: Column) -> list[tuple[str | None, np.ndarray, np.ndarray]]:
    """Return columns of numbers as they are, of levels an indicator for each, of others none."""
    if left.kind.name == "number":
        return [(None, np.asarray(left.values, float), np.asarray(right.values, float))]
    if left.kind.name not in ("category", "order", "flag"):
        return []
    every = np.concatenate([left.values, right.values])
    codes, counts = np.unique(every[every != -1], return_counts=True)
    codes = codes[np.sort(np.argsort(-counts, kind="stable")[:MAX_LEVELS])]
    found: list[tuple[str | None, np.ndarray, np.ndarray]] = []
    for code in codes.tolist():
        x, y = (np.where(c.values == -1, np.nan, c.values == code) for c in (left, right))
        found.append((_level(code, left, right), x, y))
    return found


def _level(code: int, left: Column, right: Column) -> str:
    levels = left.kind.levels
    return str(levels[code] if code >= 0 else {**right.unknown, **left.unknown}.get(code, code))


def _balance(
    name: str, level: str | None, x: np.ndarray, y: np.ndarray, matched: np.ndarray,
    weights: np.ndarray,
) -> Balance:  # fmt: skip
    known = x[~np.isnan(x)]
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    means = [_mean(x), _mean(y), _mean(x, matched.astype(float)), _mean(y, weights)]
    before, after = (
        (a - b) / spread if spread > 0 and a == a and b == b else None
        for a, b in (means[:2], means[2:])
    )
    return Balance(name, level, means[0], means[1], before, means[2], means[3], after)


def _mean(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    known = ~np.isnan(values)
    if weights is not None:
        known &= weights > 0
    if not known.any():
        return float("nan")
    return float(np.average(values[known], weights=None if weights is None else weights[known]))


def _write(value: float | None, digits: int = 3) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.{digits}f}" if digits == 2 else f"{value:.4g}"
