"""``lookalike index``: an index of a table in one file, or in a folder if it is larger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli import folders
from lookalike.cli import output as out
from lookalike.cli.build import Group, add_command
from lookalike.cli.folders import plural
from lookalike.cli.options import IdColumn, argument, option
from lookalike.cli.output import Form, check_form, compile_note
from lookalike.cli.reading import FileSource, Scheduler, need_shards
from lookalike.errors import InvalidInput
from lookalike.show.result import Console
from lookalike.verbs.annotations import Columns, Filter, MeasureLike, Weights
from lookalike.verbs.measures import (
    AUTO,
    choose_measure,
    name_measure,
    read_measure,
    weigh_columns,
)
from lookalike.verbs.search import find_row
from lookalike.verbs.source import SAVED, is_index_folder, is_saved_index, load_index

if TYPE_CHECKING:
    from lookalike.index import Index

index = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Build, extend and inspect an index that is kept in a file or a folder.",
)

Saved = Annotated[str, argument("INDEX", "A saved index, NAME.lookalike, or the folder of one.")]


def build(
    source: FileSource,
    to: Annotated[
        str,
        option("-o --to", "FILE|FOLDER", "Where to write it: NAME.lookalike, or a folder."),
    ],
    more: Annotated[
        list[str] | None,
        argument("FILE...", "More Parquet files with the same columns, for an index in a folder."),
    ] = None,
    measure: MeasureLike = AUTO,
    weights: Weights = None,
    columns: Columns = None,
    filter: Filter = None,
    id_column: IdColumn = None,
    shards: Annotated[
        bool,
        option(
            "--shards",
            None,
            "Write a folder: Parquet is read in parts, and rows need not fit in memory.",
        ),
    ] = False,
    scheduler: Scheduler = None,
) -> None:
    """Fit a measure to a table and write both to one file, or to a folder.

    Several Parquet files, a folder of them or a pattern make a folder of shards: rows stay on
    disk, and a build that was stopped continues where it was.

    Parameters
    ----------
    columns : names, optional
        Compare by these columns only; the others are still shown.
    """
    from lookalike._runtime.files import check_writable

    # A pattern, and a folder, name several files.
    if shards or scheduler or more or folders.names_several(source.file):
        from lookalike.measures.default import default_measure

        given: Any = read_measure(measure)
        if given == AUTO and weights:  # "auto" alone stays, and the folder keeps the reason for it
            given = default_measure()
        given = given if given == AUTO else weigh_columns(given, weights)
        options: dict[str, Any] = {"columns": columns, "filter": filter, "id_column": id_column}
        folders.build_folder(source, more or [], to, given, scheduler=scheduler, **options)
        return
    if not to.lower().endswith(SAVED):
        hint = f"Write -o {to}{SAVED}, or add --shards for a folder"
        raise InvalidInput("-o", f"a name that ends in {SAVED}", repr(to), hint)
    check_writable(to)  # before the work, which may take minutes
    rows = source.rows(filter).compared_by(columns)
    with compile_note():
        from lookalike.index import Index

        chosen, reason = choose_measure(measure, rows, weights)
        made = Index(chosen, id_column=id_column).fit(rows.table)
    made.save(to)
    name = name_measure(made.measure_)
    console = print_headline(to, f"{len(made):,} rows of {rows.name}, compared by {name}")
    if reason is not None:
        out.say(console, reason)
    out.say(console, folders.ask_it(to, made.ids[0]))


def add(
    file: Saved,
    rows: Annotated[str, argument("FILE", "A table of more rows with the same columns.")],
    more: Annotated[
        list[str] | None, argument("FILE...", "More of them, for an index in a folder.")
    ] = None,
    refit: Annotated[
        bool, option("--refit", None, "Fit the measure again, to old and new rows.")
    ] = False,
    scheduler: Scheduler = None,
) -> None:
    """Add rows to an index; they are read as its first rows were.

    Parquet files go into the folder of an index part by part: they need not fit in memory.
    """
    files = [rows, *(more or [])]
    # A folder holds codes of the fitted measure: refitting would rewrite every shard.
    if refit and is_index_folder(file):
        hint = "Build a new folder from all files"
        raise InvalidInput("--refit", "an index in one file", "one in a folder", hint)
    if scheduler is not None:
        need_shards(file)
    # Anything but Parquet has to be read into memory first, also for a folder.
    in_parts = all(map(folders.names_parquet, files))
    if is_index_folder(file) and (scheduler or in_parts):
        added, total = folders.add_files(file, files, scheduler)
        print_headline(file, f"{plural(added)} added, {total:,} in all")
        return
    if len(files) > 1:
        hint = "Add them one at a time, or Parquet files to the folder of an index"
        raise InvalidInput("index add", "one table", f"{len(files)}", hint)
    _add_table(file, rows, refit)


def _add_table(file: str, rows: str, refit: bool) -> None:
    made = load(file)
    # Read with the schema of the index: kinds are not guessed again from a few rows.
    new = FileSource(file).read_like(rows, made.schema_, "index add")
    with compile_note():
        ids = made.add(new)
        if refit:
            made.refit()
    save(made, file)
    console = print_headline(file, f"{plural(len(ids))} added, {len(made):,} in all")
    out.say(console, f"their ids: {ids[0]} to {ids[-1]}" if len(ids) > 1 else f"its id: {ids[0]}")


def info(file: Saved, output: Form = None) -> None:
    """Show what an index holds: rows, measure, and each column with its kind."""
    form = check_form(output or "text")
    made = load(file)
    # Of a folder a sample; rows in memory with those that were added.
    summary = (made.table if made.folder is None else made.sample).summary()
    if form != "text":
        about = {"file": file, "rows": len(made), "measure": type(made.measure_).__name__}
        about |= {"reason": made.reason_, "id_column": made.id_column}
        # As records: a program gets all columns of the summary, people those that fit.
        out.write(form, summary.cells, lambda: about | {"columns": summary.records()})
        return
    title = summary.title
    if made.folder is not None:  # columns are summarized by a sample
        shards = plural(len(made.state_.segments.segments), "shard")
        title = f"{plural(len(made))} in {shards}, {len(summary)} columns"
        title += f" (shown by {summary.n_rows:,} rows)"
    console = print_headline(file, f"{title}, compared by {name_measure(made.measure_)}")
    if made.reason_ != "given":
        out.say(console, made.reason_)
    console.print(summary.table())


def delete(file: Saved, ids: Annotated[list[str], argument("ID...", "Rows to delete.")]) -> None:
    """Delete rows from an index, by their ids."""
    made = load(file)
    made.delete([find_row(made, word, "ids") for word in ids])
    save(made, file)
    print_headline(file, f"{plural(len(ids))} deleted, {len(made):,} left")


def compact(file: Saved) -> None:
    """Drop deleted rows for good and join small parts; ids and answers stay the same."""
    made = load(file)
    before = made.state_.segments.segments
    dropped = sum(len(part) - part.n_live for part in before)
    made.compact()
    save(made, file)
    now = f"{plural(len(made))} in {plural(len(made.state_.segments.segments), 'part')}"
    print_headline(file, f"{now} ({len(before):,} before), {plural(dropped)} dropped for good")


def print_headline(file: str, text: str) -> Console:
    """Print what was done to an index; return the console for more."""
    console = out.make_console()
    out.headline(console, f"{file}: {text}")
    return console


def save(made: Index, file: str) -> None:
    """Write an index back to its file; one in a folder has written each change already."""
    if made.folder is None:
        made.save(file)


def check(
    file: Saved,
    repair: Annotated[
        bool, option("--repair", None, "Write damaged shards of a folder again from their files.")
    ] = False,
    scheduler: Scheduler = None,
) -> None:
    """Check that the files are whole, and that added rows still look like the fitted ones."""
    if scheduler is not None:
        need_shards(file)
    if is_index_folder(file):
        folders.check_folder(file, repair, scheduler)
        if load(file).drift().refit:
            out.warn("the added rows differ from the fitted ones: build the index again")
        return
    made = load(file)  # verifies every hash, and names what is damaged
    drift = made.drift()
    console = print_headline(file, f"the file is whole, {len(made):,} rows")
    out.say(console, str(drift).replace("\n", "; "), "")
    if drift.refit:
        out.warn("the added rows differ from the fitted ones: build the index again, or --refit")


def load(file: str) -> Index:
    """Load a saved index."""
    if not is_saved_index(file):
        hint = "Make one with: lookalike index build TABLE -o NAME.lookalike"
        raise InvalidInput("index", f"a saved index (NAME{SAVED})", repr(file), hint)
    return load_index(file)


INDEX = "films.lookalike"
add_command(index, "build", build, (f"lookalike index build films.csv -o {INDEX}",))
add_command(index, "add", add, (f"lookalike index add {INDEX} more.csv",))
add_command(index, "info", info, (f"lookalike index info {INDEX}",))
add_command(index, "check", check, (f"lookalike index check {INDEX}",))
add_command(index, "delete", delete, (f"lookalike index delete {INDEX} 3 14",))
add_command(index, "compact", compact, (f"lookalike index compact {INDEX}",))
