"""Build a folder of shards from files, larger than memory; resume and repair it, add files to it.

A build that was stopped is resumed: the plan says what it builds from, finished shards are not
repeated, and without a manifest, which is written last, the folder does not open. Shards can be
written in any order, by any process that sees the folder (``write_part``); writing is idempotent.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.files import locked, make_folder
from lookalike._runtime.progress import Progress
from lookalike._runtime.threads import blocks
from lookalike._version import __version__
from lookalike.errors import InvalidInput, Param, Phrase, WrongType
from lookalike.index.drift import learn_fitted
from lookalike.index.ids import take_ids
from lookalike.index.index import Index
from lookalike.index.segments import Segment
from lookalike.index.shards import folder as folders
from lookalike.index.shards.folder import HEAD, MANIFEST, PLAN, SHARDS, Manifest, ShardFolder
from lookalike.index.shards.segment import refuse_repeats, write_segment
from lookalike.index.snapshot import Snapshot
from lookalike.neighbors.shards import Shard, find_shard, hash_file, open_shard
from lookalike.saving.encode import digest_of
from lookalike.saving.encode import write as write_saved
from lookalike.saving.fields import check_params
from lookalike.show.reasons.style import MAX_SAMPLE_CELLS
from lookalike.table import LazyTable, Table
from lookalike.table.formats.lazy import Learner, read_lazy
from lookalike.table.formats.parquet import ParquetParts, find_files
from lookalike.table.model.kind import ROW_IDS

ADD_FILES = "Index.add_files"
SHARD_ROWS = 2**19  # a multiple of the tiles of codes: 84 MB of rows for twenty numbers
WHO = "index build"


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


# -- a build ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class IndexBuild:
    """A build that is under way.

    Parameters
    ----------
    folder : Path
    source : rows that can be sliced
    head : ShardHead
    plan : Manifest, as the folder gets it when all shards are there
    """

    folder: Path
    source: Table | LazyTable
    head: folders.ShardHead
    plan: Manifest

    @property
    def parts(self) -> list[slice]:
        """Which rows go into each shard."""
        return list(blocks(len(self.source), self.plan.shard_rows))

    def path(self, number: int) -> Path:
        """Return the folder of a shard."""
        return self.folder / SHARDS / f"{number:06d}"

    @property
    def numbers(self) -> list[int]:
        """The shards that the folder is to have: all, or those its manifest still names.

        Rows may have been deleted since the build was finished, and shards compacted.
        """
        whole = not (self.folder / MANIFEST).exists()
        named = self.plan.shards if whole else folders.read_manifest(self.folder).shards
        return [n for n in range(len(self.parts)) if self.path(n).name in named]

    def finished(self, number: int) -> Shard | None:
        """Return a shard that exists and is complete by the sizes of its files, or None."""
        shard, rows = find_shard(self.path(number)), self.parts[number]
        # By its length as well: another build may have left a shard of this name.
        same = shard is not None and shard.about.get("rows") == rows.stop - rows.start
        return shard if same else None

    def write_part(self, number: int, again: bool = False) -> Shard:
        """Write one shard, unless it is there already.

        Parameters
        ----------
        number : int
        again : bool
            Write it even if it is there: its files may be damaged.
        """
        if not again and (finished := self.finished(number)) is not None:
            return finished
        rows, head = self.parts[number], self.head
        table: Table = self.source[rows]
        if head.id_column is not None:
            table = take_ids(table, head.id_column, WHO)
        positions = np.arange(rows.start, rows.stop)
        # A frozen measure was fitted to other rows: to it all of these are unseen.
        seen = positions if head.n_fitted else np.full(len(table), -1)
        segment = Segment.of(head.measure.encode(table, seen), table, positions)
        return write_segment(self.path(number), head.measure, segment, head.id_column, fitted=True)

    def finish(self) -> Manifest:
        """Write the manifest of a build whose shards are all there; repeated ids are an error.

        A folder that has a manifest keeps it: rows may have been added and deleted since.
        """
        if (self.folder / MANIFEST).exists():
            return folders.read_manifest(self.folder)
        # Last, since a change while shards were being written matters as well: they would not fit
        # together.
        for source in self.plan.sources:
            if (path := source["path"]) and _state_of(path) != (source["bytes"], source["time"]):
                hint = "Remove the folder and build it again, from files that stay as they are"
                needed = f"{path!r} as it was when the build began"
                raise InvalidInput(WHO, needed, "a change", hint)
        shards = []
        for number in range(len(self.parts)):
            if (shard := self.finished(number)) is None:
                needed, found = f"all {len(self.parts)} shards", f"no {self.path(number).name!r}"
                raise InvalidInput(WHO, needed, found, "Write it, then finish")
            shards.append(shard)
        refuse_repeats(shards, self.head.like, self.head.id_column, WHO)
        self.plan.write(self.folder / MANIFEST)
        return self.plan


def _state_of(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return the size of a file and the time when it was changed; None without it."""
    if not os.path.exists(path):
        return None
    stat = os.stat(path)
    return stat.st_size, stat.st_mtime_ns


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


def read_plan(folder: Path) -> Manifest | None:
    """Return the plan of a folder; None for a new folder. Other folders are refused."""
    folders.refuse_links(folder)
    if (folder / PLAN).is_file():
        return folders.read_manifest(folder, PLAN)
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    # A build that was stopped early leaves these, and hidden files; no other file is touched.
    others = [name for name in names if name[0] != "." and name not in (HEAD, SHARDS)]
    if others:
        hint = "Name an empty folder, or a new one"
        raise InvalidInput(WHO, "a folder of its own", f"one with {others[0]!r}", hint)
    return None


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


def begin_build(source: Any, folder: Path, index: Index, shard_rows: int) -> IndexBuild:
    """Learn from all rows and write what was learned, or resume a build, finished or not.

    The caller holds the lock of the folder (``lookalike._runtime.files.locked``) until
    ``finish``. Then ``write_part`` writes the shards, in any order and in any process. A build of
    other rows, or with other options, is an error.

    Parameters
    ----------
    source, folder, shard_rows : as in ``build_index``
    index : Index, not fitted, whose parameters are those of the build
    """
    count_jobs(index.n_jobs)
    # Whole tiles: a tile of codes that two shards shared would belong to neither file.
    if not isinstance(shard_rows, int) or shard_rows < folders.TILE or shard_rows % folders.TILE:
        hint = Phrase("Pass for example ", Param("shard_rows", SHARD_ROWS))
        needed = f"shards of a multiple of {folders.TILE:,} rows"
        raise InvalidInput(WHO, needed, f"{shard_rows!r}", hint)
    id_column, kinds = index.id_column, index.kinds
    source = read_source(source, id_column, kinds)
    if isinstance(source, Table):
        # Shards hold cells of the kinds that the measure reads, which may differ.
        source = index._read(source, id_column)
    # The request is the whole measure: two frozen ones may differ only in what they have learned.
    options = (__version__, index.measure, id_column, dict(kinds or {}), shard_rows, source.schema)
    # Before the files are read: a change from now on is noticed when the build is finished.
    sources = tuple(_sources(source))
    names = tuple(f"{number:06d}" for number in range(-(-len(source) // shard_rows)))
    request = digest_of(options)
    new = Manifest(1, (0, ""), names, len(source), None, shard_rows, sources, request)
    old = read_plan(folder)
    if old is not None and _content(old) != _content(new):
        needed = f"an empty folder, or this build, in {str(folder)!r}"
        found = "a build of other files or with other options"
        raise InvalidInput(WHO, needed, found, "Choose another folder, or remove this one")
    # Stopped before the head was complete, or damaged: learn again.
    if old is None or not folders.is_intact(folder / HEAD, *old.head):
        # The head first, then the plan: a folder with a plan was begun with all that it needs.
        make_folder(folder / SHARDS)
        write_saved(folder / HEAD, learn_head(index, source))
        old = replace(new, head=((folder / HEAD).stat().st_size, hash_file(folder / HEAD)))
        old.write(folder / PLAN)
    plan = replace(new, head=old.head)
    return IndexBuild(folder, source, folders.read_head(folder / HEAD), plan)


def _content(plan: Manifest) -> tuple[Any, ...]:
    # Files are the same by their content, wherever they are and whenever they were written.
    return plan.next_position, plan.request, [file["sha256"] for file in plan.sources]


def _sources(source: Any) -> list[dict[str, Any]]:
    """Return what identifies the rows, so that a build is resumed with the same ones only."""
    if not isinstance(source, LazyTable):
        # Of a table in memory, its content: that is all that identifies it in another process.
        return [{"path": "", "bytes": 0, "time": 0, "sha256": digest_of(source)}]
    states = [(str(path), _state_of(path) or (0, 0), path) for path in source.files]
    return [
        {"path": name, "bytes": size, "time": time, "sha256": hash_file(path)}
        for name, (size, time), path in states
    ]


def learn_head(index: Index, source: Table | LazyTable) -> folders.ShardHead:
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
    sample, n_fitted = table[:: _sample_step(len(table))], 0 if frozen else len(table)
    return folders.ShardHead(like=like, sample=sample, n_fitted=n_fitted, **learned)


def _learn_parts(index: Index, source: LazyTable) -> tuple[LazyTable, dict[str, Any]]:
    """Fit to a table that stays in its files; return it without its ids, and what was learned."""
    check_params(index)
    if index.id_column is not None:
        # One row is enough to check the column; repeated ids are found when all shards exist.
        take_ids(source[:1], index.id_column, WHO)
        source = source.with_aside(index.id_column)
    measure, reason = index._choose(source)
    learned: dict[str, Any] = {"measure": measure.fit(source), "reason": reason}
    learned |= {"schema": source.schema, "id_column": index.id_column}
    return source, learned | {"fitted": learn_fitted(source)}


def sample_positions(index: Index) -> np.ndarray:
    """Return the positions of the rows in ``index.sample``, of an index in a folder."""
    plan = read_plan(index.folder) if index.folder is not None else None
    built = len(index.sample) if plan is None else plan.next_position
    return np.arange(0, built, _sample_step(built))


def _sample_step(n: int) -> int:
    return max(1, n // MAX_SAMPLE_CELLS)


def open_build(folder: str | os.PathLike[str], files: Sequence[str]) -> IndexBuild:
    """Return a build that another process began, for a worker that sees its folder and its files.

    Parameters
    ----------
    folder : path
    files : paths of the Parquet files that the build reads, in their order
    """
    path = Path(folder)
    if (plan := read_plan(path)) is None:
        hint = "Begin the build first, and use a folder that all machines see"
        raise InvalidInput(WHO, f"a build in {str(path)!r}", "none", hint)
    head = folders.read_head(path / HEAD)
    source = LazyTable(ParquetParts.open(find_files(list(files))), head.like, head.like.missing)
    if len(source) != plan.next_position:
        hint = "Use the files that the build was begun with"
        needed = f"files of {plan.next_position:,} rows"
        raise InvalidInput(WHO, needed, f"{len(source):,}", hint)
    return IndexBuild(path, source, head, plan)


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
        head, sources = opened.head, opened.manifest.sources
        # Shards of a build have numbers for names; others were added later.
        lost = [name for name in faults if not name.isdigit()]
        if lost or not sources or not sources[0]["path"]:
            found = f"shard {lost[0]!r} of rows that came later" if lost else "a table in memory"
            hint = "Take the folder from a copy, or build it again"
            raise folders.broken(path, "shards built from files", found, hint)
        files = {Path(s["path"]): (s["bytes"], s["sha256"]) for s in sources}
        if changed := [file for file, was in files.items() if not folders.is_intact(file, *was)]:
            hint = "Put the file back, or build the folder again"
            raise folders.broken(path, f"{str(changed[0])!r} as it was", "none, or another", hint)
        table = LazyTable(ParquetParts.open(list(files)), head.like, head.schema.missing)
        # Shards are a function of rows and head, so they become what they were, byte for byte.
        build = IndexBuild(path, table, head, opened.manifest)
        for name in faults:
            build.write_part(int(name), again=True)
        return faults


# -- adding files ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Addition:
    """Files that are being added to a folder.

    Parameters
    ----------
    folder : ShardFolder
    now : Snapshot, the index before them
    files : ParquetParts
    """

    folder: ShardFolder
    now: Snapshot
    files: ParquetParts

    @property
    def parts(self) -> list[slice]:
        """Which rows of the files go into each shard."""
        return list(blocks(len(self.files), self.folder.manifest.shard_rows))

    def path(self, number: int) -> Path:
        """Return the folder of a shard, named as ``Index.add`` names those of a generation."""
        generation = self.folder.manifest.generation + 1
        return self.folder.path / SHARDS / f"added-{generation:06d}-{number:06d}"

    def write_part(self, number: int) -> Shard:
        """Read and encode the rows of one part, and write them as a shard."""
        part, now = self.parts[number], self.now
        table = now.read_added(self.files.read(part.start, part.stop), ADD_FILES)
        positions = now.segments.next_position + np.arange(part.start, part.stop)
        segment = Segment.of(now.measure.encode(table), table, positions)
        return write_segment(self.path(number), now.measure, segment, now.id_column, fitted=False)

    def finish(self) -> None:
        """Name the shards in the manifest; the caller holds the lock of the folder."""
        shards = [open_shard(self.path(number)) for number in range(len(self.parts))]
        refuse_repeats(shards, self.folder.head.like, self.now.id_column, ADD_FILES)
        names = [shard.folder.name for shard in shards]
        self.folder.append(names, self.now.segments.next_position + len(self.files), ADD_FILES)


def begin_adding(folder: str | os.PathLike[str] | ShardFolder, paths: Any) -> Addition:
    """Open files that are to be added.

    Parameters
    ----------
    folder : path, or ShardFolder
    paths : Parquet files, as ``read_table(paths, lazy=True)`` takes them
    """
    opened = folder if isinstance(folder, ShardFolder) else ShardFolder.open(folder)
    opened.as_opened(ADD_FILES)
    files = ParquetParts.open(find_files(paths))
    if not len(files):
        raise InvalidInput(ADD_FILES, "rows to add", "0 rows", "Name files that have some")
    return Addition(opened, opened.snapshot(), files)
