"""Build an index in a folder from files, larger than memory; resume and repair it."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.files import locked, make_folder
from lookalike._runtime.progress import Progress
from lookalike._version import __version__
from lookalike.errors import InvalidInput, Param, Phrase, WrongType
from lookalike.index.drift import learn_fitted
from lookalike.index.ids import take_ids
from lookalike.index.index import Index
from lookalike.index.shards.build import SHARD_ROWS, WHO, IndexBuild, begin, read_plan
from lookalike.index.shards.folder import TILE, ShardFolder, ShardHead, broken
from lookalike.neighbors.shards import Shard, hash_file
from lookalike.saving.encode import digest_of
from lookalike.saving.fields import check_params
from lookalike.show.reasons.style import MAX_SAMPLE_CELLS
from lookalike.table import LazyTable, Table
from lookalike.table.formats.lazy import Learner, read_lazy
from lookalike.table.formats.parquet import ParquetParts, find_files
from lookalike.table.model.kind import ROW_IDS


def build_index(
    source: Any,
    folder: str | os.PathLike[str],
    measure: Any = "auto",
    *,
    id_column: str | None = None,
    kinds: Mapping[str, Any] | None = None,
    shard_rows: int = SHARD_ROWS,
    n_jobs: int | None = None,
    done: Callable[[int, Shard], None] = lambda number, shard: None,
) -> Index:
    """Build an index in a folder, to be opened by ``Index.open``, and open it.

    A build that was stopped, however it was, is resumed when it is started again; finished shards
    are not repeated. A second build into a folder that is being written is refused.

    Parameters
    ----------
    source : paths of Parquet files, LazyTable or Table
        Files as ``read_table(paths, lazy=True)`` takes them; their rows are never all in memory.
    folder : path
        Created if missing.
    measure : Measure, name of one, or "auto"
    id_column : str, optional
        A column whose values name the rows.
    kinds : mapping of column to kind, optional
    shard_rows : int
        Rows of a shard, a multiple of 1,024. One shard is held in memory while it is built.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.
    done : callable (number, Shard)
        Called for every finished shard.

    Returns
    -------
    Index

    Examples
    --------
    >>> import lookalike as la, os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "pets")
    >>> pets = la.read_table({"weight": [4.0, 30.0, 5.0], "animal": ["cat", "dog", "cat"]})
    >>> la.index.build_index(pets, folder, "gower").search({"weight": 29.0}, k=1).ids
    [1]
    """
    source, path = prepare(source, folder)
    with locked(path, WHO):
        index = Index(measure, id_column=id_column, kinds=kinds, n_jobs=n_jobs)
        build = begin_build(source, path, index, shard_rows)
        numbers = build.numbers
        progress = Progress("writing shards", len(numbers))
        for number in numbers:
            done(number, build.write_part(number))
            progress.advance()
        build.finish()
    return Index.open(path, n_jobs=n_jobs)


def begin_build(source: Any, folder: Path, index: Index, shard_rows: int) -> IndexBuild:
    """Learn from all rows and write what was learned, or resume a build that was stopped.

    The caller holds the lock of the folder (``lookalike._runtime.files.locked``) until
    ``finish``. Then ``write_part`` writes the shards, in any order and in any process.

    Parameters
    ----------
    source, folder, shard_rows : as in ``build_index``
    index : Index, not fitted, whose parameters are those of the build
    """
    count_jobs(index.n_jobs)
    # Whole tiles: a tile of codes that two shards shared would belong to neither file.
    if not isinstance(shard_rows, int) or shard_rows < TILE or shard_rows % TILE:
        hint = Phrase("Pass for example ", Param("shard_rows", SHARD_ROWS))
        raise InvalidInput(WHO, f"shards of a multiple of {TILE:,} rows", f"{shard_rows!r}", hint)
    id_column, kinds = index.id_column, index.kinds
    source = read_source(source, id_column, kinds)
    if isinstance(source, Table):
        # Shards hold cells of the kinds that the measure reads, which may differ.
        source = index._read(source, id_column)
    files = source.files if isinstance(source, LazyTable) else ()
    # Before the files are read: a change from now on is noticed when the build is finished.
    read_from = tuple((str(path), (s := path.stat()).st_size, s.st_mtime_ns) for path in files)
    options = (__version__, index.measure, id_column, dict(kinds or {}), shard_rows, source.schema)
    # The request is the whole measure: two frozen ones may differ only in what they have learned.
    sources, learn = _sources(source), partial(learn_head, index, source)
    build = begin(folder, source, learn, shard_rows, sources, digest_of(options))
    return replace(build, read_from=read_from)


def prepare(source: Any, folder: str | os.PathLike[str]) -> tuple[Any, Path]:
    """Return the source and the folder of a build, made if it is missing; refuse unfit ones."""
    if not isinstance(source, Table | LazyTable):
        # Iterating a dict, or a frame, gives the names of its columns, not of files.
        if isinstance(source, Mapping) or hasattr(source, "columns"):
            needed, found = "paths of Parquet files, or a Table", type(source).__name__
            raise WrongType(WHO, needed, found, "Pass lookalike.read_table(...) of it")
        source = find_files(source)
    path = make_folder(folder)
    # Refuses a folder of something else before anything is written.
    read_plan(path)
    return source, path


def read_source(
    source: Any,
    id_column: str | None,
    kinds: Mapping[str, Any] | None,
    learner: Learner | None = None,
) -> Table | LazyTable:
    """Read what an index is built from: a table as it is, paths as a ``LazyTable``."""
    if isinstance(source, Table):
        return source
    given = dict(kinds or {})
    if id_column is not None:
        # As in Index: as written, since floats round large integers.
        given.setdefault(id_column, ROW_IDS)
    if isinstance(source, LazyTable):
        source = source if learner is None else source.learned_by(learner)
        return source.with_kinds(given) if given else source
    return read_lazy(source, given or None, (), learner)


def learn_head(index: Index, source: Table | LazyTable) -> ShardHead:
    """Fit the measure of an index, in memory or in parts, and return all that was learned."""
    table: Any
    if isinstance(source, LazyTable):
        table, learned = _learn_parts(index, source)
        like = table.like
    else:
        state = index.fit(source).state_
        table, learned = state.segments.segments[0].table, state.learned()
        like = table[:0]
    frozen = getattr(learned["measure"], "frozen_", False)
    sample = table[:: max(1, len(table) // MAX_SAMPLE_CELLS)]
    return ShardHead(like=like, sample=sample, n_fitted=0 if frozen else len(table), **learned)


def _learn_parts(index: Index, source: LazyTable) -> tuple[LazyTable, dict[str, Any]]:
    """Fit to a table that stays in its files; return it without its ids, and what was learned."""
    check_params(index)
    id_column, id_kind = index.id_column, None
    if id_column is not None:
        # One row is enough to check the column; repeated ids are found when all shards exist.
        first, id_kind = take_ids(source[:1], id_column, WHO)
        source = source.with_aside(first.aside[-1].name)
    measure, reason = index._choose(source)
    learned: dict[str, Any] = {"measure": measure.fit(source), "reason": reason}
    learned |= {"schema": source.schema, "id_column": id_column, "id_kind": id_kind}
    return source, learned | {"fitted": learn_fitted(source)}


def sample_positions(index: Index) -> np.ndarray:
    """Return the positions of the rows in ``index.sample``, of an index in a folder."""
    plan = read_plan(index.folder) if index.folder is not None else None
    built = len(index.sample) if plan is None else plan["rows"]
    return np.arange(0, built, max(1, built // MAX_SAMPLE_CELLS))


def _sources(source: Any) -> list[dict[str, Any]]:
    """Return what identifies the rows, so that a build is resumed with the same ones only."""
    if isinstance(source, LazyTable):
        stats = [(path, path.stat()) for path in source.files]
        return [
            {"path": str(path), "bytes": s.st_size, "time": s.st_mtime, "sha256": hash_file(path)}
            for path, s in stats
        ]
    # Of a table in memory, its content: that is all that identifies it in another process.
    return [{"path": "", "bytes": 0, "time": 0.0, "sha256": digest_of(source)}]


def repair_folder(folder: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Write damaged shards again, from the files they were built from.

    The files must have the path and the content they had. Rows that were added later are not in
    them: a shard of such rows cannot be written again.

    Parameters
    ----------
    folder : path

    Returns
    -------
    mapping of the name of each shard that was written again to what was wrong with it
    """
    path = Path(folder)
    with locked(path, WHO):
        opened = ShardFolder.open(path)
        if not (faults := opened.faults()):
            return {}
        files = _built_from(path, opened.manifest.sources, faults)
        head = opened.head
        table = LazyTable(ParquetParts.open(files), head.like, head.schema.missing)
        # Shards are a function of rows and head, so they become what they were, byte for byte.
        build = IndexBuild(path, table, head, opened.manifest.shard_rows)
        for name in faults:
            build.write_part(int(name), again=True)
        return faults


def _built_from(
    path: Path, sources: Sequence[Mapping[str, Any]], faults: Iterable[str]
) -> list[Path]:
    """Return the files of a build; refuse if damaged shards cannot be written from them."""
    # Shards of a build have numbers for names; others were added later.
    lost = [name for name in faults if not name.isdigit()]
    if lost or not sources or not sources[0]["path"]:
        found = f"shard {lost[0]!r} of rows that came later" if lost else "a table in memory"
        hint = "Take the folder from a copy, or build it again"
        raise broken(path, "shards built from files", found, hint)
    files = [Path(source["path"]) for source in sources]
    for file, source in zip(files, sources, strict=True):
        if not file.is_file() or hash_file(file) != source["sha256"]:
            hint = "Put the file back, or build the folder again"
            raise broken(path, f"{source['path']!r} as it was", "none, or another", hint)
    return files
