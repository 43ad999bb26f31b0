"""``lookalike search``: the rows nearest to a row of the table, or to a record given as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.hits import show_hits, to_json, to_rows
from lookalike.cli.measure import AUTO, read_measure
from lookalike.cli.options import (
    Columns,
    File,
    Form,
    Kinds,
    MeasureName,
    Missing,
    read,
    read_json,
    read_weights,
    select_columns,
)
from lookalike.errors import InvalidInput, message

if TYPE_CHECKING:
    from lookalike.search import Hits

__all__ = ["search"]


def search(
    file: File,
    row: Annotated[
        int | None,
        typer.Option("--row", help="Which row to start from, counted from 0.", show_default=False),
    ] = None,
    like: Annotated[
        str,
        typer.Option(
            "--like",
            metavar="JSON",
            help="A record to start from, such as '{\"year\": 1977}'; columns it does not name "
            "are missing.",
            show_default=False,
        ),
    ] = "",
    k: Annotated[int, typer.Option("-k", min=1, help="How many rows to find.")] = 10,
    measure: MeasureName = AUTO,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            metavar="COLUMN=NUMBER",
            help="How much a column matters: genres=3 counts three times, budget=0 not at all. "
            "May be repeated. Needs a measure that weighs columns, such as gower.",
            show_default=False,
        ),
    ] = None,
    columns: Columns = None,
    kinds: Kinds = None,
    missing: Missing = None,
    why: Annotated[
        bool,
        typer.Option("--why", help="Show the two strongest reasons for and against each row."),
    ] = False,
    output: Form = out.Output.table,
) -> None:
    """Find the rows most like a row of the table, or like a record."""
    if (row is None) == (not like):  # typer has no word for "exactly one of the two"
        raise typer.BadParameter(
            "give either a row of the table or a record", param_hint="--row/--like"
        )
    chosen = read_measure(measure)
    weights = read_weights(weight)
    query: int | dict[str, Any] = read_json(like, "--like") if row is None else row
    table = select_columns(read(file, kinds, missing), columns)
    if row is not None and not 0 <= row < len(table):
        do = "Count rows from 0, without the line of headings"
        raise InvalidInput(message("--row", f"a row from 0 to {len(table) - 1}", str(row), do))
    with compile_note():
        from lookalike.search import Index, choose_measure

        reason = None
        if chosen == AUTO and weights:
            chosen, reason = choose_measure(table, weighs_columns=True)
        index = Index(chosen).fit(table)
        hits: Hits = index.search(query, k, weights=weights)  # type: ignore[assignment]
    name = type(index.measure_).__name__
    if chosen == AUTO:
        reason = index.reason_
    if output is out.Output.json:
        out.write_json({"measure": name, "reason": reason, **to_json(hits, row, why)})
    elif output.is_csv:
        out.write_csv(*to_rows(hits, table, why), form=output)
    else:
        start = "the record" if row is None else f"row {row}"
        rows = f"{len(hits)} rows" if len(hits) != 1 else "row"
        title = f"{file}: the {rows} most like {start}, by {name}"
        show_hits(hits, table, row, title, why=why, reason=reason)
    if len(hits) < k:
        out.note(f"{k:,} rows were asked for, {len(hits):,} are there to be found")
    undefined = sum(hit.distance is None for hit in hits)
    if undefined:
        out.note(
            f"{undefined} of the {len(hits)} rows found have nothing to compare: "
            "no column is filled in both"
        )
