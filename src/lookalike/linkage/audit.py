"""The answer of an audit: how near synthetic rows are to real ones, and which of them leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.text import percent, plain
from lookalike.linkage.privacy import LEAKED_SHARE, Closeness, distance_ratios, share_equal
from lookalike.linkage.two_tables import TwoTables
from lookalike.show import layout
from lookalike.show.reasons import sentence
from lookalike.show.result import Result, Spell
from lookalike.table import Table

if TYPE_CHECKING:
    from rich.console import Console

MAX_SHOWN_COLUMNS = 8
SCORES = {
    "overfitting_protection": "1: no nearer to the real rows than to those held out",
    "baseline_protection": "1: no nearer to the real rows than random ones are",
}


@dataclass(eq=False)
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
    left_out: Sequence[str] = ()

    @property
    def scores(self) -> dict[str, float | None]:
        """The two scores of SDMetrics, and medians of distances and ratios."""
        found = self.found
        medians = {
            "distance": found.distances,
            "distance_of_real_rows": found.usual.distances[:, 0],
            "distance_of_random_rows": found.random,
            "distance_to_holdout": np.array([]) if found.holdout is None else found.holdout,
            "ratio": distance_ratios(found.synthetic),
            "ratio_of_real_rows": distance_ratios(found.usual),
        }
        return {name: getattr(found, name) for name in SCORES} | {
            f"median_{name}": _median(values) for name, values in medians.items()
        }

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Columns in which rows that leak equal their record, those that give away most first."""
        found, every = self.found, np.arange(len(self.beside))
        leaked = share_equal(self.synthetic, self.real, found.synthetic, found.leaked)
        usual = share_equal(self.beside, self.real, found.usual, every)
        names = ("column", "equal", "equal_in_real_rows")
        lines = zip(self.real.names, leaked, usual, strict=True)
        ordered = sorted(lines, key=lambda line: line[2] - line[1])
        return [dict(zip(names, line, strict=True)) for line in ordered]

    @cached_property
    def leaks(self) -> list[dict[str, Any]]:
        """The rows that are nearer to a record than real rows are, the nearest first."""
        lists, shares = self.found.synthetic, self.found.shares
        ratios = distance_ratios(lists)
        return [
            {
                "row": self.ids[0][row],
                "record": self.ids[1][lists.indices[row, 0]],
                "distance": float(lists.distances[row, 0]),
                "ratio": float(ratios[row]),
                "share": float(shares[row]),
                "because": sentence(
                    *self.tables.explain(row, [int(lists.indices[row, 0])])[0].phrases(2)
                ),
            }
            for row in self.found.leaked[: self.n].tolist()
        ]

    def cells(self) -> dict[str, list[Any]]:
        """Return a line for each row that leaks, as many as the answer lists."""
        heads = ("row", "record", "distance", "ratio", "share", "because")
        return {name: [line[name] for line in self.leaks] for name in heads}

    def to_dict(self) -> dict[str, Any]:
        """Return the scores, the rows that leak and the columns that give them away."""
        answer = {
            "rows": len(self.synthetic),
            "real_rows": len(self.real),
            "scores": self.scores,
            "leaked": len(self.found.leaked),
            "expected_by_chance": LEAKED_SHARE * len(self.synthetic),
            "leaks": self.leaks,
            "columns": self.columns,
            "left_out": list(self.left_out),
        }
        return {name: plain(value) for name, value in answer.items()}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the scores, the rows that leak, and the columns that give them away."""
        scores, held = self.scores, self.found.holdout is not None
        n, leaked = len(self.synthetic), len(self.found.leaked)
        text = f"{self.names[1]}: {n:,} synthetic rows beside {len(self.real):,} real ones"
        layout.headline(console, f"{text} of {self.names[0]}")
        whose = "real rows held out" if held else "real rows among each other"
        lines = [
            [word, *(_write(scores[f"median_{key}{of}"]) for of in ("", "_of_real_rows"))]
            for word, key in (("distance to the closest record", "distance"), ("ratio", "ratio"))
        ]
        _print(console, ["median", "synthetic rows", whose], lines)
        for key, words in SCORES.items():
            if scores[key] is not None:
                layout.say(console, f"{key.replace('_', ' ')} {_write(scores[key])} ({words})", "")
        text = f"{leaked:,} of {n:,} rows are nearer to a real record than 99% of real rows are; "
        layout.say(console, f"{text}about {LEAKED_SHARE * n:.0f} would be by chance", "bold")
        if leaked:
            lines = [[_write(one[h]) for h in one if h != "share"] for one in self.leaks]
            _print(console, ["row", "record", "distance", "ratio", "because"], lines)
            some = [[one["column"], *map(percent, [*one.values()][1:])] for one in self.columns]
            heads = ["column", "equal to the record", "of real rows"]
            _print(console, heads, some[:MAX_SHOWN_COLUMNS])
        if not held:
            note = "without a holdout, rows that are typical look like rows that leaked: give "
            layout.say(console, f"{note}real rows that were not used, where there are any")
        if self.left_out:
            layout.say(console, f"not compared: {', '.join(self.left_out)}")


def _print(console: Console, heads: list[str], lines: list[list[str]]) -> None:
    aligned = [(head, "fold" if head == "because" else "left") for head in heads]
    console.print(layout.grid(aligned, lines))


def _median(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else None


def _write(value: Any) -> str:
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3g}"
    return "–" if value is None else str(value)
