"""Why two rows are alike: contributions per column that add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lookalike._frame import make_frame
from lookalike._show import clean
from lookalike.pages.markup import AGAINST, FOR, Html, table

__all__ = ["Explanation", "shared_out"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each column contributed to a similarity.

    Parameters
    ----------
    similarity, distance : float
        The two numbers that are explained.
    plus : mapping of column to float
        What speaks for likeness; sums to the similarity. The key None holds what belongs to no
        column.
    minus : mapping of column to float
        What speaks against it; sums to 1 - similarity.
    factors : mapping of name to float
        Further numbers, such as the scales of the two neighborhoods.
    inner : mapping of name to Explanation
        Explanations of the measures this one is made of.
    cells : mapping of column to the pair of cells compared, for display
    """

    similarity: float
    distance: float
    plus: Mapping[str | None, float]
    minus: Mapping[str | None, float]
    factors: Mapping[str, float] = field(default_factory=dict)
    inner: Mapping[str, Explanation] = field(default_factory=dict)
    cells: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str | None]:
        """Columns in order of first mention, None last."""
        names = dict.fromkeys([*self.plus, *self.minus])
        return [name for name in names if name is not None] + [None] * (None in names)

    def reasons(self, n: int = 2) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the n strongest reasons for and against, as (column, contribution)."""
        sides = []
        for side in (self.plus, self.minus):
            named = [(name, value) for name, value in side.items() if name is not None]
            strong = sorted(named, key=lambda pair: -pair[1])
            sides.append([(name, value) for name, value in strong[:n] if value > 1e-12])
        return sides[0], sides[1]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns ``column``, ``plus`` and ``minus`` as lists."""
        names = self.columns
        return {
            "column": names,
            "plus": [float(self.plus.get(name, 0.0)) for name in names],
            "minus": [float(self.minus.get(name, 0.0)) for name in names],
        }

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the contributions as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        return make_frame(self.to_dict(), backend)

    def __str__(self) -> str:
        lines = [f"similarity {self.similarity:.3f}, distance {self.distance:.4g}"]
        width = max([len(str(name)) for name in self.columns if name is not None] + [7])
        for name in self.columns:
            plus, minus = self.plus.get(name, 0.0), self.minus.get(name, 0.0)
            shown = "(other)" if name is None else clean(str(name))
            cells = ""
            if name is not None and name in self.cells:
                one, two = (show(cell) for cell in self.cells[name])
                cells = f"   {one} | {two}"
            lines.append(f"  {shown:<{width}}  +{plus:.3f}  -{minus:.3f}{cells}")
        lines += [f"  {name} = {value:.4g}" for name, value in self.factors.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Return a table with a bar for and a bar against per column; needs no script or style."""
        top = max([*self.plus.values(), *self.minus.values(), 1e-12])
        rows = []
        for name in self.columns:
            cells = ["(other)" if name is None else str(name)]
            if self.cells:
                pair = self.cells.get(name, ("", "")) if name is not None else ("", "")
                cells += [show(cell) for cell in pair]
            minus, plus = self.minus.get(name, 0.0), self.plus.get(name, 0.0)
            bars = [_bar(minus, top, AGAINST, "right"), _bar(plus, top, FOR, "left")]
            rows.append([*cells, *bars])
        heads = ["column", "one", "other"] if self.cells else ["column"]
        title = f"similarity {self.similarity:.3f}, distance {self.distance:.4g}"
        return table(rows, [*heads, "against", "for"], title)


def _bar(value: float, top: float, color: str, side: str) -> Html:
    """Return a bar that grows toward one side; the largest contribution is 8 letters long."""
    return Html(
        f'<div style="width:8em"><div style="width:{100 * value / top:.1f}%;height:0.8em;'
        f'background:{color};float:{side}" title="{value:.4f}"></div></div>'
    )


def show(cell: Any, longest: int = 28) -> str:
    """Write a cell in a few characters."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.6g}"
    if isinstance(cell, frozenset | set):
        text = ", ".join(sorted(map(str, cell))) or "(none)"
    elif isinstance(cell, list | tuple) and cell and isinstance(cell[0], float):
        text = "[" + " ".join(f"{value:.2g}" for value in cell) + "]"
    else:
        text = str(cell)
    text = clean(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def shared_out(total: float, parts: Mapping[str | None, float]) -> dict[str | None, float]:
    """Share a total out in the proportions of other contributions."""
    whole = sum(parts.values())
    if not whole > 0:
        return {None: total}
    return {name: total * (part / whole) for name, part in parts.items()}
