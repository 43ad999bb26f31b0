"""Rows that were found, as lines for people, as CSV and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli import output as out

if TYPE_CHECKING:
    from lookalike.index import Hits
    from lookalike.table import Table

OURS = ("row", "distance", "similarity")  # the first columns of the CSV form


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
            values += ["; ".join(reason.text for reason in side) for side in hit.phrases()]
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
    """Print the row that was asked about, then the rows found, nearest first, a line for each.

    Parameters
    ----------
    hits : Hits
    table : Table, whose columns are shown
    row : int or None, the row that was asked about
    title : str
    why : bool
        Whether to show reasons: in quiet lines below each row, or beside it where there is room.
    reason : str, optional
        Why rows are compared as they are.
    only : names of the columns to show, instead of as many as fit
    """
    from lookalike.cli.hit_lines import Layout

    console = out.make_console()
    out.headline(console, title)
    if reason is not None:
        out.say(console, reason)
    layout = Layout(hits, table, console.width, why=why, only=only)
    for line in layout.lines(row):
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
    if hits.note is not None:
        out.say(console, f"note: {hits.note}")
    left = layout.left
    if left:
        more = f" and {len(left) - 6} more" if len(left) > 6 else ""
        out.say(console, f"not shown: {', '.join(left[:6])}{more} (csv and json have every column)")
