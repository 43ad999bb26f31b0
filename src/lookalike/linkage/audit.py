"""The answer of an audit: how near synthetic rows are to real ones, and which of them leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.text import percent, plain
from lookalike.linkage.joined import write_names
from lookalike.linkage.privacy import LEAKED_SHARE, Closeness, distance_ratios, share_equal
from lookalike.linkage.two_tables import TwoTables
from lookalike.show import layout
from lookalike.show.reasons import sentence
from lookalike.show.result import Result, Spell
from lookalike.table import Table

if TYPE_CHECKING:
    from rich.console import Console

LEAK_COLUMNS = ("row", "record", "distance", "ratio", "share", "because")
MAX_SHOWN_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """How near synthetic rows are to the real ones they were made from.

    Parameters
    ----------
    tables : TwoTables
        The synthetic rows on the left, the real ones on the right.
    found : Closeness
    synthetic, real, beside : Table
        As they were compared; ``beside`` are the rows that say what is usual: the holdout, or the
        real rows.
    ids : lists, the ids of the synthetic and of the real rows
    names : of the real and of the synthetic table
    n : int
        How many of the rows that leak are listed.
    left_out : names of columns whose kinds are not compared
    """

    tables: TwoTables
    found: Closeness
    synthetic: Table
    real: Table
    beside: Table
    ids: tuple[Sequence[Any], Sequence[Any]]
    names: tuple[str, str]
    n: int = 10
    left_out: tuple[str, ...] = ()
    _because: dict[int, str] = field(default_factory=dict, repr=False)

    @property
    def scores(self) -> dict[str, float | None]:
        """Medians of distances and ratios, and the two scores of SDMetrics."""
        found = self.found
        held = found.holdout is not None
        return {
            "overfitting_protection": found.overfitting_protection,
            "baseline_protection": found.baseline_protection,
            "median_distance": _median(found.distances),
            "median_distance_of_real_rows": _median(found.usual.distances[:, 0]),
            "median_distance_of_random_rows": _median(found.random),
            "median_distance_to_holdout": _median(found.holdout) if held else None,  # type: ignore[arg-type]
            "median_ratio": _median(found.ratios),
            "median_ratio_of_real_rows": _median(distance_ratios(found.usual)),
        }

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Columns in which rows that leak equal their record, those that give away most first."""
        leaked = share_equal(self.synthetic, self.real, self.found.synthetic, self.found.leaked)
        every = np.arange(len(self.beside))
        usual = share_equal(self.beside, self.real, self.found.usual, every)
        lines = [
            {"column": name, "equal": a, "equal_in_real_rows": b}
            for name, a, b in zip(self.real.names, leaked, usual, strict=True)
        ]
        return sorted(lines, key=lambda one: one["equal_in_real_rows"] - one["equal"])

    def leaks(self, n: int | None = None) -> list[dict[str, Any]]:
        """Return the rows that are nearer to a record than real rows are, the nearest first.

        Parameters
        ----------
        n : int, optional
            None: as many as the answer lists.
        """
        found, lines = self.found, []
        for row in found.leaked[: self.n if n is None else n].tolist():
            record = int(found.synthetic.indices[row, 0])
            if row not in self._because:
                (why,) = self.tables.explain(row, [record])
                self._because[row] = sentence(*why.phrases(2))
            values = (
                *(self.ids[0][row], self.ids[1][record], float(found.distances[row])),
                *(float(found.ratios[row]), float(found.shares[row]), self._because[row]),
            )
            lines.append(dict(zip(LEAK_COLUMNS, values, strict=True)))
        return lines

    def cells(self) -> dict[str, list[Any]]:
        """Return a line for each row that leaks, as many as the answer lists."""
        lines = self.leaks()
        return {name: [line[name] for line in lines] for name in LEAK_COLUMNS}

    def to_dict(self) -> dict[str, Any]:
        """Return the scores, the rows that leak and the columns that give them away."""
        answer = {
            "rows": len(self.synthetic),
            "real_rows": len(self.real),
            "scores": self.scores,
            "leaked": len(self.found.leaked),
            "expected_by_chance": LEAKED_SHARE * len(self.synthetic),
            "leaks": self.leaks(),
            "columns": self.columns,
            "left_out": list(self.left_out),
        }
        return {name: plain(value) for name, value in answer.items()}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the scores, the rows that leak, and the columns that give them away."""
        scores, held = self.scores, self.found.holdout is not None
        real, made = self.names
        n, m = len(self.synthetic), len(self.real)
        layout.headline(console, f"{made}: {n:,} synthetic rows beside {m:,} real ones of {real}")
        whose = "real rows held out" if held else "real rows among each other"
        heads = [("median", "left"), ("synthetic rows", "right"), (whose, "right")]
        lines = [
            [word, _write(scores[f"median_{key}"]), _write(scores[f"median_{key}_of_real_rows"])]
            for word, key in (("distance to the closest record", "distance"), ("ratio", "ratio"))
        ]
        console.print(layout.grid(heads, lines))
        for key, words in (
            ("overfitting_protection", "1: no nearer to the real rows than to those held out"),
            ("baseline_protection", "1: no nearer to the real rows than random ones are"),
        ):
            if scores[key] is not None:
                text = f"{key.replace('_', ' ')} {_write(scores[key])} ({words})"
                layout.say(console, text, "")
        self._render_leaks(console)
        if not held:
            note = "without a holdout, rows that are typical look like rows that leaked: give "
            layout.say(console, f"{note}real rows that were not used, where there are any")
        if self.left_out:
            layout.say(console, f"not compared: {', '.join(self.left_out)}")

    def _render_leaks(self, console: Console) -> None:
        n, leaked = len(self.synthetic), len(self.found.leaked)
        usual = f"{percent(1 - LEAKED_SHARE)} of real rows"
        text = f"{leaked:,} of {n:,} rows are nearer to a real record than {usual} are; "
        layout.say(console, f"{text}about {LEAKED_SHARE * n:.0f} would be by chance", "bold")
        if not leaked:
            return
        lines = self.leaks()
        rows = self.found.leaked[: len(lines)]
        records = self.found.synthetic.indices[rows, 0]
        names = write_names(self.tables.right_rows(records), [one["record"] for one in lines])
        shown = [
            [str(one["row"]), name, _write(one["distance"]), _write(one["ratio"]), one["because"]]
            for one, name in zip(lines, names, strict=True)
        ]
        heads = [("row", "left"), ("record", "left"), ("distance", "right"), ("ratio", "right")]
        console.print(layout.grid([*heads, ("because", "fold")], shown))
        some = [[one["column"], percent(one["equal"]), percent(one["equal_in_real_rows"])]
                for one in self.columns[:MAX_SHOWN_COLUMNS]]  # fmt: skip
        heads = [("column", "left"), ("equal to the record", "right"), ("of real rows", "right")]
        console.print(layout.grid(heads, some))


def _median(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else None


def _write(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3g}"
