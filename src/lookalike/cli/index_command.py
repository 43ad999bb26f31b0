"""``lookalike index``: an index of a table in one file, or in a folder if it is larger."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike._runtime.config import show_bytes
from lookalike._runtime.text import plural
from lookalike.cli import output as out
from lookalike.cli.build import Group, add_command
from lookalike.cli.reading import FileSource, IdColumn, Scheduler, need_shards
from lookalike.errors import InvalidInput
from lookalike.show.result import Console
from lookalike.verbs import annotations as args
from lookalike.verbs import measures
from lookalike.verbs import source as sources
from lookalike.verbs.search import find_row

index = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Build, extend and inspect an index that is kept in a file or a folder.",
)

Saved = Annotated[
    str,
    args.Spelling(
        metavar="INDEX",
        help="A saved index, NAME.lookalike, or the folder of one.",
        argument=True,
    ),
]
Files = Annotated[list[str] | None, args.Spelling(metavar="FILE...", argument=True)]


def _check_target(file: str) -> None:
    from lookalike._runtime.files import check_writable

    if not file.lower().endswith(sources.SAVED):
        hint = f"Write -o {file}{sources.SAVED}, or add --shards for a folder"
        raise InvalidInput("-o", f"a name that ends in {sources.SAVED}", repr(file), hint)
    check_writable(file)


def build(
    source: FileSource,
    to: Annotated[str, args.Spelling(flags=("-o", "--to"), metavar="FILE|FOLDER")],
    more: Files = None,
    measure: args.MeasureLike = measures.AUTO,
    weights: args.Weights = None,
    columns: args.Columns = None,
    filter: args.Filter = None,
    id_column: IdColumn = None,
    shards: bool = False,
    scheduler: Scheduler = None,
) -> None:
    """Fit a measure to a table and write both to one file, or to a folder.

    Several Parquet files, a folder of them or a pattern make a folder of shards: rows stay on
    disk, and a build that was stopped continues where it was.

    Parameters
    ----------
    to : str
        Where to write it: NAME.lookalike, or a folder.
    more : list of str, optional
        More Parquet files with the same columns, for an index in a folder.
    columns : names, optional
        Compare by these columns only; the others are still shown.
    shards : bool
        Write a folder: Parquet is read in parts, and rows need not fit in memory.
    """
    # A pattern, and a folder, name several files.
    if shards or scheduler or more or names_several(source.file):
        from lookalike.measures.default import default_measure

        given: Any = measures.read_measure(measure)
        # "auto" alone stays, and the folder keeps the reason for it.
        if given != measures.AUTO or weights:
            given = default_measure() if given == measures.AUTO else given
            given = measures.weigh_columns(given, weights)
        made, of, notes = build_folder(
            source, more or [], to, given, columns, filter, id_column, scheduler
        )
    else:
        _check_target(to)  # before the work, which may take minutes
        rows = source.rows(filter).compared_by(columns)
        with out.compile_note():
            from lookalike.index import Index

            chosen, reason = measures.choose_measure(measure, rows, weights)
            made = Index(chosen, id_column=id_column).fit(rows.table)
        made.save(to)
        of, notes = rows.name, [reason] * (reason is not None)
    name, now = measures.name_measure(made.measure_), made.state_
    console = print_headline(to, f"{len(made):,} rows of {of}, compared by {name}")
    first = now.names.of(now.segments.segments[0].positions[:1])[0]
    command = shlex.join(["lookalike", "search", to, "--row", str(first)])
    for note in (*notes, f"ask it: {command}"):
        out.say(console, str(note))


def add(
    file: Saved,
    rows: Annotated[str, args.Spelling(metavar="FILE", argument=True)],
    more: Files = None,
    refit: bool = False,
    scheduler: Scheduler = None,
) -> None:
    """Add rows to an index; they are read as its first rows were.

    Parquet files go into the folder of an index part by part: they need not fit in memory.

    Parameters
    ----------
    rows : str
        A table of more rows with the same columns.
    more : list of str, optional
        More of them, for an index in a folder.
    refit : bool
        Fit the measure again, to old and new rows.
    """
    files, in_folder = [rows, *(more or [])], sources.is_index_folder(file)
    # A folder holds codes of the fitted measure: refitting would rewrite every shard.
    if refit and in_folder:
        hint = "Build a new folder from all files"
        raise InvalidInput("--refit", "an index in one file", "one in a folder", hint)
    if scheduler is not None:
        need_shards(file)
    # Anything but Parquet has to be read into memory first, also for a folder.
    if in_folder and (scheduler or all(map(names_parquet, files))):
        with out.compile_note():
            if scheduler is None:
                added = sources.load_index(file).add_files(files)
            else:
                from lookalike.index.dask import add as add_by_workers

                added = add_by_workers(file, files, scheduler, tell=lambda one: out.note(str(one)))
        print_headline(file, f"{plural(added)} added, {len(sources.load_index(file)):,} in all")
        return
    if len(files) > 1:
        hint = "Add them one at a time, or Parquet files to the folder of an index"
        raise InvalidInput("index add", "one table", f"{len(files)}", hint)
    _add_table(file, rows, refit)


def _add_table(file: str, rows: str, refit: bool) -> None:
    made = sources.load_index(file)
    # Read with the schema of the index: kinds are not guessed again from a few rows.
    new = FileSource(file).read_like(rows, made.schema_, "index add")
    with out.compile_note():
        ids = made.add(new)
        if refit:
            made.refit()
    save(made, file)
    console = print_headline(file, f"{plural(len(ids))} added, {len(made):,} in all")
    out.say(console, f"their ids: {ids[0]} to {ids[-1]}" if len(ids) > 1 else f"its id: {ids[0]}")


def info(file: Saved, output: out.Form = None) -> None:
    """Show what an index holds: rows, measure, and each column with its kind."""
    form = out.check_form(output or "text")
    made = sources.load_index(file)
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
    console = print_headline(file, f"{title}, compared by {measures.name_measure(made.measure_)}")
    if made.reason_ != "given":
        out.say(console, made.reason_)
    console.print(summary.table())


def delete(
    file: Saved, ids: Annotated[list[str], args.Spelling(metavar="ID...", argument=True)]
) -> None:
    """Delete rows from an index, by their ids.

    Parameters
    ----------
    ids : list of str
        Rows to delete.
    """
    made = sources.load_index(file)
    made.delete([find_row(made, word, "ids") for word in ids])
    save(made, file)
    print_headline(file, f"{plural(len(ids))} deleted, {len(made):,} left")


def compact(file: Saved) -> None:
    """Drop deleted rows for good and join small parts; ids and answers stay the same."""
    made = sources.load_index(file)
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


def save(made: Any, file: str) -> None:
    """Write an index back to its file; one in a folder has written each change already."""
    if made.folder is None:
        made.save(file)


def check(file: Saved, repair: bool = False, scheduler: Scheduler = None) -> None:
    """Check that the files are whole, and that added rows still look like the fitted ones.

    Parameters
    ----------
    repair : bool
        Write damaged shards of a folder again from their files.
    """
    if scheduler is not None:
        need_shards(file)
    if in_folder := sources.is_index_folder(file):
        check_folder(file, repair, scheduler)
    made = sources.load_index(file)  # verifies every hash of a file, and names what is damaged
    drift = made.drift()
    if not in_folder:
        console = print_headline(file, f"the file is whole, {len(made):,} rows")
        out.say(console, str(drift).replace("\n", "; "), "")
    if drift.refit:
        again = "build the index again" + ("" if in_folder else ", or --refit")
        out.warn(f"the added rows differ from the fitted ones: {again}")


# -- folders -------------------------------------------------------------------------------------


def build_folder(
    source: FileSource,
    more: Sequence[str],
    to: str,
    measure: Any,
    columns: Any,
    filter: list[str] | None,
    id_column: str | None,
    scheduler: str | None,
) -> tuple[Any, str, list[Any]]:
    """Build an index in a folder, with a line for every shard; return it, of what, and notes.

    Parameters
    ----------
    source : FileSource
    more : further Parquet files
    to : str, the folder
    measure : Measure or "auto"
    columns, filter, id_column, scheduler : as of ``index build``
    """
    files = [source.file, *more]
    in_parts = bool(more) or names_parquet(source.file)
    for name, value in {"filter": filter, **source.reading.of_text}.items():
        if in_parts and value is not None:
            found, hint = "Parquet files that are read in parts", "Leave it out; filter searches"
            raise InvalidInput(f"--{name}", "a table in memory", found, hint)
    if scheduler is not None and not in_parts:
        hint = "Write the table as Parquet, or leave --scheduler out"
        needed = "Parquet files, which workers can read in parts"
        raise InvalidInput("--scheduler", needed, source.name, hint)

    notes: list[Any] = []
    with out.compile_note():
        if scheduler is not None:
            from lookalike.index.dask import connect, fit_encode, read_table

            with connect(scheduler) as client:
                read = partial(read_table, client=client)
                table = _read_parts(source, files, columns, id_column, read)
                made = fit_encode(
                    table, to, measure, client, id_column=id_column, tell=notes.append
                )
        else:
            from lookalike.table import read_table as read_here

            if in_parts:
                read = partial(read_here, lazy=True)
                table = _read_parts(source, files, columns, id_column, read)
            else:
                table = source.rows(filter).compared_by(columns).table
            made = _build_here(table, to, measure, id_column, notes)
    of = plural(len(table.files), "file") if hasattr(table, "files") else source.name
    return made, of, notes


def _build_here(table: Any, to: str, measure: Any, id_column: str | None, notes: list[Any]) -> Any:
    """Build shard by shard; a build that was stopped continues where it was."""
    from lookalike.index import build_index

    began, sizes, counts = time.perf_counter(), [0], [0]

    def done(number: int, shard: Any) -> None:
        sizes.append(shard.size)
        counts.append(int(shard.about["rows"]))
        shown = f"{counts[-1]:,} rows, {show_bytes(shard.size)}"
        out.note(f"shard {number + 1}: {shown}; {sum(counts):,} of {len(table):,}")

    made = build_index(table, to, measure, id_column=id_column, done=done)
    seconds, each = max(time.perf_counter() - began, 1e-9), sum(sizes) / max(1, len(made))
    speed = f"{seconds:,.1f} s, {len(made) / seconds:,.0f} rows/s"
    notes += [made.reason_] if isinstance(measure, str) else []
    notes.append(f"{show_bytes(sum(sizes))}, {each:,.0f} bytes per row, {speed}")
    return made


def _read_parts(
    source: FileSource,
    files: Sequence[str],
    columns: Any,
    id_column: str | None,
    read: Callable[..., Any],
) -> Any:
    """Read Parquet files in parts; columns that are not compared are set aside."""
    kinds = dict(source.reading.read_kinds() or {})
    if id_column is not None:
        kinds.setdefault(id_column, "object")  # as written: no digit of an id is lost
    read = partial(read, files, missing=source.reading.missing or None)
    table = read(kinds=kinds or None)
    if columns is None:
        return table
    # Read twice: a lazy table cannot drop columns, but it can set them aside. The kinds of the
    # first time are kept, so that nothing is guessed again.
    kept = {*sources.select_columns(table.like, columns).names, id_column} - {None}
    away = {one.name: "aside" for one in table.like.columns if one.name not in kept}
    return read(kinds={**{name: table.like[name].kind for name in kept}, **away, **kinds})


def names_several(file: str) -> bool:
    """Whether a path is a folder, or a pattern, of files."""
    return Path(file).expanduser().is_dir() or has_magic(file)


def names_parquet(file: str) -> bool:
    """Whether a path or a pattern names files that are read in parts."""
    return file.lower().endswith(sources.PARQUET) or names_several(file)


def check_folder(file: str, repair: bool, scheduler: str | None = None) -> None:
    """Compare every file of a folder with its hash; write damaged shards again on request."""
    from lookalike.index import Index
    from lookalike.index.shards.build import repair_folder
    from lookalike.index.shards.folder import ShardFolder

    if scheduler is None:
        faults = ShardFolder.open(file).faults()
    else:
        from lookalike.index.dask import check

        faults = check(file, scheduler)
    # Never without being asked: a repair reads the source files, which may have changed.
    if faults and not repair:
        name, (first, *_) = next(iter(faults.items()))
        hint = f"Build them again from their files: lookalike index check {file} --repair"
        found = f"{len(faults)} damaged, first {name!r}: {first}"
        raise InvalidInput(f"Index folder {file!r}", "whole shards", found, hint)
    repaired = repair_folder(file) if faults else {}
    index = Index.open(file)
    console = out.make_console()
    shards = len(index.state_.segments.segments)
    text = f"all files are whole, {len(index):,} rows in {plural(shards, 'shard')}"
    if repaired:
        text = f"{len(repaired)} of {shards:,} shards written again, {len(index):,} rows"
    out.headline(console, f"{file}: {text}")
    for name, some in repaired.items():
        out.say(console, f"{name}: {'; '.join(some)}")


INDEX = "films.lookalike"
add_command(index, "build", build, (f"lookalike index build films.csv -o {INDEX}",))
add_command(index, "add", add, (f"lookalike index add {INDEX} more.csv",))
add_command(index, "info", info, (f"lookalike index info {INDEX}",))
add_command(index, "check", check, (f"lookalike index check {INDEX}",))
add_command(index, "delete", delete, (f"lookalike index delete {INDEX} 3 14",))
add_command(index, "compact", compact, (f"lookalike index compact {INDEX}",))
