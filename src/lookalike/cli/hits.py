"""Rows that were found, as a table for people, as CSV and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike._show import clean, plain, short
from lookalike.cli import output as out

if TYPE_CHECKING:
    from lookalike.search import Hit, Hits
    from lookalike.table import Column, Table

__all__ = ["reason_text", "show_hits", "to_json", "to_rows"]

OURS = ("row", "distance", "similarity")  # the first columns of the CSV form
NUMBERS = 30  # characters taken by row, distance and similarity
DISTANCE = 10  # of them by the distance
REASONS = 44  # characters kept for the two columns of reasons


def to_json(hits: Hits, row: int | None, why: bool) -> dict[str, Any]:
    """Return the query and the hits as plain values.

    Parameters
    ----------
    hits : Hits
    row : int or None
        The row that was asked about; None for a record.
    why : bool
        Whether to give the reasons.
    """
    found = []
    for hit in hits:
        values = dict(zip(OURS, (hit.id, hit.distance, hit.similarity), strict=True))
        if why:
            values["for"], values["against"] = hit.reasons()
        found.append(values | {"record": hit.row})
    return {"query": {"row": row, "record": hits.query}, "hits": found, "note": hits.note}


def to_rows(hits: Hits, table: Table, why: bool) -> tuple[list[str], list[list[Any]]]:
    """Return headings and rows; a column of the table named like one of ours gets a prefix."""
    names = [column.name for column in table.aside + table.columns]
    reserved = (*OURS, "for", "against") if why else OURS
    heads = [*reserved, *(f"table.{name}" if name in reserved else name for name in names)]
    rows = []
    for hit in hits:
        values = [hit.id, hit.distance, hit.similarity]
        if why:
            values += ["; ".join(map(reason_text, side)) for side in hit.reasons()]
        rows.append(values + [hit.row[name] for name in names])
    return heads, rows


def show_hits(
    hits: Hits,
    table: Table,
    row: int | None,
    title: str,
    *,
    why: bool,
    reason: str | None = None,
    only: tuple[str, ...] = (),
) -> None:
    """Print the row that was asked about, then the rows found, nearest first.

    Parameters
    ----------
    hits : Hits
    table : Table, whose columns are shown
    row : int or None, the row that was asked about
    title : str
    why : bool
        Whether to show reasons. They add up to the similarity, so the distance makes room for them.
    reason : str, optional
        Why rows are compared as they are.
    only : names of the columns to show, instead of as many as fit
    """
    console = out.make_console()
    numbers = ("row", "similarity") if why else OURS
    room = console.width - NUMBERS - (REASONS - DISTANCE if why else 0)
    columns, left = ([table[name] for name in only], []) if only else _fitting(hits, table, room)
    heads = [(name, "right") for name in numbers]
    heads += [(c.name, "right" if c.kind.name == "number" else "left") for c in columns]
    if why:
        heads += [("for: query | found", "fold"), ("against", "fold")]
    lines = out.grid(heads)
    start = ["" if row is None else str(row), *[""] * (len(numbers) - 1)]
    start += [short(hits.query[c.name]) if c.name in hits.query else "" for c in columns]
    lines.add_row(*out.cells(start), *[""] * (2 * why), style="bold", end_section=True)
    for hit in hits:
        lines.add_row(*out.cells(_line(hit, numbers, columns, why)))
    out.headline(console, title)
    if reason is not None:
        out.say(console, reason)
    console.print(lines)
    if hits.note is not None:
        out.say(console, f"note: {hits.note}")
    if left:
        more = f" and {len(left) - 6} more" if len(left) > 6 else ""
        out.say(console, f"not shown: {', '.join(left[:6])}{more} (csv and json have every column)")


def _line(
    hit: Hit, numbers: tuple[str, ...], columns: list[Column], why: bool
) -> list[str | list[str]]:
    values = {
        "row": str(hit.id),
        "distance": _number(hit.distance),
        "similarity": _number(hit.similarity),
    }
    line: list[str | list[str]] = [values[name] for name in numbers]
    line += [short(hit.row[column.name]) for column in columns]
    if why:
        line += [list(map(reason_text, side)) or "–" for side in hit.reasons()]
    return line


def reason_text(reason: dict[str, Any]) -> str:
    """Write one reason: the column and the two cells compared, or the one cell they share.

    Examples
    --------
    >>> reason_text({"column": "budget", "query": 11000000.0, "found": 18500000.0})
    'budget 11M | 18.5M'
    >>> reason_text({"column": "mpaa", "query": "PG", "found": "PG"})
    'mpaa = PG'
    """
    name, query, found = clean(reason["column"]), reason["query"], reason["found"]
    if plain(query) == plain(found):
        return f"{name} = {_brief(found)}"
    return f"{name} {_brief(query)} | {_brief(found)}"


def _brief(cell: Any) -> str:
    if isinstance(cell, float) and 1e6 <= abs(cell) < 1e12:
        return f"{cell / 1e6:.4g}M" if abs(cell) < 1e9 else f"{cell / 1e9:.4g}G"
    return short(cell, 20 if isinstance(cell, str | frozenset) else 10)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _fitting(hits: Hits, table: Table, room: int) -> tuple[list[Column], list[str]]:
    """Choose the columns that fit, those that name a row before the others; name those left out."""

    def rank(column: Column) -> int:
        names_rows = column.kind.reason.startswith("identifier") or column.kind.name == "text"
        return 0 if names_rows else 1 + (column.name not in table)

    shown: list[Column] = []
    left: list[str] = []
    # Sorting is stable: within a rank the columns stay in the order of the file.
    for column in sorted(table.aside + table.columns, key=rank):
        shorts = [short(hit.row[column.name]) for hit in hits]
        width = max(map(len, [*shorts, column.name])) + 2
        if shown and width > room:
            left.append(column.name)
        else:
            shown.append(column)
            room -= width
    return shown, left
