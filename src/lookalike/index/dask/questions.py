"""Questions to a folder of shards, answered by many workers."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._version import __version__
from lookalike.index import Index
from lookalike.index.dask.clients import connect
from lookalike.index.dask.parts import Part, run_parts
from lookalike.index.dask.question import Question
from lookalike.index.dask.summary import Summary
from lookalike.index.dask.tasks import answer_part, check_part
from lookalike.index.segments import Feedback, Segments
from lookalike.index.shards.folder import ShardFolder
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.neighbors.graph import NeighborGraph

Tell = Callable[[Summary], None]


def _untold(summary: Summary) -> None:
    """Tell nobody."""


@contextmanager
def open_index(
    folder: str | os.PathLike[str], client: Any = None, *, tell: Tell = _untold
) -> Iterator[Index]:
    """Return an index in a folder whose shards are searched by many workers, for a block.

    Records, ids, filters, weights, feedback and reasons are those of ``Index``, and so are the
    answers; only the search itself is shared out. Rows that are added or deleted here are in the
    folder, and from then on this process searches alone.

    Parameters
    ----------
    folder : path of an index (``fit_encode``, ``lookalike.index.build_index``)
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    tell : callable
        Told a ``Summary`` after every search.

    Examples
    --------
    >>> from lookalike.index.dask import open_index
    >>> with open_index("rows.index", "tcp://scheduler:8786") as index:  # doctest: +SKIP
    ...     index.search({"weight": 29.0}, k=10, filter={"town": "Bern"})
    """
    path = Path(folder).absolute()
    index = Index.open(path)
    with connect(client) as workers:
        now = index.state_
        assert index._folder is not None, "it was opened from one"
        mark = index._folder.manifest.mark
        rows = now.segments.segments, now.segments.next_position
        asked = _AskedSegments(*rows, now.measure, path, mark, workers, tell)
        index.state_ = replace(now, segments=asked)
        yield index


def kneighbors(
    folder: str | os.PathLike[str],
    queries: Any,
    k: int = 5,
    client: Any = None,
    *,
    tell: Tell = _untold,
) -> NeighborGraph:
    """Return the rows of an index in a folder that are nearest to others, found by many workers.

    Every task asks one shard; the lists merge in any order to those of one process, ties included.
    Positions are those of the rows in the files.

    Parameters
    ----------
    folder : path of an index (``fit_encode``, ``lookalike.index.build_index``)
    queries : id, record, table, or several of them, as ``Index.search`` takes them
        A row of the index is not in its own list.
    k : int
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    tell : callable
        Told a ``Summary`` when it is done.

    Examples
    --------
    >>> from lookalike.index.dask import kneighbors
    >>> graph = kneighbors("rows.index", {"weight": 29.0}, k=10)  # doctest: +SKIP
    """
    with open_index(folder, client, tell=tell) as index:
        now = index.state_
        check_k(k, len(now.segments), "kneighbors", False, "k")
        read = now.reader.read(queries, "kneighbors")
        nobody = np.empty(0, np.int64)
        return now.segments.nearest(now.measure, read.rows, int(k), read.positions, nobody)


def check(
    folder: str | os.PathLike[str], client: Any = None, *, tell: Tell = _untold
) -> dict[str, list[str]]:
    """Read every file of an index in a folder by many workers, and return what is wrong.

    Parameters
    ----------
    folder : path of an index
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    tell : callable
        Told a ``Summary`` when it is done.

    Returns
    -------
    mapping of the name of a shard to its faults, empty if all is whole; as ``Index.check``

    Examples
    --------
    >>> from lookalike.index.dask import check
    >>> check("rows.index", "tcp://scheduler:8786")  # doctest: +SKIP
    {}
    """
    path = Path(folder).absolute()
    opened = ShardFolder.open(path)
    args = (str(path), __version__, opened.manifest.mark)
    names = opened.manifest.shards
    found: dict[str, list[str]] = {}
    with connect(client) as workers:
        parts = [Part((*args, number)) for number in range(len(names))]
        tell(run_parts(workers, check_part, parts, "checked", lambda one: found.update([one])))
    return {name: found[name] for name in names if found[name]}


@dataclass(frozen=True, eq=False)
class _AskedSegments(Segments):
    """The shards of a folder, searched by workers; all else is done here.

    Parameters
    ----------
    segments, next_position : as in ``Segments``
    measure : Measure of the index
    folder : Path
    mark : str, of the folder when it was opened
    client : distributed.Client
    tell : callable
    """

    measure: Measure
    folder: Path
    mark: str
    client: Any
    tell: Tell

    def nearest(
        self,
        measure: Measure,
        a: Rows,
        k: int,
        exclude: np.ndarray,
        hide: np.ndarray,
        masks: Any = None,
        sketches: Any = None,
    ) -> NeighborGraph:
        """Return unfinished lists of the k nearest live rows."""
        return self._ask(Question(measure, a, k, exclude, hide, masks))

    def best(
        self, measure: Measure, wanted: Feedback, k: int, hide: np.ndarray, masks: Any = None
    ) -> NeighborGraph:
        """Return the unfinished list of the k live rows with the smallest feedback scores."""
        nobody = np.array([-1])
        liked, unliked = wanted.positive, wanted.negative
        return self._ask(Question(measure, liked, k, nobody, hide, masks, wanted.gamma, unliked))

    def _ask(self, question: Question) -> NeighborGraph:
        lists = [NeighborGraph.empty(question.n_lists, question.k, self.next_position)]

        def merge(found: NeighborGraph) -> None:
            lists[0] = lists[0].merge(found)

        asked = self.folder / "graphs" / f"question-{uuid.uuid4().hex}"
        args = (str(self.folder), __version__, self.mark, str(asked))
        parts = [Part((*args, number)) for number in range(len(self.segments))]
        try:
            question.write(asked, self.measure)
            self.tell(run_parts(self.client, answer_part, parts, "searched", merge))
        finally:
            shutil.rmtree(asked, ignore_errors=True)
        return lists[0]
