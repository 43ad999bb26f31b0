"""The answer to why two rows are alike, in the forms of every result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike._runtime.text import plain, short
from lookalike.measures.contract.explanation import Explanation
from lookalike.show import layout
from lookalike.show.result import Result, Spell

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, eq=False)
class PairExplanation(Result):
    """How alike two rows are, and what each column contributes.

    Parameters
    ----------
    name : str, of the table
    rows : pair of id or record
    measure : str, how they were compared
    explanation : Explanation
        The contributions, which add up to the similarity.
    """

    name: str
    rows: tuple[Any, Any]
    measure: str
    explanation: Explanation

    def cells(self) -> dict[str, list[Any]]:
        """Return a line per column, the strongest contribution first."""
        explanation = self.explanation
        names = explanation.strongest
        pairs = [explanation.cells.get(name or "", (None, None)) for name in names]
        return {
            "column": names,
            "row": [plain(pair[0]) for pair in pairs],
            "other": [plain(pair[1]) for pair in pairs],
            "for": [float(explanation.plus.get(name, 0.0)) for name in names],
            "against": [float(explanation.minus.get(name, 0.0)) for name in names],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the two rows, their similarity and the contributions of the columns."""
        columns = self.cells()
        explanation = self.explanation
        return {
            "row": plain(self.rows[0]),
            "other": plain(self.rows[1]),
            "measure": self.measure,
            "similarity": float(explanation.similarity),
            "distance": float(explanation.distance),
            "not_compared": list(explanation.not_compared),
            "columns": [
                dict(zip(columns, line, strict=True))
                for line in zip(*columns.values(), strict=True)
            ],
        }

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the similarity, then a line per column."""
        layout.headline(console, f"{self.name}: {self._pair()}, by {self.measure}")
        for line in str(self.explanation).splitlines():
            console.print(layout.cut(line, console.width), markup=False)
        if self.explanation.not_compared:
            layout.say(console, f"not compared: {', '.join(self.explanation.not_compared)}")

    def _pair(self) -> str:
        ids = ("a record" if isinstance(one, Mapping) else short(one) for one in self.rows)
        return f"why {' and '.join(ids)} are alike"

    def html_body(self) -> str:
        """Return the table of contributions, with bars."""
        return self.explanation.html_body()
