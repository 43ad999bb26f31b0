"""Rows that were found, as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.output import cells, clean, grid, headline, paper, plain, short

if TYPE_CHECKING:
    from lookalike.cli.search import Answer
    from lookalike.table import Column

__all__ = ["reason", "show"]

NUMBERS = 30  # characters taken by row, distance and similarity
DISTANCE = 10  # of them by the distance
REASONS = 44  # characters kept for the two columns of reasons


def show(answer: Answer, title: str, why: bool, only: tuple[str, ...] = ()) -> None:
    """Print an answer: the row that was asked about, then the rows found, nearest first.

    Parameters
    ----------
    answer : Answer
    title : str
    why : bool
        Whether to show reasons. They add up to the similarity, so the distance makes room for them.
    only : names of the columns to show, instead of as many as fit
    """
    console = paper()
    numbers = ("row", "similarity") if why else ("row", "distance", "similarity")
    room = console.width - NUMBERS - (REASONS - DISTANCE if why else 0)
    columns, left = _fitting(answer, room)
    if only:
        columns, left = [answer.table[name] for name in only], []
    heads = [(name, "right") for name in numbers]
    heads += [(c.name, "right" if c.kind.name == "number" else "left") for c in columns]
    if why:
        heads += [("for: asked | found", "fold"), ("against", "fold")]
    table = grid(heads)
    asked = answer.query.record(0)
    start = ["" if answer.row is None else str(answer.row), *[""] * (len(numbers) - 1)]
    start += [short(asked[c.name]) if c.name in asked else "" for c in columns]
    table.add_row(*cells(start), *[""] * (2 * why), style="bold", end_section=True)
    for hit in answer.hits:
        values = {"row": str(hit.row), "distance": _number(hit.distance)}
        values["similarity"] = _number(hit.similarity)
        told = [values[name] for name in numbers]
        told += [short(column.cell(hit.row)) for column in columns]
        if why:
            told += ["\n".join(map(reason, side)) or "–" for side in answer.reasons(hit)]
        table.add_row(*cells(told))
    headline(console, title)
    console.print(table)
    if left:
        more = f" and {len(left) - 6} more" if len(left) > 6 else ""
        text = f"not shown: {', '.join(left[:6])}{more} (csv and json have every column)"
        console.print(clean(text), style="dim", markup=False)


def reason(told: dict[str, Any]) -> str:
    """Write one reason: the column and the two cells compared, or the one cell they share.

    Examples
    --------
    >>> reason({"column": "budget", "query": 11000000.0, "found": 18500000.0})
    'budget 11M | 18.5M'
    >>> reason({"column": "mpaa", "query": "PG", "found": "PG"})
    'mpaa = PG'
    """
    name, asked, found = clean(told["column"]), _brief(told["query"]), _brief(told["found"])
    same = plain(told["query"]) == plain(told["found"])
    return f"{name} = {found}" if same else f"{name} {asked} | {found}"


def _brief(cell: Any) -> str:
    if isinstance(cell, float) and 1e6 <= abs(cell) < 1e12:
        return f"{cell / 1e6:.4g}M" if abs(cell) < 1e9 else f"{cell / 1e9:.4g}G"
    return short(cell, 20 if isinstance(cell, str | frozenset) else 10)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _fitting(answer: Answer, room: int) -> tuple[list[Column], list[str]]:
    """Choose the columns that fit, those that name a row before the others; name those left out."""

    def rank(column: Column) -> int:
        names_rows = column.kind.reason.startswith("identifier") or column.kind.name == "text"
        return 0 if names_rows else 1 + (column.name not in answer.table)

    shown: list[Column] = []
    left: list[str] = []
    # Sorting is stable: within a rank the columns stay in the order of the file.
    for column in sorted(answer.table.aside + answer.table.columns, key=rank):
        shorts = [short(column.cell(hit.row)) for hit in answer.hits]
        width = max(map(len, [*shorts, column.name])) + 2
        if shown and width > room:
            left.append(column.name)
        else:
            shown.append(column)
            room -= width
    return shown, left
