"""``lookalike compare``: which measure suits a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lookalike._runtime.options import split_options
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import make_measure
from lookalike.cli.options import Columns, Form, Html, Label, Neighbors, Seed, check_page
from lookalike.cli.source import Source, takes_table
from lookalike.cli.spelling import spell_option
from lookalike.errors import InvalidInput, spelled

if TYPE_CHECKING:
    from lookalike.leaderboard import Leaderboard
    from lookalike.measures import Measure

EXAMPLES = (
    "lookalike compare penguins.csv --label species",
    "lookalike compare penguins.csv --measures gower,ratio:n_trees=50 --sample 200",
)
# Headings that make room on a narrow terminal, the first to go first.
LEAST = ("peak", "kept", "fit", "ties", "search", "silhouette", "hubness", "same label")
NAME = 48  # characters of a measure's name before it takes a second line


@takes_table
def compare(
    source: Source,
    label: Label = None,
    measures: Annotated[
        str | None,
        typer.Option(
            "--measures",
            metavar="A,B",
            help="Measures by name, with options after a colon: gower,vector:scale=standard. "
            "All of them, and repairs of the best, unless given.",
            show_default=False,
        ),
    ] = None,
    k: Neighbors = 5,
    columns: Columns = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            min=3,
            help="Rows to try, of a larger table; 2000 unless given.",
            show_default=False,
        ),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds",
            metavar="N",
            min=0,
            help="Start no further measure after this many seconds.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    output: Form = out.Output.table,
    html: Html = None,
) -> None:
    """Compare measures on a table, best first, and recommend one."""
    check_page(html)
    chosen = None if measures is None else read_measures(measures)
    loaded, truth = source.load().without_label(label)
    loaded = loaded.compared_by(columns)
    with compile_note():
        from lookalike.leaderboard import compare as compare_measures

        board = compare_measures(
            loaded.table,
            chosen,
            truth,
            k,
            max_seconds=max_seconds,
            sample=sample,
            random_state=seed,
        )
    if html is not None:
        board.to_html(html)
        out.note(f"wrote {html}")
    if output is out.Output.table:
        show_board(board, loaded.name)
        return
    records = board.records()
    rows = [list(record.values()) for record in records]
    out.write(output, list(records[0]), rows, board.to_dict)


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
        raise InvalidInput("--measures", "names of measures", repr(text), "Try gower,ranked")
    return {name: make_measure(name, "--measures") for name in names}


def show_board(board: Leaderboard, file: str) -> None:
    """Print a leaderboard for people: the choice, the figures that fit, then the notes."""
    console = out.make_console()
    out.headline(console, f"{file}: {board.title}")
    choice, *remarks = board.remarks()
    out.say(console, choice, "")
    heads, rows = board.heads(), board.rows()
    if rows:
        brief = [[row[0][:NAME], *row[1:]] for row in rows]
        shown = out.fitting(heads, brief, console.width, LEAST)
        # Figures stay whole; a very long name takes several lines.
        table = out.grid([(heads[at], "right" if at else "fold") for at in shown])
        for row in rows:
            table.add_row(*out.cells([row[at] for at in shown]))
        console.print(table)
        left = [head for at, head in enumerate(heads) if at not in shown]
        if left:
            out.say(console, f"not shown at this width: {', '.join(left)} (csv and json have all)")
    for remark in remarks:
        out.say(console, spelled(remark, spell_option), "")
