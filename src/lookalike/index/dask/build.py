"""Build an index in a folder from files, and add files to it, by many workers.

What columns hold is counted by rows: a task reads some of them and returns facts. The numbers of a
column are counted by column: a task reads it through all files and writes its tally as a shard,
which is mapped here, so that no column travels through the scheduler.
"""

import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike._runtime.files import locked
from lookalike._runtime.threads import blocks
from lookalike._version import __version__
from lookalike.errors import InPython, InvalidInput, Phrase
from lookalike.index import Index
from lookalike.index.dask.scheduling import Folder, Summary, Tell, connect, ignore, run_items
from lookalike.index.dask.tasks import LIKE, facts_part, tally_part, write_part
from lookalike.index.shards import build as one_process
from lookalike.index.shards.build import SHARD_ROWS, WHO
from lookalike.neighbors.shards import open_shard
from lookalike.saving.encode import digest_of
from lookalike.saving.encode import write as write_saved
from lookalike.table import Kind, LazyTable
from lookalike.table.formats.lazy import read_lazy
from lookalike.table.formats.parquet import BATCH_ROWS, ParquetParts
from lookalike.table.infer.learning import ColumnFacts, Learner
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
        args = (_names(parts.files), dict(chosen), tokens)
        items = [(*args, part.start, part.stop) for part in blocks(len(parts), ROWS_PER_TASK)]
        counted: dict[int, dict[str, ColumnFacts]] = {}
        done = lambda answer: counted.update([answer])  # noqa: E731
        run_items(self.client, facts_part, "", items, "looked through", done=done)
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
        # Named by what it is read from and how: a build that is resumed finds its tallies.
        states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in table.files]
        path = self.folder / f"{PREFIX}{digest_of((__version__, table.schema, states))}"
        if not (path / LIKE).is_file():
            path.mkdir(exist_ok=True)
            write_saved(path / LIKE, table.like)
        targets = {column.name: path / str(n) for n, column in enumerate(table.like.columns)}
        if not targets[name].is_dir():
            # All columns in one run, so that every worker has one to count.
            others = [c.name for c in table.like.columns if c.kind.name in TALLIED]
            left = [n for n in dict.fromkeys([name, *others]) if not targets[n].is_dir()]
            items = [(_names(table.files), each, int(targets[each].name)) for each in left]
            run_items(self.client, tally_part, path, items, "counted")
        shard = open_shard(targets[name])
        numbers = (int(shard.about[key]) for key in ("rows", "missing", "infinite"))
        return Tally.counted(shard.array("values"), shard.array("counts"), *numbers)


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
    paths, path = one_process.prepare(paths, Path(folder).absolute())
    with connect(client) as workers, locked(path, WHO):
        table = one_process.read_source(paths, id_column, kinds, ClusterLearner(workers, path))
        if not isinstance(table, LazyTable):
            extra = InPython(", or use lookalike.index.build_index")
            hint = Phrase("Write the table as Parquet", extra)
            needed = "Parquet files, which workers can read"
            raise InvalidInput(WHO, needed, "a table in memory", hint)
        index = Index(measure, id_column=id_column, kinds=kinds)
        build = one_process.begin_build(table, path, index, shard_rows)
        numbers = build.numbers
        left = [number for number in numbers if build.finished(number) is None]
        # Only names and numbers are sent: workers read the head, and what it learned, themselves.
        summary = _write_parts(workers, path, table.files, "", left, len(numbers) - len(left))
        build.finish()
        # Not after an error: a build that was stopped finds its tallies when it is resumed.
        for tallies in path.glob(f"{PREFIX}*"):
            shutil.rmtree(tallies, ignore_errors=True)
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
        addition = one_process.begin_adding(path, paths)
        mark, files = addition.folder.manifest.mark, addition.files.files
        summary = _write_parts(workers, path, files, mark, range(len(addition.parts)))
        addition.finish()
    tell(summary)
    return len(addition.files)


def _write_parts(
    workers: Any,
    path: Path,
    files: Sequence[Path],
    mark: str,
    numbers: Sequence[int],
    found: int = 0,
) -> Summary:
    args, what = (_names(files), mark, uuid.uuid4().hex), "added" if mark else "encoded"
    return run_items(workers, write_part, path, [(*args, n) for n in numbers], what, found)
