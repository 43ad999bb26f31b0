"""``lookalike index``: an index of a table in one file, which every verb takes in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli import output as out
from lookalike.cli.advice import in_options
from lookalike.cli.compiling import compile_note
from lookalike.cli.inspect_command import summary_grid
from lookalike.cli.measure import AUTO, pick_measure, set_seed
from lookalike.cli.options import Columns, Form, MeasureName, Seed, Weight
from lookalike.cli.source import SAVED, Source, takes_table
from lookalike.cli.verbs import add_verb
from lookalike.errors import InvalidInput, message

if TYPE_CHECKING:
    from lookalike.search import Index

__all__ = ["index"]

index = typer.Typer(
    no_args_is_help=True, help="Build, extend and look at an index that is kept in a file."
)

Saved = Annotated[
    str, typer.Argument(metavar="INDEX", help="A saved index, NAME.lookalike.", show_default=False)
]


@takes_table
def build(
    source: Source,
    to: Annotated[
        str,
        typer.Option(
            "-o",
            "--to",
            metavar="FILE",
            help="Where to write it: NAME.lookalike.",
            show_default=False,
        ),
    ],
    measure: MeasureName = AUTO,
    weight: Weight = None,
    columns: Columns = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="COLUMN",
            help="A column whose values name the rows; without it they are counted from 0.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Fit a measure to a table and write both to one file."""
    from lookalike._atomic import check_writable

    if not to.lower().endswith(SAVED):
        do = f"Write -o {to}{SAVED}"
        raise InvalidInput(message("-o", f"a name that ends in {SAVED}", repr(to), do))
    check_writable(to)
    loaded = source.load().compared_by(columns)
    with compile_note():
        from lookalike.search import Index

        chosen, reason = pick_measure(measure, loaded, weights=weight)
        made = Index(set_seed(chosen, seed), id_column=id_column).fit(loaded.table)
    made.save(to)
    console = out.make_console()
    name = type(made.measure_).__name__
    out.headline(console, f"{to}: {len(made):,} rows of {loaded.name}, compared by {name}")
    if reason is not None:
        out.say(console, reason)
    out.say(console, f"ask it: lookalike search {to} --row {made.ids[0]}")


def add(
    file: Saved,
    rows: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A table of more rows with the same columns.", show_default=False
        ),
    ],
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the measure again, to old and new rows.")
    ] = False,
) -> None:
    """Add rows to an index; they are read as its first rows were."""
    source = Source(file)
    made = load(file)
    new = source.read_like(rows, made.schema_, "index add")
    with compile_note():
        ids = made.add(new)
        if refit:
            made.refit()
    made.save(file)
    console = out.make_console()
    many = f"{len(ids):,} row" + ("" if len(ids) == 1 else "s")
    out.headline(console, f"{file}: {many} added, {len(made):,} in all")
    out.say(console, f"their ids: {ids[0]} to {ids[-1]}" if len(ids) > 1 else f"its id: {ids[0]}")


def info(file: Saved, output: Form = out.Output.table) -> None:
    """Show what an index holds: rows, measure, and each column with its kind."""
    made = load(file)
    summary = made.table.summary()
    name = type(made.measure_).__name__
    if output is out.Output.table:
        console = out.make_console()
        out.headline(console, f"{file}: {summary.title}, compared by {name}")
        out.say(console, made.reason_)
        console.print(summary_grid(summary))
        return
    records = summary.records()

    def document() -> dict[str, Any]:
        about = {"file": file, "rows": len(made), "measure": name, "reason": made.reason_}
        return about | {"id_column": made.id_column, "columns": records}

    rows = [one | {"warnings": "; ".join(one["warnings"])} for one in records]
    out.write(output, list(rows[0]), [list(row.values()) for row in rows], document)


def check(file: Saved) -> None:
    """Say whether the file is whole, and whether added rows still look like the fitted ones."""
    made = load(file)  # whatever is damaged is named here
    drift = made.drift()
    console = out.make_console()
    out.headline(console, f"{file}: the file is whole, {len(made):,} rows")
    out.say(console, in_options(str(drift)).replace("\n", "; "), "")
    if drift.refit:
        out.warn("the added rows differ from the fitted ones: build the index again, or --refit")


def load(file: str) -> Index:
    """Load a saved index."""
    if not file.lower().endswith(SAVED):
        do = "Make one with: lookalike index build TABLE -o NAME.lookalike"
        raise InvalidInput(message("index", f"a saved index (NAME{SAVED})", repr(file), do))
    return Source(file).load_index()


BUILD = ("lookalike index build films.csv -o films.lookalike",)
ADD = ("lookalike index add films.lookalike more.csv",)
INFO = ("lookalike index info films.lookalike",)
CHECK = ("lookalike index check films.lookalike",)
add_verb(index, "build", build, BUILD)
add_verb(index, "add", add, ADD)
add_verb(index, "info", info, INFO)
add_verb(index, "check", check, CHECK)
EXAMPLES = BUILD + ADD + INFO + CHECK
