"""``lookalike compare``: which measure suits a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lookalike._options import split_options
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import make_measure
from lookalike.cli.options import (
    File,
    Form,
    Html,
    Kinds,
    Label,
    Missing,
    Neighbors,
    Seed,
    check_page,
    read,
)
from lookalike.errors import InvalidInput, message

if TYPE_CHECKING:
    from lookalike.leaderboard import Leaderboard
    from lookalike.measures import Measure

__all__ = ["compare"]


def compare(
    file: File,
    label: Label = None,
    measures: Annotated[
        str | None,
        typer.Option(
            "--measures",
            metavar="A,B",
            help="Measures by name, with options after a colon: gower,vector:scale=standard. "
            "Without it: all that there are, and repairs of the best.",
            show_default=False,
        ),
    ] = None,
    k: Neighbors = 5,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            min=3,
            help="Rows to try, of a larger table. [default: 2000]",
            show_default=False,
        ),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds",
            min=0,
            help="Begin no further measure after this time.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    kinds: Kinds = None,
    missing: Missing = None,
    output: Form = out.Output.table,
    html: Html = None,
) -> None:
    """Try measures on a table, best first, and say which one to take."""
    check_page(html)
    chosen = None if measures is None else read_measures(measures)
    table = read(file, kinds, missing)
    with compile_note():
        from lookalike.leaderboard import compare as compare_measures

        board = compare_measures(
            table, chosen, label, k, max_seconds=max_seconds, sample=sample, random_state=seed
        )
    if html is not None:
        board.to_html(html)
        out.note(f"wrote {html}")
    if output is out.Output.json:
        out.write_json(board.to_dict())
    elif output.is_csv:
        records = board.records()
        out.write_csv(list(records[0]), [list(record.values()) for record in records], form=output)
    else:
        show_board(board, file)


def read_measures(text: str) -> dict[str, Measure]:
    """Read measures by name; a part that is only ``option=value`` belongs to the one before.

    Examples
    --------
    >>> read_measures("gower,vector:metric=cosine,scale=minmax")
    {'gower': Gower(), 'vector:metric=cosine,scale=minmax': Vector(metric='cosine', scale='minmax')}
    """
    names: list[str] = []
    for part in split_options(text):
        part = part.strip()
        goes_on = "=" in part and ":" not in part.partition("=")[0]
        if goes_on and names and ":" in names[-1]:
            names[-1] += f",{part}"
        else:
            names.append(part)
    if not names:
        raise InvalidInput(
            message("--measures", "names of measures", repr(text), "Try gower,ranked")
        )
    return {name: make_measure(name) for name in names}


def show_board(board: Leaderboard, file: str) -> None:
    """Print a leaderboard for people."""
    console = out.make_console()
    out.headline(console, f"{file}: {board.title}")
    rows = board.rows()
    if rows:
        # Figures stay whole; a long name takes several lines.
        heads = [("measure", "fold"), *((head, "right") for head in board.heads()[1:])]
        table = out.grid(heads)
        for row in rows:
            table.add_row(*out.cells(row))
        console.print(table)
    for remark in board.remarks():
        out.say(console, remark, "")
