"""What an index kept in a folder can do beside answering: open, check, repair, compact.

An index in memory has the same methods where they make sense.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from lookalike._runtime.config import count_jobs, settings, show_bytes
from lookalike._runtime.locks import locked
from lookalike._runtime.progress import Progress
from lookalike._runtime.threads import lock_of
from lookalike.errors import InPython, InvalidInput, Param, Phrase, TooLarge
from lookalike.index.drift import ColumnDrift, warn_of
from lookalike.index.shards.add import WHO, begin_adding, finish_adding, write_added
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.shards.graph import neighbors_of
from lookalike.index.snapshot import Snapshot
from lookalike.measures.contract.rows import check_k
from lookalike.measures.task import same_settings
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import check_params
from lookalike.table import Table

COMPACTED = 2**20  # rows that are joined to one part, in memory
ASKED = 4096  # rows whose lists are filled together


class InFolder:
    """The part of an index that knows of folders."""

    _folder: ShardFolder | None = None  # where the rows are, of an index that was opened
    _now: Callable[[], Snapshot]
    _write: Callable[..., Any]
    _sketch: Callable[..., None]
    state_: Snapshot

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        approximate: bool = False,
        recall: float = 0.95,
        n_jobs: int | None = None,
    ) -> Self:
        """Open an index that is kept in a folder of shards, without reading its rows.

        Such a folder is made by ``build_index``, or by ``lookalike index build FILES -o FOLDER``.
        Rows are mapped into memory and read where a search looks at them. Everything else is as
        with an index in memory, with the same answers; ``add`` and ``delete`` are in the folder
        when they return. One process may write at a time; those that read see the folder as they
        opened it. Rows are not looked through: check a folder from a stranger first (``lookalike
        index check FOLDER``).

        Parameters
        ----------
        folder : path
        approximate, recall
            Whether a search may miss some of the nearest rows, to be quicker, and how few (see
            ``Index``). The links that it walks are made when the folder is opened and held in
            memory: some 0.1 ms and 300 bytes per row, and as much again for long rows.
        n_jobs : int, optional
            Threads; None: the setting of ``lookalike.config``.

        Examples
        --------
        >>> import lookalike as la, os, tempfile
        >>> folder = os.path.join(tempfile.mkdtemp(), "pets")
        >>> pets = {"weight": [4.0, 30.0, 5.0], "animal": ["cat", "dog", "cat"]}
        >>> index = la.index.build_index(la.read_table(pets), folder)
        >>> la.Index.open(folder).search(0, k=1).ids
        [2]
        """
        place, state = ShardFolder.open_now(folder)
        head = place.head
        if n_jobs is not None:
            count_jobs(n_jobs)
            measure = copy.copy(head.measure)
            place.head = replace(head, measure=same_settings(measure, n_jobs))
            state = replace(state, measure=place.head.measure)
        measure = place.head.measure.frozen()
        index: Any = cls(
            measure,
            id_column=head.id_column,
            approximate=approximate,
            recall=recall,
            n_jobs=n_jobs,
        )  # type: ignore[call-arg]
        check_params(index)
        index._folder = place
        index._sketch(state, tell=True)
        index.state_ = state
        return index

    @property
    def folder(self) -> Path | None:
        """Where the rows are kept; None for an index in memory."""
        return None if self._folder is None else self._folder.path

    @property
    def generation(self) -> int:
        """How often the folder had been written when it was opened; 0 for an index in memory."""
        return 0 if self._folder is None else self._folder.manifest.generation

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, to be read by ``lookalike.load``.

        Parameters
        ----------
        path : str or path
            Usually ending in ``.lookalike``. An existing file is replaced only once the new one is
            complete.
        """
        if self._folder is not None:
            found = f"one that is kept in {str(self._folder.path)!r}"
            hint = "Copy the folder; every change is in it already"
            raise InvalidInput("Index.save", "an index in memory", found, hint)
        SaveMixin.save(self, path)  # type: ignore[arg-type]

    @property
    def sample(self) -> Table:
        """Some rows, evenly spread, that show how cells are written; all rows if in memory."""
        return self._now().segments.segments[0].typical_table

    def check(self) -> dict[str, list[str]]:
        """Read every file of the folder, compare hashes and look at the rows; return what is wrong.

        Returns
        -------
        mapping of the name of a shard to its faults, empty if all is whole
        """
        return {} if self._folder is None else self._folder.faults()

    def add_files(self, paths: Any) -> int:
        """Add the rows of Parquet files to an index in a folder, part by part; return how many.

        As ``add``, for more rows than fit in memory: they are in the index when the last of them is
        in the folder, all of them or none. Drift is looked for while the added rows are less than a
        million; ``drift`` reads them all.

        Parameters
        ----------
        paths : path, folder, pattern such as ``"rows/*.parquet"``, or several
            With all columns of the fitted rows.
        """
        if self._folder is None:
            hint = Phrase("Build the index in a folder", InPython(", or use add(read_table(path))"))
            raise InvalidInput(WHO, "an index in a folder", "one in memory", hint)
        with lock_of(self), locked(self._folder.path, WHO):
            addition = begin_adding(self._folder, paths)
            progress = Progress("writing shards", len(addition.parts))
            for number in range(len(addition.parts)):
                write_added(addition, number)
                progress.advance()
            finish_adding(addition)
            state = self._folder.snapshot()
            new: list[ColumnDrift] = []
            if sum(map(len, state.segments.added_later)) <= COMPACTED:  # they are read for it
                state, new = state.look_for_drift()
            self._sketch(state)
            self.state_ = state
        warn_of(new, WHO)
        return len(addition.files)

    def compact(self) -> Self:
        """Drop deleted rows for good and join small parts; ids and answers stay as they are.

        Of an index in a folder, shards with deleted rows and small shards are written again, a
        shard at a time, so that it takes no more memory than that.

        Examples
        --------
        >>> import lookalike as la
        >>> index = la.Index().fit({"size": [1.0, 2.5, 2.0, 4.0]})
        >>> index.delete(1)
        >>> index.compact().ids
        [0, 2, 3]
        """
        most = COMPACTED if self._folder is None else self._folder.manifest.shard_rows
        while self._write(lambda now: now.compacted(most)):
            pass
        return self

    # -- neighbors of all rows ---------------------------------------------------------------------

    def neighbors(self, k: int = 5) -> NeighborGraph:
        """Return the k nearest rows of every row, exactly, as a fold over the parts of the index.

        Rows are named by their numbers, which are the ids where no column gives others; a row is
        not in its own list. The lists are those that ``Measure.neighbors`` finds in memory, to the
        last bit and tie.

        Parameters
        ----------
        k : int

        Examples
        --------
        >>> import lookalike as la
        >>> la.Index("gower").fit({"size": [1.0, 2.5, 2.0]}).neighbors(1).indices.tolist()
        [[2], [2], [1]]
        """
        now = self._now()
        segments, measure = now.segments, now.measure
        n = len(segments)
        check_k(k, n - 1, "Index", True, "k")
        size, limit = 16 * n * k, settings().memory_limit
        if size > limit:
            hint = Phrase("Ask for fewer neighbors, or raise ", Param("memory_limit", of="config"))
            needed = f"lists under the memory limit of {show_bytes(limit)}"
            raise TooLarge("Index.neighbors", needed, show_bytes(size), hint)
        whole = neighbors_of(now, 0, segments.next_place, k)
        if n < segments.next_place:  # deleted rows have no list
            whole = whole[segments.places]
        return whole.finish("last" if measure.traits.undefined_last else "raise")
