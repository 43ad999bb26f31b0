"""``lookalike index``: an index of a table in one file, or in a folder if it is larger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli import output as out
from lookalike.cli.build import Group, add_command, add_verb
from lookalike.cli.compiling import compile_note
from lookalike.cli.folders import (
    FolderBuild,
    add_files,
    ask_it,
    build_folder,
    check_folder,
    is_parquet,
    is_pattern,
)
from lookalike.cli.output import Form, check_form
from lookalike.cli.reading import FileSource, Scheduler, need_shards
from lookalike.errors import InvalidInput
from lookalike.verbs.annotations import Columns, Filter, MeasureLike, Weights
from lookalike.verbs.measures import AUTO, choose_measure, name_measure
from lookalike.verbs.source import SAVED, is_index_folder, is_saved_index, load_index

if TYPE_CHECKING:
    from lookalike.index import Index

index = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Build, extend and inspect an index that is kept in a file or a folder.",
)

Saved = Annotated[
    str,
    typer.Argument(
        metavar="INDEX",
        help="A saved index, NAME.lookalike, or the folder of one.",
        show_default=False,
    ),
]


def build(
    source: FileSource,
    to: Annotated[
        str,
        typer.Option(
            "-o",
            "--to",
            metavar="FILE|FOLDER",
            help="Where to write it: NAME.lookalike, or a folder.",
            show_default=False,
        ),
    ],
    more: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="More Parquet files with the same columns; the index is then a folder.",
            show_default=False,
        ),
    ] = None,
    measure: MeasureLike = AUTO,
    weights: Weights = None,
    columns: Columns = None,
    filter: Filter = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="COLUMN",
            help="A column whose values name the rows; without it they are counted from 0.",
            show_default=False,
        ),
    ] = None,
    shards: Annotated[
        bool,
        typer.Option(
            "--shards",
            help="Write a folder: Parquet is read in parts, and rows need not fit in memory.",
        ),
    ] = False,
    scheduler: Scheduler = None,
) -> None:
    """Fit a measure to a table and write both to one file, or to a folder.

    Several Parquet files, a folder of them or a pattern make a folder of shards: rows stay on
    disk, and a build that was stopped continues where it was.
    """
    from lookalike._runtime.files import check_writable

    asked = FolderBuild(
        source, to, more or [], measure, weights, columns, filter, id_column, scheduler
    )
    if asked.wants_folder(shards):
        build_folder(asked)
        return
    if not to.lower().endswith(SAVED):
        hint = f"Write -o {to}{SAVED}, or add --shards for a folder"
        raise InvalidInput("-o", f"a name that ends in {SAVED}", repr(to), hint)
    check_writable(to)
    rows = source.rows(filter).compared_by(columns)
    with compile_note():
        from lookalike.index import Index

        chosen, reason = choose_measure(measure, rows, weights)
        made = Index(chosen, id_column=id_column).fit(rows.table)
    made.save(to)
    console = out.make_console()
    name = name_measure(made.measure_)
    out.headline(console, f"{to}: {len(made):,} rows of {rows.name}, compared by {name}")
    if reason is not None:
        out.say(console, reason)
    out.say(console, ask_it(to, made.ids[0]))


def add(
    file: Saved,
    rows: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A table of more rows with the same columns.", show_default=False
        ),
    ],
    more: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="More of them, for the folder of an index.",
            show_default=False,
        ),
    ] = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the measure again, to old and new rows.")
    ] = False,
    scheduler: Scheduler = None,
) -> None:
    """Add rows to an index; they are read as its first rows were.

    Parquet files go into the folder of an index part by part: they need not fit in memory.
    """
    files = [rows, *(more or [])]
    if refit and is_index_folder(file):
        hint = "Build a new folder from all files"
        raise InvalidInput("--refit", "an index in one file", "one in a folder", hint)
    if scheduler is not None:
        need_shards(file)
    if is_index_folder(file) and (scheduler or all(is_parquet(f) or is_pattern(f) for f in files)):
        added, every = add_files(file, files, scheduler)
        console = out.make_console()
        out.headline(console, f"{file}: {plural(added)} added, {every:,} in all")
        return
    if len(files) > 1:
        hint = "Add one table after another, or Parquet files to the folder of an index"
        raise InvalidInput("index add", "one table", f"{len(files)}", hint)
    made = load(file)
    new = FileSource(file).read_like(rows, made.schema_, "index add")
    with compile_note():
        ids = made.add(new)
        if refit:
            made.refit()
    if made.folder is None:
        made.save(file)
    console = out.make_console()
    out.headline(console, f"{file}: {plural(len(ids))} added, {len(made):,} in all")
    out.say(console, f"their ids: {ids[0]} to {ids[-1]}" if len(ids) > 1 else f"its id: {ids[0]}")


def info(file: Saved, output: Form = None) -> None:
    """Show what an index holds: rows, measure, and each column with its kind."""
    form = check_form(output or "text")
    made = load(file)
    summary = made.sample.summary()
    if form != "text":
        about = {"file": file, "rows": len(made), "measure": type(made.measure_).__name__}
        about |= {"reason": made.reason_, "id_column": made.id_column}
        out.write(form, summary.cells, lambda: about | {"columns": summary.records()})
        return
    title = summary.title
    if made.folder is not None:  # what is said about columns is said of some of its rows
        shards = len(made.state_.segments.segments)
        title = f"{len(made):,} rows in {shards:,} shard{'' if shards == 1 else 's'}, "
        title += f"{len(summary)} columns (shown by {summary.n_rows:,} rows)"
    console = out.make_console()
    out.headline(console, f"{file}: {title}, compared by {name_measure(made.measure_)}")
    if made.reason_ != "given":
        out.say(console, made.reason_)
    console.print(summary.table())


def delete(
    file: Saved,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Rows to delete.", show_default=False)
    ],
) -> None:
    """Delete rows from an index, by their ids."""
    made = load(file)
    numbered = made.id_column is None
    for word in ids:
        if numbered and not word.isdigit():
            hint = "Ids of this index are whole numbers"
            raise InvalidInput("index delete", "the id of a row", repr(word), hint)
    wanted = [int(word) if numbered else as_stored(made, word) for word in ids]
    made.delete(wanted)
    if made.folder is None:
        made.save(file)
    console = out.make_console()
    out.headline(console, f"{file}: {plural(len(ids))} deleted, {len(made):,} left")


def compact(file: Saved) -> None:
    """Drop deleted rows for good and join small parts; ids and answers stay the same."""
    made = load(file)
    before = made.state_.segments.segments
    dropped = sum(len(part) - part.n_alive for part in before)
    made.compact()
    if made.folder is None:
        made.save(file)
    parts = len(made.state_.segments.segments)
    console = out.make_console()
    now = f"{plural(len(made))} in {parts:,} part{'' if parts == 1 else 's'}"
    out.headline(
        console, f"{file}: {now} ({len(before):,} before), {plural(dropped)} dropped for good"
    )


def plural(rows: int) -> str:
    """Return a number of rows in words."""
    return f"{rows:,} row" + ("" if rows == 1 else "s")


def as_stored(made: Index, word: str) -> Any:
    """Return an id as the index has it: a number may be the id that was typed."""
    if word in made or not word.lstrip("-").isdigit():
        return word
    return int(word)


def check(
    file: Saved,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Write damaged shards of a folder again from their files."),
    ] = False,
    scheduler: Scheduler = None,
) -> None:
    """Say whether the files are whole, and whether added rows still look like the fitted ones."""
    if scheduler is not None:
        need_shards(file)
    if is_index_folder(file):
        check_folder(file, repair, scheduler)
        drift = load(file).drift()
        if drift.refit:
            out.warn("the added rows differ from the fitted ones: build the index again")
        return
    made = load(file)  # whatever is damaged is named here
    drift = made.drift()
    console = out.make_console()
    out.headline(console, f"{file}: the file is whole, {len(made):,} rows")
    out.say(console, str(drift).replace("\n", "; "), "")
    if drift.refit:
        out.warn("the added rows differ from the fitted ones: build the index again, or --refit")


def load(file: str) -> Index:
    """Load a saved index."""
    if not is_saved_index(file):
        hint = "Make one with: lookalike index build TABLE -o NAME.lookalike"
        raise InvalidInput("index", f"a saved index (NAME{SAVED})", repr(file), hint)
    return load_index(file)


BUILD = ("lookalike index build films.csv -o films.lookalike",)
ADD = ("lookalike index add films.lookalike more.csv",)
QUERY = ("lookalike index query films.lookalike --row 3 -k 5",)
INFO = ("lookalike index info films.lookalike",)
CHECK = ("lookalike index check films.lookalike",)
DELETE = ("lookalike index delete films.lookalike 3 14",)
COMPACT = ("lookalike index compact films.lookalike",)
add_command(index, "build", build, BUILD)
add_command(index, "add", add, ADD)
add_verb(index, "search", name="query", examples=QUERY)
add_command(index, "info", info, INFO)
add_command(index, "check", check, CHECK)
add_command(index, "delete", delete, DELETE)
add_command(index, "compact", compact, COMPACT)
EXAMPLES = BUILD + ADD + QUERY + INFO + CHECK + DELETE + COMPACT
