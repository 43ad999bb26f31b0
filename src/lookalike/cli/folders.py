"""Indexes in folders, for ``index``: how one is built, checked and repaired."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

from lookalike._runtime.config import show_bytes
from lookalike.cli import output as out
from lookalike.cli.reading import FileSource
from lookalike.errors import InvalidInput
from lookalike.verbs.source import PARQUET, select_columns


def ask_it(index: str, row: Any) -> str:
    """Return the command to try next on an index, as a shell takes it.

    Examples
    --------
    >>> ask_it("films.lookalike", "Star Wars")
    "ask it: lookalike search films.lookalike --row 'Star Wars'"
    """
    return f"ask it: {shlex.join(['lookalike', 'search', index, '--row', str(row)])}"


def build_folder(
    source: FileSource,
    more: Sequence[str],
    to: str,
    measure: Any,
    *,
    columns: Any,
    filter: list[str] | None,
    id_column: str | None,
    scheduler: str | None,
) -> None:
    """Build an index in a folder, with a line for every shard and a summary at the end.

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
    for option, value in {"filter": filter, **source.reading.of_text}.items():
        if in_parts and value is not None:
            found, hint = "Parquet files that are read in parts", "Leave it out; filter searches"
            raise InvalidInput(f"--{option}", "a table in memory", found, hint)
    if scheduler is not None and not in_parts:
        hint = "Write the table as Parquet, or leave --scheduler out"
        needed = "Parquet files, which workers can read in parts"
        raise InvalidInput("--scheduler", needed, source.name, hint)

    def read_by(read: Callable[..., Any]) -> Any:
        if in_parts:
            return _read_parts(source, files, columns, id_column, read)
        return source.rows(filter).compared_by(columns).table

    notes: list[str] = []

    def tell(summary: object) -> None:
        notes.append(str(summary))

    with out.compile_note():
        if scheduler is not None:
            from lookalike.index.dask import connect, fit_encode, read_table

            with connect(scheduler) as client:
                table = read_by(partial(read_table, client=client))
                made = fit_encode(table, to, measure, client, id_column=id_column, tell=tell)
        else:
            from lookalike.table import read_table as read_here

            table = read_by(partial(read_here, lazy=True))
            made = _build_here(table, to, measure, id_column, notes)
    of = plural(len(table.files), "file") if hasattr(table, "files") else source.name
    console, name = out.make_console(), type(made.measure_).__name__
    out.headline(console, f"{to}: {len(made):,} rows of {of}, compared by {name}")
    first = made.state_.names.of(made.state_.segments.segments[0].positions[:1])[0]
    for note in (*notes, ask_it(to, first)):
        out.say(console, note)


def _build_here(table: Any, to: str, measure: Any, id_column: str | None, notes: list[str]) -> Any:
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
    kept = {*select_columns(table.like, columns).names, id_column} - {None}
    away = {one.name: "aside" for one in table.like.columns if one.name not in kept}
    return read(kinds={**{name: table.like[name].kind for name in kept}, **away, **kinds})


def plural(count: int, what: str = "row") -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> plural(1), plural(2000, "shard")
    ('1 row', '2,000 shards')
    """
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def add_files(file: str, paths: list[str], scheduler: str | None) -> tuple[int, int]:
    """Add Parquet files to an index in a folder; return the number of new rows, and of all."""
    from lookalike.index import Index

    with out.compile_note():
        if scheduler is None:
            added = Index.open(file).add_files(paths)
        else:
            from lookalike.index.dask import add

            added = add(file, paths, scheduler, tell=lambda summary: out.note(str(summary)))
    return added, len(Index.open(file))


def names_several(file: str) -> bool:
    """Whether a path is a folder, or a pattern, of files."""
    return Path(file).expanduser().is_dir() or has_magic(file)


def names_parquet(file: str) -> bool:
    """Whether a path or a pattern names files that are read in parts."""
    return file.lower().endswith(PARQUET) or names_several(file)


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
