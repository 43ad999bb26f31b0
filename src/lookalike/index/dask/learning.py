"""Learning from files with many workers: they count, the counts merge here.

What columns hold is counted by rows: a task reads some of them and sends back facts. The numbers of
a column are counted by column: a task reads it through all files and writes its tally as a shard,
which is mapped here, so that no column travels through the scheduler.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike._runtime.threads import blocks
from lookalike._version import __version__
from lookalike.index.dask.parts import Part, run_parts
from lookalike.index.dask.tasks import facts_part, tally_part
from lookalike.neighbors.shards import open_shard
from lookalike.saving.encode import write as write_saved
from lookalike.table import Kind, LazyTable
from lookalike.table.formats.parquet import BATCH_ROWS, ParquetParts
from lookalike.table.infer.learning import ColumnFacts, Learner
from lookalike.table.model.table import CODED
from lookalike.table.model.tally import Tally

ROWS = 2 * BATCH_ROWS  # rows whose facts one task counts
LIKE = "like.lookalike"
PREFIX = ".learned-"
TALLIED = ("number", *CODED)  # kinds whose values most measures ask for


class ManyLearn(Learner):
    """Who reads rows to learn from them: the workers of a Dask scheduler.

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
        """Count what decides about the columns, in all rows."""
        args = (__version__, _names(parts.files), dict(chosen), tokens)
        todo = [Part((*args, part.start, part.stop)) for part in blocks(len(parts), ROWS)]
        found: dict[int, dict[str, ColumnFacts]] = {}
        run_parts(self.client, facts_part, todo, "looked through", lambda one: found.update([one]))
        whole: dict[str, ColumnFacts] = {}
        for _, facts in sorted(found.items()):  # facts merge in the order of the rows
            for name, one in facts.items():
                if name in whole:
                    whole[name].merge(one)
                else:
                    whole[name] = one
        return whole

    def tally(self, table: LazyTable, name: str) -> Tally:
        """Count the distinct values of a column, and of all others that will be asked for."""
        if self.folder is None:
            return super().tally(table, name)
        path = self._folder_for(table)
        numbers = {column.name: at for at, column in enumerate(table.like.columns)}
        if not (path / str(numbers[name])).is_dir():
            asked = [c.name for c in table.like.columns if c.kind.name in TALLIED] or [name]
            args = (str(path), __version__, _names(table.files))
            todo = [
                Part((*args, one, numbers[one]), (path / str(numbers[one])).is_dir())
                for one in dict.fromkeys([name, *asked])
            ]
            run_parts(self.client, tally_part, todo, "counted")
        shard = open_shard(path / str(numbers[name]))
        about = shard.about
        return Tally.counted(
            shard.array("values"),
            shard.array("counts"),
            int(about["rows"]),
            int(about["missing"]),
            int(about["infinite"]),
        )

    def _folder_for(self, table: LazyTable) -> Path:
        """Return where the tallies of a table are, by what it is read from and how."""
        assert self.folder is not None
        kinds = [(column.name, column.kind) for column in table.like.columns]
        files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in table.files]
        said = repr((__version__, kinds, files, table.missing)).encode()
        path = self.folder / f"{PREFIX}{hashlib.sha256(said).hexdigest()[:16]}"
        if not (path / LIKE).is_file():
            path.mkdir(exist_ok=True)
            write_saved(path / LIKE, table.like)
        return path


@contextlib.contextmanager
def learning_in(client: Any, folder: Path) -> Iterator[ManyLearn]:
    """Return who learns for a build into a folder; what it wrote there is removed at its end."""
    yield ManyLearn(client, folder)
    for left in folder.glob(f"{PREFIX}*"):  # a build that was stopped finds them when it goes on
        shutil.rmtree(left, ignore_errors=True)


def _names(files: Sequence[Path]) -> tuple[str, ...]:
    return tuple(str(path.absolute()) for path in files)
