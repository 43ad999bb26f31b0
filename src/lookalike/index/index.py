"""Find the rows most like a row or a record, with reasons and with feedback; a mutable index."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.config import count_jobs, settings, show_bytes
from lookalike._runtime.locks import locked
from lookalike._runtime.progress import Progress
from lookalike._runtime.threads import lock_of
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, Phrase, TooLarge
from lookalike.index.choose import choose_measure
from lookalike.index.drift import ColumnDrift, Drift, learn_fitted, warn_of
from lookalike.index.filters import read_filter
from lookalike.index.hits import Hit, Hits
from lookalike.index.hits_html import index_html
from lookalike.index.ids import take_ids
from lookalike.index.query import Queries
from lookalike.index.reasons import Reasons
from lookalike.index.relevance import check_gamma, reweigh
from lookalike.index.segments import Feedback, Segments, learn_levels, rows_at
from lookalike.index.shards.build import ADD_FILES, begin_adding, finish_adding, write_added
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.shards.graph import neighbors_of
from lookalike.index.sketches import Sketches
from lookalike.index.snapshot import Snapshot
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import check_k
from lookalike.measures.contract.rows import concatenate as join_rows
from lookalike.measures.names import IsMeasure, as_measure
from lookalike.measures.task import copy_input_tags, same_settings
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import (
    KINDS,
    N_JOBS,
    Dims,
    Fields,
    Flag,
    Instance,
    Integer,
    Maybe,
    Objects,
    Real,
    Saved,
    Sometimes,
    Text,
    check_params,
)
from lookalike.table import Kind, Schema, Table, as_table, read_table
from lookalike.table.model.names import with_labels
from lookalike.table.model.targets import split_target

WHO = "Index.search"
INFINITY = float("inf")
AUTO = "auto"
Answer = TypeVar("Answer")
COMPACTED = 2**20  # rows that are joined to one part, in memory
ASKED = 4096  # rows whose lists are filled together


class Index(SaveMixin, BaseEstimator):
    """Find the rows most like a row or a record, and keep doing so while rows come and go.

    Every row has an id that stays: whole numbers from 0 in the order of the rows, never given
    twice, or the values of a column, or the labels of a pandas frame (see ``fit``). Rows that are
    added are read and encoded as the fitted ones were; nothing is learned from them until
    ``refit``. Deleting hides a row.

    Parameters
    ----------
    measure : Measure, name of one, or "auto"
        How alike rows are: ``Gower()``, or "gower" (see ``lookalike.measures.make_measure``).
        "auto" chooses by the columns, the gaps, the number of rows and the hubs of a sample;
        ``reason_`` says why (see ``choose_measure``). A clone is fitted; the frozen form of a
        fitted measure keeps what it has learned.
    id_column : str, optional
        A column whose values name the rows; they must differ, and are not compared. Ids written
        with leading zeros in a CSV file need ``kinds={id_column: "text"}``.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    approximate : bool
        Whether a search may miss some of the nearest rows, to be quicker on very many rows. Rows
        are linked to near ones, and a search walks the links; what it finds is compared by the
        measure itself, so distances are exact. For ``StochasticForest``, ``ForestProximity`` by
        shared leaves and ``Vector``; other measures are searched exactly, and so are tables where
        that is as quick (fewer than 8,192 rows, or 8 million leaves: rows times trees). Needs the
        extra "fast" (faiss).
    recall : float
        The share of the ten nearest rows that an approximate search should find. How far it looks
        is tuned until a sample of the rows is found as well; ``recall_`` says how well.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    measure_ : the fitted measure
    recall_ : float, the measured share of the ten nearest rows found; 1 for exact search
    reason_ : str
        Why this measure.
    schema_ : how rows are read
    n_features_in_ : number of columns that are compared

    Notes
    -----
    Lists are ordered by (score, age of the row): ties go to the row that came first. They hold
    fewer than k rows if fewer are there. Rows with nothing to compare to the query come last, at
    distance None.

    Several threads may use one index at once. Every call that reads (``search``, ``explain``,
    ``get``, ``ids``, ``table``, ``save``, ...) reads the index as it stood when the call began (a
    snapshot) and never waits. Calls that write (``add``, ``delete``, ``refit``) take turns, and a
    row is there for everybody once the call that added it has returned. Two calls may see two
    states: an id that was found may be deleted before it is asked for.

    Examples
    --------
    >>> import lookalike as la
    >>> index = la.Index().fit(la.datasets.load_films())
    >>> star_wars = index.search({"title": "Star Wars", "year": 1977, "length": 121}, k=3)
    """

    FIELDS: ClassVar[Fields] = {
        "measure": IsMeasure(none="", words=(AUTO,)),
        "id_column": Maybe(Instance(str, named="the name of a column")),
        "kinds": KINDS,
        "approximate": Flag(),
        "recall": Real(0.5, 1.0),
        "n_jobs": N_JOBS,
        "state_": Saved("Snapshot"),
        "feature_names_in_": Sometimes(Objects("features", Text())),
    }

    state_: Snapshot  # all that was learned and all rows; replaced as a whole, never changed
    _folder: ShardFolder | None = None  # where the rows are, of an index that was opened

    def __init__(
        self,
        measure: Measure | str = AUTO,
        *,
        id_column: str | None = None,
        kinds: Mapping[str, Any] | None = None,
        approximate: bool = False,
        recall: float = 0.95,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.id_column = id_column
        self.kinds = kinds
        self.approximate = approximate
        self.recall = recall
        self.n_jobs = n_jobs

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep rows to be searched.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            The labels of a pandas frame (its index) become the ids of the rows, where every row has
            one of its own and they are not just 0, 1, 2, ...; they are kept as a column that is not
            compared, named like the frame's index, or "index". A frame that is added later brings
            its labels too, a record names its own in this column.
        y : array of n, or the name of a column, optional
            For measures that learn from a target. A named column is not compared.
        """
        check_params(self)
        count_jobs(self.n_jobs)
        id_column = self.id_column
        given = self._given()
        if given is None or not given.traits.pairwise:
            X, labels = with_labels(X, id_column)
            id_column = labels or id_column
        table = self._read(X, id_column)
        id_kind: Kind | None = None
        if id_column is not None:
            table, id_kind = take_ids(table, id_column)
        fitted = self._fit_table(table, y, id_column, id_kind)
        self._sketch(fitted, tell=True)
        with lock_of(self):
            self.state_, self._folder = fitted, None
        return self

    def _given(self) -> Measure | None:
        """Return the measure that was given, or named; None where it is to be chosen."""
        chosen = isinstance(self.measure, str) and self.measure == AUTO
        return None if chosen else as_measure(self.measure, "Index")

    def _read(self, X: Any, id_column: str | None) -> Table:
        """Read rows to be fitted, as the measure wants them."""
        measure = self._given()
        kinds = dict(self.kinds or {})
        if id_column is not None:
            kinds.setdefault(id_column, "object")  # as written: a large number is not a float
        if measure is not None and measure.traits.pairwise:
            if kinds:
                hint = Phrase("Leave out ", Param("kinds"), " and ", Param("id_column"))
                raise InvalidInput("Index.fit", "distances and nothing else", repr(kinds), hint)
            return measure.read(X)
        try:
            table = read_table(X, kinds=kinds or None)
        except InvalidInput:
            # Was it the column of ids that is not there? Then say so in its name.
            if id_column is not None:
                take_ids(read_table(X, kinds=self.kinds), id_column)
            raise
        if measure is None:
            return table
        if getattr(measure, "frozen_", False):
            aside = [] if id_column is None else [table[id_column]]
            known = as_table(table.drop([c.name for c in aside]), measure.schema_, who="Index.fit")
            return Table([*known.columns, *aside], known.aside, len(known), known.missing)
        return measure.read(table)

    def _fit_table(
        self,
        table: Table,
        y: Any,
        id_column: str | None,
        id_kind: Kind | None,
        before: Segments | None = None,
    ) -> Snapshot:
        """Fit the measure to rows; those of an index that is fitted again keep their positions."""
        table, target = split_target(table, y, "Index")
        measure, reason = self._choose(table)
        measure = measure.fit(table, target)  # a frozen one stays as it is
        rows = measure.encode(table) if getattr(measure, "frozen_", False) else measure.rows_
        if before is None:
            segments = Segments.of(rows, table)
        else:
            segments = Segments.of(rows, table, before.positions, before.next_position)
        return Snapshot(
            measure,
            reason,
            table.schema,
            segments,
            id_column,
            id_kind,
            target=y if isinstance(y, str) else None,
            learned_target=y is not None,
            fitted={} if measure.traits.pairwise else learn_fitted(table),
        ).prepared()

    def _choose(self, table: Table) -> tuple[Measure, str]:
        given = self._given()
        if given is None:
            measure, reason = choose_measure(table)
        else:
            measure, reason = clone(given), "given"
        if self.n_jobs is not None:
            if getattr(measure, "frozen_", False):
                measure = copy.copy(measure)  # the caller's own stays as it is
            nested = measure.get_params()
            idle = [n for n in nested if n.rpartition("__")[2] == "n_jobs" and nested[n] is None]
            measure.set_params(**dict.fromkeys(idle, self.n_jobs))
        return measure, reason

    # -- what stands now ---------------------------------------------------------------------------

    def _now(self) -> Snapshot:
        """Return the index as it stands: what one call reads, whatever is written meanwhile."""
        if "state_" not in self.__dict__:  # asking scikit-learn takes longer than finding an id
            check_is_fitted(self, "state_")
        return self.state_

    @property
    def measure_(self) -> Measure:
        """The fitted measure."""
        return self.state_.measure

    @property
    def reason_(self) -> str:
        """Why this measure."""
        return self.state_.reason

    @property
    def schema_(self) -> Schema:
        """How rows are read."""
        return self.state_.schema

    @property
    def n_features_in_(self) -> int:
        """How many columns are compared."""
        return int(self.state_.measure.n_features_in_)

    # -- looking at the rows -----------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._now().segments)

    def __contains__(self, id: Any) -> bool:
        return id in self._now().names

    @property
    def ids(self) -> list[Any]:
        """The ids of all rows, in the order in which they came."""
        return self._now().ids

    def get(self, id: Any) -> dict[str, Any]:
        """Return a row as a record.

        Parameters
        ----------
        id : int, or a value of the id column
        """
        return self._now().record(id, "Index.get")

    def records(self, ids: Iterable[Any] | None = None) -> list[dict[str, Any]]:
        """Return rows as records.

        Parameters
        ----------
        ids : ids, optional
            None: all rows, in the order of ``ids``.
        """
        now = self._now()
        return [now.record(id, "Index.records") for id in (now.ids if ids is None else ids)]

    @property
    def table(self) -> Table:
        """All rows as one table, in the order of ``ids``."""
        return self._now().table

    def count(self, filter: Any = None) -> int:
        """Return how many rows meet a filter.

        Parameters
        ----------
        filter : optional
            Which rows are counted (see ``search``); None: all.

        Examples
        --------
        >>> import lookalike as la
        >>> la.Index().fit({"size": [1.0, 2.5, 2.0]}).count({"size": (">=", 2)})
        2
        """
        now = self._now()
        masks = read_filter(filter, now.names, now.schema)
        if masks is None:
            return len(now.segments)
        pairs = zip(now.segments.segments, masks, strict=True)
        return sum(int((segment.live & mask).sum()) for segment, mask in pairs)

    # -- changing ----------------------------------------------------------------------------------

    def _write(self, change: Callable[[Snapshot], tuple[Snapshot, Answer]]) -> Answer:
        """Put a new snapshot in the place of the one it was made from; one writer at a time."""
        with lock_of(self):
            while True:
                before = self._now()
                after, answer = change(before)
                self._sketch(after)
                # A signal handler may have written in this very thread meanwhile: then once more.
                if self.state_ is before:
                    if self._folder is not None:  # durable first, then seen
                        after = self._folder.keep(before, after)
                    self.state_ = after
                    return answer

    def add(self, rows: Any) -> list[Any]:
        """Add rows without learning from them; return their ids.

        Warns when the rows that came since fitting no longer look like the fitted ones (see
        ``drift``).

        Parameters
        ----------
        rows : table, frame, array, list of records, or one record
            With all columns of the fitted rows; a cell may be missing where the measure takes gaps.
        """

        def change(now: Snapshot) -> tuple[Snapshot, tuple[list[Any], list[ColumnDrift]]]:
            now, ids = now.added(rows, "Index.add")
            now, new = now.look_for_drift()
            return now, (ids, new)

        ids, new = self._write(change)
        warn_of(new, "Index.add")
        return ids

    def delete(self, ids: Any) -> None:
        """Hide rows from all further searches; their ids are not given again.

        A value of ``id_column`` may come back with a new row.

        Parameters
        ----------
        ids : id, or ids
            One that is not there, or named twice, is an error; then nothing is deleted.
        """
        self._write(lambda now: (now.without(ids, "Index.delete"), None))

    def drift(self) -> Drift:
        """Compare the rows that were added with those that were fitted.

        Returns
        -------
        Drift
            For each column the share of added values outside the fitted range or in categories
            that were not there, and how far the distribution has moved; ``refit`` says whether
            refitting is advised, and ``reasons`` why.

        Examples
        --------
        >>> import lookalike as la
        >>> index = la.Index().fit({"size": [float(i) for i in range(100)]})
        >>> ids = index.add({"size": [50.0, 60.0]})
        >>> print(index.drift())
        2 rows added to 100 fitted ones
        the fitted measure still fits
        """
        return self._now().drift()

    def refit(self, y: Any = None) -> Self:
        """Fit the measure again, to all rows that are there now; ids stay as they are.

        Deleted rows are dropped for good. With "auto" the measure is chosen again.

        Parameters
        ----------
        y : array with one entry per id, optional
            Needed if the index was fitted with an array; a column that was named is used again.
        """
        return self._write(lambda now: (self._fitted_again(now, y), self))

    def _fitted_again(self, now: Snapshot, y: Any) -> Snapshot:
        if self._folder is not None:
            hint = "Build a new folder from the files"
            found = "an index whose rows are in a folder"
            raise InvalidInput("Index.refit", "an index in memory", found, hint)
        if now.measure.traits.pairwise:
            hint = "Make a new index from the matrix of all distances"
            raise InvalidInput("Index.refit", "rows", "distances to fitted rows", hint)
        if not len(now.segments):
            raise InvalidInput("Index.refit", "at least one row", "none", "Add rows")
        if y is None and now.learned_target:
            y = now.target
            if y is None:
                hint = Phrase(
                    "Pass ", Param("y"), " with one entry per id", InPython(" of index.ids")
                )
                raise InvalidInput("Index.refit", "a target, as in fit", "none", hint)
        table = learn_levels(now.table)
        return self._fit_table(table, y, now.id_column, now.id_kind, now.segments)

    # -- searching ---------------------------------------------------------------------------------

    def search(
        self,
        query: Any,
        k: int = 10,
        *,
        like: Any = (),
        unlike: Any = (),
        gamma: float = 0.5,
        filter: Any = None,
        weights: Mapping[str, float] | None = None,
        columns: Any = None,
    ) -> Hits | list[Hits]:
        """Return the rows most like the query.

        With ``like`` and ``unlike`` rows are ranked by their mean distance to the query and the
        rows that are liked, minus ``gamma`` times their mean distance to those that are not
        (see ``rocchio``). Rows that were marked are not in the answer, nor is the query.

        Parameters
        ----------
        query : id, record, row of a table, or several of them
            A record is a dictionary; columns that it does not name are gaps, where the measure
            takes gaps. A list of ids and records, or a table of several rows, is answered by a
            list of answers.
        k : int
            How many rows to find; fewer are returned if there are not as many.
        like, unlike : ids or records
        gamma : float
            How much the rows that are not liked count.
        filter : mapping, callable, ids or boolean array, optional
            Which rows may be found. A mapping of column to condition: a value, ``(">=", 5)``,
            ``{"in": [...]}`` or None for a gap; operators are == != < <= > >= in "not in" and
            contains, and all conditions must hold. A function of the record that returns a bool.
            A list of ids. A boolean array with one entry per row, in the order of ``ids``.
        weights : mapping of column to number of at least 0, optional
            How much columns matter in this question: each number multiplies the fitted weight of
            its column, which is 1 unless the measure was given another; columns that are not named
            keep theirs, and 0 leaves a column out. The answer is that of an index fitted with
            these weights. For measures that weigh columns, such as ``Gower``; those that learned
            from the fitted weights, such as hubness reducers, raise an error with the reason.
        columns : name or names, optional
            Only these columns count in this question; the others have weight 0.

        Returns
        -------
        Hits, or a list of Hits for several queries

        Examples
        --------
        >>> import lookalike as la
        >>> pets = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "wolf"]}
        >>> index = la.Index().fit(pets)
        >>> index.search(0, k=2).ids
        [2, 3]
        >>> index.search({"weight": 29.0}, k=2, filter={"animal": {"in": ["dog", "wolf"]}}).ids
        [1, 3]
        >>> index.search(0, k=1, unlike=2)[0].row
        {'weight': 28.0, 'animal': 'wolf'}
        >>> index.search({"weight": 29.0, "animal": "cat"}, k=2, weights={"animal": 3}).ids
        [2, 0]
        >>> index.search({"weight": 29.0, "animal": "cat"}, k=2, columns="weight").ids
        [1, 3]
        """
        now = self._now()
        reader = now.reader
        Integer(1).check(WHO, "k", k, "Ask for at least one row")
        check_gamma(gamma, WHO)
        k = max(1, min(int(k), len(now.segments)))  # room for lists is made in advance
        queries = reader.read(query, Phrase(Param("query", of=WHO)))
        liked = reader.read_some(like, Phrase(Param("like", of=WHO)))
        unliked = reader.read_some(unlike, Phrase(Param("unlike", of=WHO)))
        _check_marks(now, queries, liked, unliked)
        measure = reweigh(now.measure, now.schema, weights, columns, WHO)
        masks = read_filter(filter, now.names, now.schema)
        if liked is None and unliked is None:
            nobody = np.empty(0, np.int64)
            sketches = self._sketches if measure is now.measure else None
            graph = now.segments.nearest(
                measure, queries.rows, k, queries.positions, nobody, masks, sketches
            )
            answers = [_hits(now, measure, queries, i, graph, i) for i in range(len(queries))]
        else:
            answers = []
            for i in range(len(queries)):
                feedback, hide = _feedback(queries, i, liked, unliked, gamma)
                graph = now.segments.best(measure, feedback, k, hide, masks)
                answers.append(_hits(now, measure, queries, i, graph, 0, by_distance=False))
        return answers[0] if queries.one else answers

    def explain(
        self,
        a: Any,
        b: Any,
        *,
        weights: Mapping[str, float] | None = None,
        columns: Any = None,
    ) -> Explanation:
        """Say why two rows are alike, column by column.

        Parameters
        ----------
        a, b : ids, records, or tables of one row
        weights, columns
            How much columns matter, as in ``search``; the reasons add up under these weights.
        """
        now = self._now()
        one, other = (_read_one(now, side) for side in (a, b))
        measure = reweigh(now.measure, now.schema, weights, columns, "Index.explain")
        found = Reasons(
            measure, one.rows, one.cells[0], lambda: other.rows, other.cells, now.styles
        )
        return found.of(0)

    # -- an index kept in a folder -----------------------------------------------------------------

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
        opened, state = ShardFolder.open_now(folder)
        head = opened.head
        if n_jobs is not None:
            count_jobs(n_jobs)
            measure = copy.copy(head.measure)
            opened.head = replace(head, measure=same_settings(measure, n_jobs))
            state = replace(state, measure=opened.head.measure)
        measure = opened.head.measure.frozen()
        index: Any = cls(
            measure,
            id_column=head.id_column,
            approximate=approximate,
            recall=recall,
            n_jobs=n_jobs,
        )
        check_params(index)
        index._folder = opened
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
        super().save(path)

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
            raise InvalidInput(ADD_FILES, "an index in a folder", "one in memory", hint)
        with lock_of(self), locked(self._folder.path, ADD_FILES):
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
        warn_of(new, ADD_FILES)
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
        whole = neighbors_of(now, 0, segments.next_position, k)
        if n < segments.next_position:  # deleted rows have no list
            whole = whole[segments.positions]
        return whole.finish("last" if measure.traits.undefined_last else "raise")

    # -- approximate search ------------------------------------------------------------------------

    @property
    def _sketches(self) -> Sketches | None:
        """What proposes rows, where some may be missed."""
        return Sketches(self.recall) if self.approximate else None

    def _sketch(self, state: Snapshot, tell: bool = False) -> None:
        """Make ahead of the first question the graphs that approximate search walks."""
        if self.approximate:
            _, why = self._sketches_of(state)
            if why and tell:
                warnings.warn(
                    LookalikeWarning(
                        Param("approximate", True, of=type(self).__name__),
                        "rows that can be found by their sketches",
                        why,
                        (
                            "Rows are searched exactly; leave out ",
                            Param("approximate", True),
                            ", or see the guide to approximate search for measures "
                            "that have sketches",
                        ),
                    ),
                    stacklevel=3,
                )

    def _sketches_of(self, state: Snapshot) -> tuple[float, str]:
        """Return the recall over all segments, and why rows are searched exactly if they are."""
        sketches = self._sketches
        if sketches is None:
            return 1.0, ""
        segments = state.segments.segments
        tuned = [sketches.tuned(state.measure, segment.rows) for segment in segments]
        whole = sum(len(segment) for segment in segments)
        found = sum(part.recall * len(rows) for part, rows in zip(tuned, segments, strict=True))
        return found / max(1, whole), next((part.why for part in tuned if part.why), "")

    @property
    def recall_(self) -> float:
        """The share of the ten nearest rows that a search finds, measured on a sample of rows.

        1 for exact search. Rows as near as the tenth count as found. Segments of the index, of
        which later rows have their own, count by their rows.
        """
        return self._sketches_of(self.state_)[0]

    def check_loaded(self, dims: Dims) -> None:
        """Make the graphs of approximate search again: files hold none."""
        self._sketch(self.state_)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(BaseEstimator.__repr__(self, N_CHAR_MAX))
        if not (self.approximate and hasattr(self, "state_")):
            return text
        return f"{text}  # finds {self.recall_:.1%} of the ten nearest rows of a sample"

    # -- scikit-learn ------------------------------------------------------------------------------

    def _html_repr(self) -> str:
        """Return what is held, for a notebook; before fitting the parameters, as scikit-learn."""
        if not hasattr(self, "state_"):
            return str(super()._html_repr())
        return index_html(repr(self), self.state_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # "auto" takes whatever Gower takes, since it falls back on it.
        return copy_input_tags(tags, self.measure)


def _check_marks(
    now: Snapshot, queries: Queries, liked: Queries | None, unliked: Queries | None
) -> None:
    """Refuse a row that is wanted and not wanted at once."""
    if unliked is None:
        return
    no = set(unliked.positions[unliked.positions >= 0].tolist())
    for what, wanted in (("like", liked), ("the query", queries)):
        both = [] if wanted is None else [p for p in wanted.positions.tolist() if p in no]
        if both:
            id = now.names.of(both[:1])[0]
            found = f"id {id!r} in unlike and {'in ' if what == 'like' else 'as '}{what}"
            raise InvalidInput(
                WHO, "each row on one side only", found, "Take it out of one of them"
            )


def _feedback(
    queries: Queries, i: int, liked: Queries | None, unliked: Queries | None, gamma: float
) -> tuple[Feedback, np.ndarray]:
    """Return what one query wants to be near to and far from, and the rows not to be listed."""
    own = int(queries.positions[i])
    yes = None if liked is None else liked.once(own)
    no = None if unliked is None else unliked.once(own)
    positive = [queries.rows[i : i + 1], *([] if yes is None else [yes])]
    marked = [m.positions for m in (liked, unliked) if m is not None]
    hide = np.unique(np.concatenate([[own], *marked]))
    return Feedback(join_rows(positive), no, gamma), hide[hide >= 0]


def _hits(
    now: Snapshot,
    measure: Measure,
    queries: Queries,
    i: int,
    graph: NeighborGraph,
    at: int,
    by_distance: bool = True,
) -> Hits:
    """Return what was found for query i, list ``at`` of a graph, with the similarities to it."""
    indices, scores = graph.indices[at], graph.distances[at]
    if (indices < 0).any():  # fewer were there
        indices, scores = indices[indices >= 0], scores[indices >= 0]
    positions = indices.tolist()
    query, one = queries.rows[i : i + 1], queries.cells[i]
    hits = []
    if positions:
        looked_up = now.segments.look_up(positions)
        cells = [(segment.table, row) for segment, row in looked_up]
        reasons = Reasons(measure, query, one, partial(rows_at, looked_up), cells, now.styles)
        far, near = scores, measure.similarity_at(scores) if by_distance else None
        if near is None:
            far, near = (values[0] for values in measure.both_blocks(query, reasons.rows))
        columns = now.names.of(positions), scores.tolist(), far.tolist(), near.tolist()
        for number, (id, score, apart, alike) in enumerate(zip(*columns, strict=True)):
            why = partial(reasons.of, number)
            hits.append(Hit(id, _finite(score), _finite(apart), _finite(alike), cells[number], why))
    table, row = one
    return Hits(hits, partial(table.record, row))


def _read_one(now: Snapshot, side: Any) -> Queries:
    read = now.reader.read(side, "Index.explain")
    if len(read) != 1:
        needed, hint = "one row on each side", "Give an id, a record, or a table of one row"
        raise InvalidInput("Index.explain", needed, f"{len(read)} rows", hint)
    return read


def _finite(value: float) -> float | None:
    return value if -INFINITY < value < INFINITY else None
