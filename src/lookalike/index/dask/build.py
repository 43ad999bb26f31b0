"""Build an index in a folder from files, and add files to it, by many workers.

What columns hold is counted by rows: a task reads some of them and returns facts. The numbers of a
column are counted by column: a task reads it through all files and writes its tally as a shard,
which is mapped here, so that no column travels through the scheduler.
"""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike._runtime.files import locked
from lookalike._runtime.threads import blocks
from lookalike._version import __version__
from lookalike.errors import InPython, InvalidInput, Phrase
from lookalike.index import Index
from lookalike.index.dask.scheduling import Folder, Tell, WorkItem, connect, ignore, run_items
from lookalike.index.dask.tasks import LIKE, add_part, encode_part, facts_part, tally_part
from lookalike.index.shards.build import SHARD_ROWS, WHO, begin_adding
from lookalike.index.shards.from_files import begin_build, prepare, read_source
from lookalike.neighbors.shards import open_shard
from lookalike.saving.encode import write as write_saved
from lookalike.table import Kind, LazyTable
from lookalike.table.formats.lazy import ColumnFacts, Learner, read_lazy
from lookalike.table.formats.parquet import BATCH_ROWS, ParquetParts
from lookalike.table.model.kind import missing_tokens
from lookalike.table.model.table import CODED
from lookalike.table.model.tally import Tally

ROWS_PER_TASK = 2 * BATCH_ROWS  # whose facts one task counts: two batches as they are read
PREFIX = ".learned-"  # of folders of tallies; a dot, so that a build takes no notice of them
TALLIED = ("number", *CODED)  # kinds whose distinct values most measures need


class ClusterLearner(Learner):
    """Learn from files with the workers of a Dask scheduler: they count, the counts merge here.

    Parameters
    ----------
    client : distributed.Client
    folder : Path, optional
        Where tallies are written, which all workers see; without one they are counted here.
    """

    def __init__(self, client: Any, folder: Path | None = None) -> None:
        self.client, self.folder = client, folder

    def facts(
        self, parts: ParquetParts, chosen: Mapping[str, Kind | None], tokens: tuple[Any, ...]
    ) -> dict[str, ColumnFacts]:
        """Count what decides about the kinds of the columns, in all rows."""
        args = ("", __version__, _names(parts.files), dict(chosen), tokens)
        cut = blocks(len(parts), ROWS_PER_TASK)
        items = [WorkItem((*args, part.start, part.stop)) for part in cut]
        counted: dict[int, dict[str, ColumnFacts]] = {}
        run_items(self.client, facts_part, items, "looked through", lambda x: counted.update([x]))
        whole: dict[str, ColumnFacts] = {}
        # Facts merge in the order of the rows, in whatever order the tasks were finished.
        for _, facts in sorted(counted.items()):
            for name, more in facts.items():
                if name in whole:
                    whole[name].merge(more)
                else:
                    whole[name] = more
        return whole

    def tally(self, table: LazyTable, name: str) -> Tally:
        """Count the distinct values of a column, and of all others that will be needed."""
        if self.folder is None:
            return super().tally(table, name)
        path = self._folder_for(table)
        targets = {column.name: path / str(n) for n, column in enumerate(table.like.columns)}
        if not targets[name].is_dir():
            # All columns in one run, so that every worker has one to count.
            others = [c.name for c in table.like.columns if c.kind.name in TALLIED]
            args = (str(path), __version__, _names(table.files))
            items = [
                WorkItem((*args, each, int(targets[each].name)), targets[each].is_dir())
                for each in dict.fromkeys([name, *others])
            ]
            run_items(self.client, tally_part, items, "counted")
        shard = open_shard(targets[name])
        numbers = (int(shard.about[key]) for key in ("rows", "missing", "infinite"))
        return Tally.counted(shard.array("values"), shard.array("counts"), *numbers)

    def _folder_for(self, table: LazyTable) -> Path:
        """Return the folder of the tallies of a table, named by what it is read from and how."""
        assert self.folder is not None
        kinds = [(column.name, column.kind) for column in table.like.columns]
        files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in table.files]
        key = repr((__version__, kinds, files, table.missing)).encode()
        path = self.folder / f"{PREFIX}{hashlib.sha256(key).hexdigest()[:16]}"
        if not (path / LIKE).is_file():
            path.mkdir(exist_ok=True)
            write_saved(path / LIKE, table.like)
        return path


def _names(files: Sequence[Path]) -> tuple[str, ...]:
    return tuple(str(path.absolute()) for path in files)


def read_table(
    paths: Any, client: Any = None, *, kinds: Mapping[Any, Any] | None = None, missing: Any = None
) -> LazyTable:
    """Infer the kinds of the columns of Parquet files by many workers.

    The table that ``lookalike.read_table(paths, lazy=True)`` returns.

    Parameters
    ----------
    paths : paths of Parquet files, a folder of them, or a pattern
        Every worker must see them under the same paths.
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    kinds, missing : as in ``lookalike.read_table``

    Examples
    --------
    >>> from lookalike.index.dask import read_table
    >>> table = read_table("rows/*.parquet", "tcp://scheduler:8786")  # doctest: +SKIP
    """
    with connect(client) as workers:
        table = read_lazy(paths, kinds, missing_tokens(missing), ClusterLearner(workers))
    return table.learned_by(Learner())


def fit_encode(
    paths: Any,
    folder: Folder,
    measure: Any = "auto",
    client: Any = None,
    *,
    id_column: str | None = None,
    kinds: Mapping[str, Any] | None = None,
    shard_rows: int = SHARD_ROWS,
    tell: Tell = ignore,
) -> Index:
    """Build an index in a folder from Parquet files, its shards written by many workers.

    The workers infer kinds, count the values of the columns and encode the rows; their counts are
    merged here. (``Vector`` and ``StochasticForest`` also read the rows here, in one pass.) A build
    that was stopped is resumed, and the folder is the one that ``lookalike.index.build_index``
    writes, byte for byte.

    Parameters
    ----------
    paths : paths of Parquet files, as ``read_table(paths, lazy=True)`` takes them, or its table
        Every worker must see them, and the folder, under the same paths.
    folder : path
        Created if missing.
    measure : Measure, name of one, or "auto"
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    id_column, kinds, shard_rows : as in ``lookalike.index.build_index``
    tell : callable
        Called with a ``Summary`` at the end.

    Examples
    --------
    >>> from lookalike.index.dask import fit_encode
    >>> index = fit_encode(
    ...     "rows/*.parquet", "rows.index", client="tcp://scheduler:8786", tell=print
    ... )  # doctest: +SKIP
    """
    paths, path = prepare(paths, Path(folder).absolute())
    with connect(client) as workers, locked(path, WHO):
        table = read_source(paths, id_column, kinds, ClusterLearner(workers, path))
        if not isinstance(table, LazyTable):
            extra = InPython(", or use lookalike.index.build_index")
            hint = Phrase("Write the table as Parquet", extra)
            needed = "Parquet files, which workers can read"
            raise InvalidInput(WHO, needed, "a table in memory", hint)
        index = Index(measure, id_column=id_column, kinds=kinds)
        build = begin_build(table, path, index, shard_rows)
        args = (str(path), __version__, _names(table.files))
        items = [WorkItem((*args, n), build.finished(n) is not None) for n in build.numbers]
        # Only names and numbers are sent: workers read the head, and what it learned, themselves.
        summary = run_items(workers, encode_part, items, "encoded")
        build.finish()
        # Not after an error: a build that was stopped finds its tallies when it is resumed.
        for left in path.glob(f"{PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)
    tell(summary)
    return Index.open(path)


def add(folder: Folder, paths: Any, client: Any = None, *, tell: Tell = ignore) -> int:
    """Add the rows of Parquet files to an index in a folder by many workers; return how many.

    As ``Index.add_files``: all rows are in the index when it returns, or none of them.

    Parameters
    ----------
    folder : path of an index
    paths : paths of Parquet files, a folder of them, or a pattern
        Every worker must see them, and the folder, under the same paths.
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    tell : callable
        Called with a ``Summary`` at the end.

    Examples
    --------
    >>> from lookalike.index.dask import add
    >>> add("rows.index", "more/*.parquet", "tcp://scheduler:8786")  # doctest: +SKIP
    """
    path = Path(folder).absolute()
    with connect(client) as workers, locked(path, "scale.add"):
        addition = begin_adding(path, paths)
        mark, files = addition.folder.manifest.mark, _names(addition.files.files)
        args = (str(path), __version__, mark, files)
        items = [WorkItem((*args, number)) for number in range(len(addition.parts))]
        summary = run_items(workers, add_part, items, "added")
        addition.finish()
    tell(summary)
    return len(addition.files)
