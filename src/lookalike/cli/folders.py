"""Indexes in folders, for ``index``: when one is built, how it is checked and repaired."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike._runtime.config import show_bytes
from lookalike.cli import output as out
from lookalike.cli.reading import FileSource
from lookalike.errors import InvalidInput
from lookalike.verbs.measures import AUTO, read_measure, weigh_columns
from lookalike.verbs.source import select_columns

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.index import Index

PARQUET = (".parquet", ".pq")


def ask_it(index: str, row: Any) -> str:
    """Return the command to try next on an index, as a shell takes it.

    Examples
    --------
    >>> ask_it("films.lookalike", "Star Wars")
    "ask it: lookalike search films.lookalike --row 'Star Wars'"
    """
    return f"ask it: {shlex.join(['lookalike', 'search', index, '--row', str(row)])}"


@dataclass(frozen=True)
class FolderBuild:
    """The options of ``index build``."""

    source: FileSource
    to: str
    more: list[str]
    measure: str = AUTO
    weights: Mapping[str, float] | None = None
    columns: str | Sequence[str] | None = None
    filter: list[str] | None = None
    id_column: str | None = None
    scheduler: str | None = None

    @property
    def in_parts(self) -> bool:
        """Whether the rows are in Parquet files, which are read part by part."""
        file = self.source.file
        return bool(self.more) or names_parquet(file)

    def wants_folder(self, shards: bool) -> bool:
        """Whether the index is to be a folder: of many files, or on request."""
        file, more = self.source.file, shards or self.scheduler is not None or bool(self.more)
        return more or Path(file).expanduser().is_dir() or has_magic(file)

    def make_measure(self) -> Any:
        """Return the measure that was asked for, "auto" where the table decides."""
        from lookalike.measures.default import default_measure

        given = read_measure(self.measure)
        if isinstance(given, str):  # "auto" stays, so that the folder keeps the reason for it
            return weigh_columns(default_measure(), self.weights) if self.weights else given
        return weigh_columns(given, self.weights)

    def read(self, read: Callable[..., Any]) -> Any:
        """Read the table.

        Parameters
        ----------
        read : function that reads files in parts
        """
        if not self.in_parts:
            return self.source.rows(self.filter).compared_by(self.columns).table
        kinds = dict(self.source.reading.read_kinds() or {})
        paths, missing = [self.source.file, *self.more], self.source.reading.missing or None
        if self.id_column is not None:
            kinds.setdefault(self.id_column, "object")  # as written: no digit of an id is lost
        table = read(paths, kinds=kinds or None, missing=missing)
        if self.columns is not None:
            # Read twice: a lazy table cannot drop columns, but it can set them aside. The kinds of
            # the first time are kept, so that nothing is guessed again.
            kept = {*select_columns(table.like, self.columns).names, self.id_column}
            every = [column.name for column in table.like.columns]
            away = {name: "aside" for name in every if name not in kept}
            again = {name: table.like[name].kind for name in kept if name is not None}
            table = read(paths, kinds={**again, **away, **kinds}, missing=missing)
        return table


def build_folder(build: FolderBuild) -> None:
    """Build an index in a folder, with a line for every shard and a summary at the end."""
    source, to = build.source, build.to
    for option, value in {"filter": build.filter, **source.reading.of_text}.items():
        if value is not None and (build.more or is_parquet(source.file)):
            found, hint = "Parquet files that are read in parts", "Leave it out; filter searches"
            raise InvalidInput(f"--{option}", "a table in memory", found, hint)
    given = build.make_measure()
    if build.scheduler is not None:
        _build_by_workers(build, given, build.scheduler)
        return
    from lookalike.table import read_table

    table = build.read(partial(read_table, lazy=True))
    console = out.make_console()
    began, n_rows, n_bytes = time.perf_counter(), 0, 0

    def done(number: int, shard: Any) -> None:
        nonlocal n_rows, n_bytes
        rows = int(shard.about["rows"])
        n_rows, n_bytes = n_rows + rows, n_bytes + shard.size
        size = show_bytes(shard.size)
        out.note(f"shard {number + 1}: {rows:,} rows, {size}; {n_rows:,} of {len(table):,}")

    # A build that was stopped continues: shards that are complete are not written again.
    with out.compile_note():
        from lookalike.index import build_index

        made = build_index(table, to, given, id_column=build.id_column, done=done)
    seconds = max(time.perf_counter() - began, 1e-9)
    size, each = show_bytes(n_bytes), n_bytes / max(1, len(made))
    speed = f"{len(made) / seconds:,.0f} rows/s"
    notes = [made.reason_] if build.measure.strip().lower() == AUTO else []
    notes.append(f"{size}, {each:,.0f} bytes per row, {seconds:,.1f} s, {speed}")
    _say_built(console, build, made, table, notes)


def _build_by_workers(build: FolderBuild, measure: Any, scheduler: str) -> None:
    """Build an index in a folder by the workers of a Dask scheduler."""
    if not build.in_parts:
        hint = "Write the table as Parquet, or leave --scheduler out"
        needed = "Parquet files, which workers can read in parts"
        raise InvalidInput("--scheduler", needed, build.source.name, hint)
    summaries: list[Any] = []
    options: dict[str, Any] = {"id_column": build.id_column, "tell": summaries.append}
    with out.compile_note():
        from lookalike.index.dask import connect, fit_encode, read_table

        with connect(scheduler) as client:
            table = build.read(partial(read_table, client=client))
            made = fit_encode(table, build.to, measure, client, **options)
    _say_built(out.make_console(), build, made, table, [str(summaries[0])])


def _say_built(
    console: Console, build: FolderBuild, made: Index, table: Any, notes: list[str]
) -> None:
    """Print the summary of a build, and what to try next."""
    files = plural(len(table.files), "file") if hasattr(table, "files") else build.source.name
    name = type(made.measure_).__name__
    out.headline(console, f"{build.to}: {len(made):,} rows of {files}, compared by {name}")
    first = made.state_.names.of(made.state_.segments.segments[0].positions[:1])[0]
    for note in (*notes, ask_it(build.to, first)):
        out.say(console, note)


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


def is_parquet(file: str) -> bool:
    """Whether a file is read in parts."""
    return file.lower().endswith(PARQUET) or Path(file).expanduser().is_dir()


def names_parquet(file: str) -> bool:
    """Whether a path or a pattern names files that are read in parts."""
    return is_parquet(file) or has_magic(file)


def check_folder(file: str, repair: bool, scheduler: str | None = None) -> None:
    """Compare every file of a folder with its hash; write damaged shards again on request."""
    from lookalike.index import Index
    from lookalike.index.shards.folder import ShardFolder
    from lookalike.index.shards.from_files import repair_folder

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
