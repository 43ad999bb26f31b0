"""Indexes in folders, for the verbs: when one is meant, how it is built, checked and repaired."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike._runtime.config import show_bytes
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import AUTO, make_measure, set_seed
from lookalike.cli.options import read_weights, select_columns
from lookalike.errors import InvalidInput

if TYPE_CHECKING:
    from lookalike.cli.source import Source
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


def wants_folder(source: Source, more: list[str], shards: bool) -> bool:
    """Whether a build is to go into a folder: many files, or somebody says so."""
    path = Path(source.file).expanduser()
    return shards or bool(more) or path.is_dir() or is_pattern(source.file)


def build_folder(
    source: Source,
    more: list[str],
    to: str,
    measure: str,
    weight: list[str] | None,
    columns: str | None,
    id_column: str | None,
    seed: int,
    scheduler: str | None = None,
) -> None:
    """Build an index in a folder, with a line for every shard and a summary at the end."""
    for option in ("filter", "encoding", "delimiter"):
        if getattr(source, option) is not None and (more or is_parquet(source.file)):
            hint = "Leave it out; filter when you search"
            found = "Parquet files that are read in parts"
            raise InvalidInput(f"--{option}", "a table in memory", found, hint)
    given = _measure(measure, weight, seed)
    if scheduler is not None:
        _build_by_workers(source, more, to, given, columns, id_column, scheduler)
        return
    from lookalike.table import read_table

    table = _read(source, more, columns, id_column, partial(read_table, lazy=True))
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

        made = build_index(table, to, given, id_column=id_column, done=done)
    seconds = max(time.perf_counter() - began, 1e-9)
    name = type(made.measure_).__name__
    files = name_files(table) if hasattr(table, "files") else source.name
    out.headline(console, f"{to}: {len(made):,} rows of {files}, compared by {name}")
    if measure.strip().lower() == AUTO:
        out.say(console, made.reason_)
    size, each = show_bytes(written[1]), written[1] / max(1, len(made))
    speed = f"{len(made) / seconds:,.0f} rows/s"
    out.say(console, f"{size}, {each:,.0f} bytes per row, {seconds:,.1f} s, {speed}")
    out.say(console, ask_it(to, _first(made)))


def _build_by_workers(
    source: Source,
    more: list[str],
    to: str,
    measure: Any,
    columns: str | None,
    id_column: str | None,
    scheduler: str,
) -> None:
    """Build an index in a folder by the workers of a Dask scheduler."""
    if not (more or is_parquet(source.file) or is_pattern(source.file)):
        hint = "Write the table as Parquet, or leave --scheduler out"
        needed = "Parquet files, which workers can read in parts"
        raise InvalidInput("--scheduler", needed, source.name, hint)
    console = out.make_console()
    told: list[Any] = []
    with compile_note():
        from lookalike.index.dask import connect, fit_encode, read_table

        with connect(scheduler) as client:
            table = _read(source, more, columns, id_column, partial(read_table, client=client))
            made = fit_encode(table, to, measure, client, id_column=id_column, tell=told.append)
    name = type(made.measure_).__name__
    out.headline(console, f"{to}: {len(made):,} rows of {name_files(table)}, compared by {name}")
    out.say(console, str(told[0]))
    out.say(console, ask_it(to, _first(made)))


def name_files(table: Any) -> str:
    """Return how many files a table is read from, in words."""
    many = len(table.files)
    return f"{many:,} file" + ("" if many == 1 else "s")


@contextmanager
def asked_by(scheduler: str | None, file: str) -> Iterator[Index | None]:
    """Return an index whose shards are searched by workers; None if nobody asked for them."""
    if scheduler is None:
        yield None
        return
    need_shards(file)
    from lookalike.index.dask import open_index

    with open_index(Path(file).expanduser(), scheduler) as index:
        yield index


def need_shards(file: str) -> None:
    """Say that ``--scheduler`` needs an index with shards, which can be shared out."""
    if not (Path(file).expanduser() / "manifest.json").is_file():
        hint = "Make one with: lookalike index build FILES -o FOLDER --shards"
        needed = "the folder of an index, whose shards are shared out"
        raise InvalidInput("--scheduler", needed, repr(file), hint)


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


def _read(
    source: Source,
    more: list[str],
    columns: str | None,
    id_column: str | None,
    read: Callable[..., Any],
) -> Any:
    """Read a table; files in parts, by whoever reads them."""
    if not more and not is_parquet(source.file) and not is_pattern(source.file):
        return select_columns(source.load().table, columns)
    kinds = dict(source.given_kinds() or {})
    paths, missing = [source.file, *more], source.missing or None
    if id_column is not None:
        kinds.setdefault(id_column, "object")
    table = read(paths, kinds=kinds or None, missing=missing)
    if columns is not None:
        kept = {*select_columns(table.like, columns).names, id_column}
        every = [column.name for column in table.like.columns]
        away = {name: "aside" for name in every if name not in kept}
        again = {name: table.like[name].kind for name in kept if name is not None}
        table = read(paths, kinds={**again, **away, **kinds}, missing=missing)
    return table


def _measure(measure: str, weight: list[str] | None, seed: int) -> Any:
    weights = read_weights(weight)
    if measure.strip().lower() == AUTO and not weights:
        return AUTO
    made = make_measure("gower" if measure.strip().lower() == AUTO else measure)
    if weights:
        if "weights" not in made.get_params():
            needed, hint = "a measure that weighs columns", "Use --measure gower"
            raise InvalidInput("--weight", needed, type(made).__name__, hint)
        made.set_params(weights=weights)
    return set_seed(made, seed)


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
        hint = f"Build them again from their files: lookalike index check {file} --repair"
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
