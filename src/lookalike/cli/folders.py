"""Indexes in folders, for the verbs: when one is meant, how it is built, checked and repaired."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike._runtime.config import show_bytes
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.reading import FileSource, need_shards
from lookalike.errors import InvalidInput
from lookalike.verbs.measures import AUTO, read_measure, weigh_columns
from lookalike.verbs.source import select_columns

if TYPE_CHECKING:
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
    """What ``index build`` was asked for."""

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
        """Whether the rows stand in Parquet files that are read part by part."""
        file = self.source.file
        return bool(self.more) or is_parquet(file) or is_pattern(file)

    def wants_folder(self, shards: bool) -> bool:
        """Whether the index goes into a folder: many files, or the caller says so."""
        file, more = self.source.file, shards or self.scheduler is not None or bool(self.more)
        return more or Path(file).expanduser().is_dir() or is_pattern(file)

    def make_measure(self) -> Any:
        """Return the measure that was asked for, "auto" where the table decides."""
        is_auto = self.measure.strip().lower() == AUTO
        given = read_measure("gower" if self.weights and is_auto else self.measure)
        return given if isinstance(given, str) else weigh_columns(given, self.weights)

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
            kinds.setdefault(self.id_column, "object")
        table = read(paths, kinds=kinds or None, missing=missing)
        if self.columns is not None:
            kept = {*select_columns(table.like, self.columns).names, self.id_column}
            every = [column.name for column in table.like.columns]
            away = {name: "aside" for name in every if name not in kept}
            again = {name: table.like[name].kind for name in kept if name is not None}
            table = read(paths, kinds={**again, **away, **kinds}, missing=missing)
        return table


def build_folder(build: FolderBuild) -> None:
    """FolderBuild an index in a folder, with a line for every shard and a summary at the end."""
    source, to = build.source, build.to
    in_memory = {"filter": build.filter}
    in_memory |= {name: getattr(source.reading, name) for name in ("encoding", "delimiter")}
    for option, value in in_memory.items():
        if value is not None and (build.more or is_parquet(source.file)):
            hint = "Leave it out; filter when you search"
            found = "Parquet files that are read in parts"
            raise InvalidInput(f"--{option}", "a table in memory", found, hint)
    given = build.make_measure()
    if build.scheduler is not None:
        _build_by_workers(build, given, build.scheduler)
        return
    from lookalike.table import read_table

    table = build.read(partial(read_table, lazy=True))
    console = out.make_console()
    began, written = time.perf_counter(), [0, 0]

    def done(number: int, shard: Any) -> None:
        rows = int(shard.about["rows"])
        written[0] += rows
        written[1] += shard.size
        size = show_bytes(shard.size)
        out.note(f"shard {number + 1}: {rows:,} rows, {size}; {written[0]:,} of {len(table):,}")

    with compile_note():
        from lookalike.index import build_index

        made = build_index(table, to, given, id_column=build.id_column, done=done)
    seconds = max(time.perf_counter() - began, 1e-9)
    name = type(made.measure_).__name__
    files = name_files(table) if hasattr(table, "files") else source.name
    out.headline(console, f"{to}: {len(made):,} rows of {files}, compared by {name}")
    if build.measure.strip().lower() == AUTO:
        out.say(console, made.reason_)
    size, each = show_bytes(written[1]), written[1] / max(1, len(made))
    speed = f"{len(made) / seconds:,.0f} rows/s"
    out.say(console, f"{size}, {each:,.0f} bytes per row, {seconds:,.1f} s, {speed}")
    out.say(console, ask_it(to, _first(made)))


def _build_by_workers(build: FolderBuild, measure: Any, scheduler: str) -> None:
    """FolderBuild an index in a folder by the workers of a Dask scheduler."""
    if not build.in_parts:
        hint = "Write the table as Parquet, or leave --scheduler out"
        needed = "Parquet files, which workers can read in parts"
        raise InvalidInput("--scheduler", needed, build.source.name, hint)
    console, to, id_column = out.make_console(), build.to, build.id_column
    told: list[Any] = []
    with compile_note():
        from lookalike.index.dask import connect, fit_encode, read_table

        with connect(scheduler) as client:
            table = build.read(partial(read_table, client=client))
            made = fit_encode(table, to, measure, client, id_column=id_column, tell=told.append)
    name = type(made.measure_).__name__
    out.headline(console, f"{to}: {len(made):,} rows of {name_files(table)}, compared by {name}")
    out.say(console, str(told[0]))
    out.say(console, ask_it(to, _first(made)))


def name_files(table: Any) -> str:
    """Return how many files a table is read from, in words."""
    many = len(table.files)
    return f"{many:,} file" + ("" if many == 1 else "s")


def add_files(file: str, paths: list[str], scheduler: str | None) -> tuple[int, int]:
    """Add Parquet files to an index in a folder; return how many rows, and how many there are."""
    from lookalike.index import Index

    told: list[Any] = []
    if scheduler is None:
        with compile_note():
            added = Index.open(file).add_files(paths)
    else:
        need_shards(file)
        with compile_note():
            from lookalike.index.dask import add

            added = add(file, paths, scheduler, tell=told.append)
    for summary in told:
        out.note(str(summary))
    return added, len(Index.open(file))


def is_parquet(file: str) -> bool:
    """Whether a file is read in parts."""
    return file.lower().endswith(PARQUET) or Path(file).expanduser().is_dir()


def is_pattern(file: str) -> bool:
    """Whether a name stands for several files."""
    return any(letter in file for letter in "*?[")


def _first(index: Index) -> Any:
    segment = index.state_.segments.segments[0]
    return index.state_.names.of(segment.places[:1])[0]


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
    if faults and not repair:
        name, (first, *_) = next(iter(faults.items()))
        hint = f"FolderBuild them again from their files: lookalike index check {file} --repair"
        found = f"{len(faults)} damaged, first {name!r}: {first}"
        raise InvalidInput(f"Index folder {file!r}", "whole shards", found, hint)
    repaired = repair_folder(file) if faults else {}
    index = Index.open(file)
    console = out.make_console()
    shards = len(index.state_.segments.segments)
    several = "" if shards == 1 else "s"
    said = f"{file}: all files are whole, {len(index):,} rows in {shards:,} shard{several}"
    if repaired:
        said = f"{file}: {len(repaired)} of {shards:,} shards written again, {len(index):,} rows"
    out.headline(console, said)
    for name, some in repaired.items():
        out.say(console, f"{name}: {'; '.join(some)}")
