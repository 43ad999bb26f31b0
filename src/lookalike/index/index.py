"""Find the rows most like a row or a record, with reasons and with feedback; a mutable index."""

import copy
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.estimator import Estimator, check_is_fitted, clone
from lookalike._runtime.files import locked
from lookalike._runtime.keywords import forgiving
from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import RANDOM_STATE, make_seed
from lookalike._runtime.text import short
from lookalike._runtime.threads import lock_of, taking_turns
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.index.drift import ColumnDrift, Drift, learn_fitted, warn_of
from lookalike.index.filters import read_filter
from lookalike.index.hits import Hit, Hits, Reasons, SearchInfo
from lookalike.index.ids import take_ids
from lookalike.index.query import Queries, read_query, read_some
from lookalike.index.relevance import check_gamma, reweigh
from lookalike.index.segments import SegmentQuery, Segments, learn_levels, rows_at
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.sketches import Sketches
from lookalike.index.snapshot import Snapshot, check_list_size, neighbors_of
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import check_k
from lookalike.measures.contract.rows import concatenate as join_rows
from lookalike.measures.default import AUTO, choose_measure, is_auto
from lookalike.measures.names import IsMeasure, as_measure, same_settings
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving import fields
from lookalike.saving.encode import SaveMixin
from lookalike.show.html.document import fragment
from lookalike.show.html.markup import table as html_table
from lookalike.table import LazyTable, Schema, Table, as_table, read_table
from lookalike.table.model.kind import ROW_IDS
from lookalike.table.model.names import with_labels
from lookalike.table.model.targets import split_target

WHO = "Index.search"
MAX_INDEX_COLUMNS = 12  # named in the summary of an index; chosen by hand
INFINITY = float("inf")
Answer = TypeVar("Answer")
# Rows that compaction copies at a time in memory, and added rows up to which drift is checked
# after ``add_files``, since checking reads them all (chosen by hand).
MAX_ROWS_COPIED = 2**20
# Rows compared in one search up to which most of its time is spent in Python, which one thread runs
# at a time: callers then take turns. Chosen by hand.
MAX_ROWS_IN_TURN = 2**18


@dataclass(eq=False, repr=False)
class Index(SaveMixin, Estimator):
    """Find the rows most like a row or a record, in an index that rows can be added to.

    Every row has an id that stays: integers from 0 in the order of the rows, never used twice, or
    the values of a column, or the labels of a pandas frame (see ``fit``). Rows that are added are
    read and encoded as the fitted ones were; nothing is learned from them until ``refit``.

    Parameters
    ----------
    measure : Measure, name of one, or "auto"
        How alike rows are: ``Gower()``, or "gower" (see ``lookalike.measures.make_measure``).
        "auto" is the default of the library (see ``lookalike.measures.choose_measure``);
        ``reason_`` says why. A clone is fitted; the frozen form of a fitted measure keeps what it
        has learned.
    id_column : str, optional
        A column whose values name the rows; they must differ, and are not compared. Ids written
        with leading zeros in a CSV file need ``kinds={id_column: "text"}``.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    approximate : bool
        Whether a search may miss some of the nearest rows, to be faster on very many rows. A
        graph that links near rows proposes candidates, which the measure itself compares, so
        distances are exact. For ``StochasticForest``, ``ForestProximity`` by shared leaves and
        ``Vector``; other measures are searched exactly, and so are tables where that is as fast
        (fewer than 8,192 rows, or 8 million leaves: rows times trees). Needs the extra "fast"
        (faiss).
    recall : float
        The share of the ten nearest rows that an approximate search should find, tuned on a
        sample of the rows; ``recall_`` is the share on another sample. Both hold for queries like
        the rows, not for queries from elsewhere, such as points between clusters.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    measure_ : the fitted measure
    recall_ : float
        The measured share of the ten nearest rows found, for queries like the rows; 1 for exact
        search.
    reason_ : str
        Why this measure.
    schema_ : how rows are read
    n_features_in_ : number of columns that are compared

    Notes
    -----
    Lists are ordered by (score, position): ties go to the row that was added first. They hold
    fewer than k rows if there are fewer. Rows with nothing to compare to the query come last, at
    distance None.

    An index is thread-safe. Every call that reads (``search``, ``explain``, ``get``, ``ids``,
    ``table``, ``save``, ...) reads the state of the index when the call began (a snapshot) and
    never waits. Calls that write (``add``, ``delete``, ``refit``) run one at a time, and a row is
    visible to all threads once the call that added it has returned. Two calls may see two states:
    an id that was found may be deleted before the next call uses it.

    Examples
    --------
    >>> import lookalike as la
    >>> index = la.Index().fit(la.datasets.load_films())
    >>> star_wars = index.search({"title": "Star Wars", "year": 1977, "length": 121}, k=3)
    """

    FIELDS: ClassVar[fields.Fields] = {
        "measure": IsMeasure(none=""),
        "id_column": fields.Maybe(fields.Instance(str, named="the name of a column")),
        "kinds": fields.KINDS,
        "approximate": fields.Flag(),
        "recall": fields.Real(0.5, 1.0),
        "n_jobs": fields.N_JOBS,
        "state_": fields.Saved("Snapshot"),
        "feature_names_in_": fields.Sometimes(fields.Objects("features", fields.Text())),
    }

    measure: Measure | str = AUTO
    _: KW_ONLY
    id_column: str | None = None
    kinds: Mapping[str, Any] | None = None
    approximate: bool = False
    recall: float = 0.95
    n_jobs: int | None = None
    # All that was learned and all rows; replaced as a whole, never changed.
    state_: Snapshot = field(init=False)
    _folder: ShardFolder | None = field(init=False, default=None)  # None: rows are in memory

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the measure to rows, and store them to be searched.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            The labels of a pandas frame (its index) become the ids of the rows, if they are unique
            and not just 0, 1, 2, ...; they are stored as a column that is not compared, named like
            the frame's index, or "index". A frame that is added later has labels of its own, a
            record names its own in this column.
        y : array of n, or the name of a column, optional
            For measures that learn from a target. A named column is not compared.
        """
        fields.check_params(self)
        count_jobs(self.n_jobs)
        id_column = self.id_column
        # The labels of a matrix of distances name rows and columns alike: they are no ids.
        given = self._given()
        if given is None or not given.traits.pairwise:
            X, labels = with_labels(X, id_column)
            id_column = labels or id_column
        table = self._read(X, id_column)
        if id_column is not None:
            table = take_ids(table, id_column)
        # Fitted before the lock is taken: other threads go on searching the old state meanwhile.
        fitted = self._fit_table(table, y, id_column)
        self._sketch(fitted, tell=True)
        with lock_of(self):
            self.state_, self._folder = fitted, None
        return self

    def _given(self) -> Measure | None:
        """Return the measure that was given, or named; None for "auto"."""
        return None if is_auto(self.measure) else as_measure(self.measure, "Index")

    def _read(self, X: Any, id_column: str | None) -> Table:
        """Read rows to be fitted, as the measure wants them."""
        measure = self._given()
        kinds = dict(self.kinds or {})
        if id_column is not None:
            # As written: floats round large integers, and would make two ids equal.
            kinds.setdefault(id_column, ROW_IDS)
        if measure is not None and measure.traits.pairwise:
            if kinds:
                hint = Phrase("Leave out ", Param("kinds"), " and ", Param("id_column"))
                raise InvalidInput("Index.fit", "distances and nothing else", repr(kinds), hint)
            return measure.read(X)
        table = self._read_kinds(X, kinds, id_column)
        if measure is None:
            return table
        # A frozen measure has a schema, which these rows are read by, but for the column of ids.
        if getattr(measure, "frozen_", False):
            aside = [] if id_column is None else [table[id_column]]
            known = as_table(table.drop([c.name for c in aside]), measure.schema_, who="Index.fit")
            return Table([*known.columns, *aside], known.aside, len(known), known.missing)
        return measure.read(table)

    def _read_kinds(self, X: Any, kinds: dict[str, Any], id_column: str | None) -> Table:
        try:
            return read_table(X, kinds=kinds or None)
        except InvalidInput:
            # If the column of ids is missing, raise the error about it, not about kinds.
            if id_column is not None:
                take_ids(read_table(X, kinds=self.kinds), id_column)
            raise

    def _fit_table(
        self, table: Table, y: Any, id_column: str | None, before: Segments | None = None
    ) -> Snapshot:
        """Fit the measure to rows; those of an index that is fitted again keep their positions."""
        table, target = split_target(table, y, "Index")
        measure, reason = self._choose(table)
        measure = measure.fit(table, target)  # a frozen one stays as it is
        rows = measure.encode(table) if getattr(measure, "frozen_", False) else measure.rows_
        return Snapshot(
            measure=measure,
            reason=reason,
            schema=table.schema,
            segments=Segments.of(rows, table, before),
            id_column=id_column,
            target=y if isinstance(y, str) else None,
            learned_target=y is not None,
            fitted={} if measure.traits.pairwise else learn_fitted(table),
        ).prepared()

    def _choose(self, table: Table | LazyTable) -> tuple[Measure, str]:
        given = self._given()
        measure, reason = choose_measure(table) if given is None else (clone(given), "given")
        if self.n_jobs is not None and getattr(measure, "frozen_", False):
            measure = copy.copy(measure)  # cloning a frozen measure returns the caller's own
        return same_settings(measure, self.n_jobs), reason

    # -- state -------------------------------------------------------------------------------------

    def _now(self) -> Snapshot:
        """Return the current snapshot: what one call reads, whatever is written meanwhile."""
        # scikit-learn's check takes longer than finding an id.
        if "state_" not in self.__dict__:
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

    # -- rows --------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._now().segments)

    def __contains__(self, id: Any) -> bool:
        return id in self._now().names

    @property
    def ids(self) -> list[Any]:
        """The ids of all rows, in the order in which they were added."""
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
        return self._now().segments.table

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
        if (masks := read_filter(filter, now.names, now.schema)) is None:
            return len(now.segments)
        pairs = zip(now.segments.segments, masks, strict=True)
        return sum(int((segment.live & mask).sum()) for segment, mask in pairs)

    # -- changing ----------------------------------------------------------------------------------

    def _write(self, change: Callable[[Snapshot], tuple[Snapshot, Answer]]) -> Answer:
        """Replace the snapshot by one that is made from it; one writer at a time."""
        with lock_of(self):
            while True:
                before = self._now()
                after, answer = change(before)
                self._sketch(after)
                # The lock is reentrant, so a signal handler of this very thread may have written
                # meanwhile: then the change is made again, from the new state.
                if self.state_ is before:
                    # Durable before it is visible: no reader sees rows that a crash would lose.
                    if self._folder is not None:
                        after = self._folder.keep(before, after)
                    self.state_ = after
                    return answer

    def add(self, rows: Any) -> list[Any]:
        """Add rows without learning from them; return their ids.

        Warns when the rows added since fitting are distributed differently (see ``drift``).

        Parameters
        ----------
        rows : table, frame, array, list of records, or one record
            Columns of the fitted rows that a record or frame does not have are missing cells, which
            the measure must take; a column that the fitted rows do not have is an error.
        """

        def change(now: Snapshot) -> tuple[Snapshot, tuple[list[Any], list[ColumnDrift]]]:
            now, ids = now.added(rows, "Index.add")
            now, new = now.look_for_drift()
            return now, (ids, new)

        ids, new = self._write(change)
        warn_of(new, "Index.add")
        return ids

    def delete(self, ids: Any) -> None:
        """Delete rows; their ids are not used again.

        A value of ``id_column`` may be that of a new row again.

        Parameters
        ----------
        ids : id, or ids
            An unknown or repeated id is an error; then nothing is deleted.
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
        """Fit the measure again, to all live rows; ids do not change.

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
                extra = InPython(" of index.ids")
                hint = Phrase("Pass ", Param("y"), " with one entry per id", extra)
                raise InvalidInput("Index.refit", "a target, as in fit", "none", hint)
        # Rows added since may have categories that the schema does not know: they are learned too.
        table = learn_levels(now.segments.table)
        return self._fit_table(table, y, now.id_column, now.segments)

    # -- searching ---------------------------------------------------------------------------------

    @forgiving
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
        among: int | tuple[int, Any] | None = None,
    ) -> Hits | list[Hits]:
        """Return the rows most like the query.

        With ``like`` and ``unlike`` rows are ranked by their mean distance to the query and the
        rows that are liked, minus ``gamma`` times their mean distance to those that are not
        (see ``rocchio``). Rows that were marked are not in the answer, nor is the query.

        Parameters
        ----------
        query : id, record, row of a table, or several of them
            A record is a dictionary; columns that it does not name are missing. For a list of ids
            and records, or a table of several rows, a list of results is returned.
        k : int
            The number of rows to find; fewer are returned if there are fewer.
        like, unlike : ids or records
        gamma : float
            How much the rows that are not liked count.
        filter : text or texts, mapping, callable, ids or boolean array, optional
            Which rows may be found. "day=Sun", or several such conditions: ["year>=1990",
            "genre!=Drama", "tags~red" (contains), "budget=" (missing)]. Or a mapping of column to
            condition: a value, ``(">=", 5)``,
            ``{"in": [...]}`` or None for missing; operators are == != < <= > >= in "not in" and
            contains, and all conditions must hold. A function of the record that returns a bool.
            A list of ids. A boolean array with one entry per row, in the order of ``ids``.
        weights : mapping of column to number >= 0, optional
            How much columns matter in this search: each number multiplies the fitted weight of
            its column, which is 1 unless the measure was given another; columns that are not named
            keep theirs, and 0 leaves a column out. The result is that of an index fitted with
            these weights. For measures that weigh columns, such as ``Gower``; those that learned
            from the fitted weights, such as hubness reducers, raise an error with the reason.
        columns : name or names, optional
            Only these columns count in this search; the others have weight 0.
        among : int, or pair of int and seed, optional
            Draw the k rows from so many nearest ones, in their order: lists of 5 of the 10 nearest
            reach more of a collection than the 5 nearest do [1]_. None: the k nearest. Each row
            has a list of its own, always the same; ``among=(10, 3)`` draws other lists, by seed 3
            instead of 0, ``(10, None)`` draws anew, and a RandomState or Generator is a seed too.

        Returns
        -------
        Hits, or a list of Hits for several queries

        References
        ----------
        .. [1] D. Schnitzer, A. Flexer, M. Schedl, G. Widmer (2012). Local and global scaling reduce
           hubs in space. Journal of Machine Learning Research 13, 2871-2902.

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

        fields.Integer(1).check(WHO, "k", k, "Ask for at least one row")
        check_gamma(gamma, WHO)
        # Lists of k are allocated before the search: a k of a billion must not fill the memory.
        k = max(1, min(int(k), len(now.segments)))
        wide, seed = (k, 0) if among is None else _read_among(among, k, len(now.segments))
        queries = read_query(now, query, Phrase(Param("query", of=WHO)))
        liked = read_some(now, like, Phrase(Param("like", of=WHO)))
        unliked = read_some(now, unlike, Phrase(Param("unlike", of=WHO)))
        _check_marks(now, queries, liked, unliked)
        measure = reweigh(now.measure, now.schema, weights, columns, WHO, queries)
        masks = read_filter(filter, now.names, now.schema)
        asked = _segment_queries(measure, queries, wide, liked, unliked, gamma)
        # Sketches propose rows by the fitted weights, so they are of no use under others.
        proposed = self.approximate and measure is now.measure
        sketches = Sketches(self.recall) if proposed else None
        # The rows that were fitted know what each column is; those added later know less.
        info = SearchInfo(filtered=masks is not None, sample=now.segments.segments[0].table)
        with taking_turns(len(queries) * len(now.segments) <= MAX_ROWS_IN_TURN):
            lists = [now.segments.nearest(one, masks, sketches).plain() for one in asked]
            each = (graph[i : i + 1] for graph in lists for i in range(len(graph)))
            plain, found = liked is unliked is None, []
            for i, graph in enumerate(each):
                drawn = _drawn(graph, k, seed, int(queries.positions[i]))
                found.append(_hits(now, measure, queries, info, i, drawn, plain))
        return found[0] if queries.one else found

    def explain(
        self, a: Any, b: Any, *, weights: Mapping[str, float] | None = None, columns: Any = None
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
        measure = reweigh(now.measure, now.schema, weights, columns, "Index.explain", one, other)
        rows = partial(getattr, other, "rows")
        return Reasons(measure, one.rows, one.cells[0], rows, other.cells, now.styles).of(0)

    # -- an index in a folder ----------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        approximate: bool = False,
        recall: float = 0.95,
        n_jobs: int | None = None,
    ) -> Self:
        """Open an index in a folder of shards, without reading its rows.

        Such a folder is written by ``build_index``, or by ``lookalike index build FILES -o
        FOLDER``. Rows are memory-mapped and read when a search needs them. Everything else is as
        with an index in memory, with the same results; ``add`` and ``delete`` are durable when they
        return. One process may write at a time; those that read keep the state they opened. Rows
        are not checked: check an untrusted folder first (``lookalike index check FOLDER``).

        Parameters
        ----------
        folder : path
        approximate, recall
            Whether a search may miss some of the nearest rows, to be faster, and how few (see
            ``Index``). Its graph is built when the folder is opened and held in memory: some 0.1 ms
            and 300 bytes per row, and as much again for long rows.
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
            opened.head = replace(head, measure=same_settings(copy.copy(head.measure), n_jobs))
            state = replace(state, measure=opened.head.measure)
        # Frozen, so that a clone of the index, or fitting it to other rows, keeps what it learned.
        measure = opened.head.measure.frozen()
        options: dict[str, Any] = {"approximate": approximate, "recall": recall, "n_jobs": n_jobs}
        index = cls(measure, id_column=head.id_column, **options)
        fields.check_params(index)
        index._folder = opened
        index._sketch(state, tell=True)
        index.state_ = state
        return index

    @property
    def folder(self) -> Path | None:
        """The folder of the rows; None for an index in memory."""
        return None if self._folder is None else self._folder.path

    @property
    def generation(self) -> int:
        """How often the folder was written before it was opened; 0 for an index in memory."""
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
            found = f"one in the folder {str(self._folder.path)!r}"
            hint = "Copy the folder; every change is in it already"
            raise InvalidInput("Index.save", "an index in memory", found, hint)
        super().save(path)

    @property
    def sample(self) -> Table:
        """Some rows, evenly spread, that show how cells are written; all rows if in memory."""
        return self._now().segments.segments[0].typical_table

    def check(self) -> dict[str, list[str]]:
        """Read every file of the folder, compare hashes and check the rows; return what is wrong.

        Returns
        -------
        mapping of the name of a shard to its faults, empty if all are intact
        """
        return {} if self._folder is None else self._folder.faults()

    def add_files(self, paths: Any) -> int:
        """Add the rows of Parquet files to an index in a folder, a shard at a time.

        As ``add``, for more rows than fit in memory: all of them are added, or none. Returns how
        many. Drift is checked while there are less than a million added rows; ``drift`` reads them
        all.

        Parameters
        ----------
        paths : path, folder, pattern such as ``"rows/*.parquet"``, or several
            With all columns of the fitted rows.
        """
        # Imported late: a build makes indexes.
        from lookalike.index.shards.build import ADD_FILES, begin_adding

        if self._folder is None:
            hint = Phrase("Build the index in a folder", InPython(", or use add(read_table(path))"))
            raise InvalidInput(ADD_FILES, "an index in a folder", "one in memory", hint)
        with lock_of(self), locked(self._folder.path, ADD_FILES):
            addition = begin_adding(self._folder, paths)
            progress = Progress("writing shards", len(addition.parts))
            for number in range(len(addition.parts)):
                addition.write_part(number)
                progress.advance()
            addition.finish()
            state = self._folder.snapshot()
            new: list[ColumnDrift] = []
            if sum(map(len, state.segments.added_later)) <= MAX_ROWS_COPIED:
                state, new = state.look_for_drift()
            self._sketch(state)
            self.state_ = state
        warn_of(new, ADD_FILES)
        return len(addition.files)

    def compact(self) -> Self:
        """Drop deleted rows and merge small segments; ids and results do not change.

        Of an index in a folder, shards with deleted rows and small shards are written again, one
        at a time, so that it takes no more memory than one.

        Examples
        --------
        >>> import lookalike as la
        >>> index = la.Index().fit({"size": [1.0, 2.5, 2.0, 4.0]})
        >>> index.delete(1)
        >>> index.compact().ids
        [0, 2, 3]
        """
        folder = self._folder
        max_rows = MAX_ROWS_COPIED if folder is None else folder.manifest.shard_rows
        while self._write(lambda now: now.compacted(max_rows)):
            pass
        return self

    # -- neighbors of all rows ---------------------------------------------------------------------

    @forgiving
    def kneighbors(self, X: Any = None, n_neighbors: int = 5, return_distance: bool = True) -> Any:
        """Return the nearest rows as scikit-learn does: (distances, indices).

        Parameters
        ----------
        X : table, frame, array, records or ids, optional
            Rows to find the neighbors of. None: the rows of the index; none is in its own list.
        n_neighbors : int
            Never shrunk: more than there are rows is an error.
        return_distance : bool
            False: indices only.

        Returns
        -------
        distances : float array of shape (rows of X, n_neighbors), ascending in each row
        indices : int array of the same shape
            Positions in ``ids`` and ``table``, which leave deleted rows out:
            ``index.table[indices[0]]`` are the neighbors of the first row.

        Examples
        --------
        >>> import lookalike as la
        >>> index = la.Index("gower").fit({"size": [1.0, 2.5, 2.0]})
        >>> distances, indices = index.kneighbors([{"size": 2.5}], n_neighbors=2)
        >>> distances.round(3).tolist(), indices.tolist()
        ([[0.0, 0.333]], [[1, 2]])
        """
        now = self._now()
        segments, measure, who = now.segments, now.measure, "Index.kneighbors"
        if X is None:
            check_k(n_neighbors, len(segments) - 1, who, True)
            graph = self.neighbors(n_neighbors)
        else:
            check_k(n_neighbors, len(segments), who, False)
            queries = read_query(now, X, who)
            asked = SegmentQuery(measure, queries.rows, n_neighbors, queries.positions)
            last = "last" if measure.traits.undefined_last else "raise"
            graph = segments.nearest(asked).finish(last)
        # Positions count deleted rows, which have no place in ``ids`` any more.
        indices = np.searchsorted(segments.positions, graph.indices)
        return (graph.distances, indices) if return_distance else indices

    def neighbors(self, k: int = 5) -> NeighborGraph:
        """Return the k nearest rows of every row, exactly, as a fold over the segments.

        Rows are named by position, which is the id unless a column holds the ids; a row is not in
        its own list. The lists are those that ``Measure.neighbors`` finds in memory, to the last
        bit and tie.

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
        check_list_size("Index.neighbors", n, k, "or ask for fewer neighbors")
        # By position, deleted rows included, since that is what lists of one shard are written by.
        whole = neighbors_of(now, 0, segments.next_position, k)
        # Deleted rows have no list.
        if n < segments.next_position:
            whole = whole[segments.positions]
        return whole.finish("last" if measure.traits.undefined_last else "raise")

    # -- approximate search ------------------------------------------------------------------------

    def _sketch(self, state: Snapshot, tell: bool = False) -> None:
        """Build the graphs of approximate search before the first search needs them."""
        _, why = self._tuned(state)
        if why and tell:
            guide = ", or see the guide to approximate search for measures that have sketches"
            hint = ("Rows are searched exactly; leave out ", Param("approximate", True), guide)
            who, needed = Param("approximate", True, of=type(self).__name__), "rows with sketches"
            warnings.warn(LookalikeWarning(who, needed, why, hint), stacklevel=4)

    def _tuned(self, state: Snapshot) -> tuple[float, str]:
        """Return the recall over all segments, and why rows are searched exactly if they are."""
        if not self.approximate:
            return 1.0, ""
        segments, sketches = state.segments.segments, Sketches(self.recall)
        tuned = [sketches.tuned(state.measure, segment.rows) for segment in segments]
        whole = sum(map(len, segments))
        hits = sum(part.recall * len(rows) for part, rows in zip(tuned, segments, strict=True))
        return hits / max(1, whole), next((part.why for part in tuned if part.why), "")

    @property
    def recall_(self) -> float:
        """The share of the ten nearest rows that a search finds, measured on a sample of rows.

        1 for exact search. Rows as near as the tenth count as found. Segments of the index, of
        which added rows have their own, are weighted by their rows. It holds for queries like the
        rows: of random points in the box around clusters half of the neighbors were found.
        """
        return self._tuned(self.state_)[0]

    def check_loaded(self, dims: fields.Dims) -> None:
        """Build the graphs of approximate search again: they are not saved."""
        self._sketch(self.state_)

    def __repr__(self) -> str:
        text = super().__repr__()
        if not (self.approximate and hasattr(self, "state_")):
            return text
        found = f"finds {self.recall_:.1%} of the ten nearest rows, for queries like the rows"
        return f"{text}  # {found}"

    # -- scikit-learn ------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """Return a summary for notebooks; before fitting the parameters, as scikit-learn."""
        if not hasattr(self, "state_"):
            return super()._repr_html_()
        now, most = self.state_, MAX_INDEX_COLUMNS
        kinds, ids = now.schema.kinds, now.names.of(now.segments.positions[:3])
        names = [f"{short(name, 24)} ({kind.label})" for name, kind in list(kinds.items())[:most]]
        more = f" and {len(kinds) - most} more" if len(kinds) > most else ""
        facts = [
            ("rows", f"{len(now.segments):,}"),
            ("columns", ", ".join(names) + more),
            ("ids", ", ".join(map(short, ids)) + (", …" if len(now.segments) > len(ids) else "")),
            ("measure", type(now.measure).__name__),
            ("why", now.reason),
        ]
        return fragment(html_table(facts, caption=repr(self), text=(1,)))

    def __sklearn_tags__(self) -> Any:
        from lookalike.measures.task import copy_input_tags  # loads scikit-learn

        tags = super().__sklearn_tags__()
        # "auto" takes what Gower takes, its fallback.
        return copy_input_tags(tags, self.measure)


def _check_marks(
    now: Snapshot, queries: Queries, liked: Queries | None, unliked: Queries | None
) -> None:
    """Refuse a row that is both wanted and not wanted."""
    if unliked is None:
        return
    unwanted = set(unliked.positions[unliked.positions >= 0].tolist())
    for where, wanted in (("in like", liked), ("as the query", queries)):
        both = [] if wanted is None else [p for p in wanted.positions.tolist() if p in unwanted]
        if both:
            found = f"id {now.names.of(both[:1])[0]!r} in unlike and {where}"
            hint = "Take it out of one of them"
            raise InvalidInput(WHO, "each row on one side only", found, hint)


def _segment_queries(
    measure: Measure,
    queries: Queries,
    k: int,
    liked: Queries | None,
    unliked: Queries | None,
    gamma: float,
) -> list[SegmentQuery]:
    """Return one search for all queries; with feedback one for each."""
    both = liked, unliked
    if liked is unliked is None:
        return [SegmentQuery(measure, queries.rows, k, queries.positions)]
    asked, nowhere = [], np.array([-1])
    for i, own in enumerate(queries.positions.tolist()):
        # The query counts as liked; a mark that repeats it, or another mark, counts once.
        yes, no = (None if marks is None else marks.once(own) for marks in both)
        positive = join_rows([queries.rows[i : i + 1], *([] if yes is None else [yes])])
        marked = [marks.positions for marks in both if marks is not None]
        omit = np.unique(np.concatenate([[own], *marked]))
        asked.append(SegmentQuery(measure, positive, k, nowhere, omit[omit >= 0], gamma, no))
    return asked


def _read_among(among: Any, k: int, n: int) -> tuple[int, int]:
    """Return from how many nearest rows k are drawn, and the seed of the draw."""
    number, seed = among if isinstance(among, list | tuple) and len(among) == 2 else (among, 0)
    fields.Integer(1).check(WHO, "among", number, "Ask for at least one row")
    who = Param("among", among, of=WHO)
    if number < k:
        hint = ("Raise it, or lower ", Param("k", int(number)))
        raise InvalidInput(who, f"at least k, {k}", str(number), hint)
    if not RANDOM_STATE.fits(seed):
        hint = ("Pass for example ", Param("among", (int(number), 3)))
        raise InvalidInput(who, f"a seed: {RANDOM_STATE.describe()}", repr(seed), hint)
    return min(int(number), n), make_seed(seed)


def _drawn(graph: NeighborGraph, k: int, seed: int, position: int) -> NeighborGraph:
    """Draw k neighbors from a longer list, by the position of its row, in their order."""
    if graph.k <= k:
        return graph
    there = max(k, int((graph.indices >= 0).sum()))  # those not found stand at the end
    at = np.random.default_rng([seed, position + 1]).choice(there, k, replace=False)
    indices, distances = graph.indices[:, np.sort(at)], graph.distances[:, np.sort(at)]
    return NeighborGraph(indices, distances, graph.n_indexed)


def _hits(
    now: Snapshot,
    measure: Measure,
    queries: Queries,
    info: SearchInfo,
    i: int,
    graph: NeighborGraph,
    by_distance: bool,
) -> Hits:
    """Return the hits of query i, the only list of a graph, with the similarities to it."""
    # Fewer rows than k may be found, under a filter for instance.
    found = graph.indices[0] >= 0
    positions, scores = graph.indices[0][found].tolist(), graph.distances[0][found]
    query, (table, row) = queries.rows[i : i + 1], queries.cells[i]
    record = partial(table.record, row)
    asked = cache(partial(_asked, measure, now.schema, record, queries.positions[i] < 0))
    hits = []
    if positions:
        locations = now.segments.look_up(positions)
        cells = [(segment.table, offset) for segment, offset in locations]
        find = partial(rows_at, locations)
        reasons = Reasons(measure, query, (table, row), find, cells, now.styles)
        # Similarities follow from the distances of the list where the measure has a formula;
        # feedback scores are not distances, so then the pairs are compared again.
        far, near = scores, measure.similarity_at(scores) if by_distance else None
        if near is None:
            far, near = (values[0] for values in measure.both_blocks(query, reasons.rows))
        columns = now.names.of(positions), scores.tolist(), far.tolist(), near.tolist()
        for number, (id, score, apart, alike) in enumerate(zip(*columns, strict=True)):
            why = partial(reasons.of, number)
            values = _finite(score), _finite(apart), _finite(alike)
            hits.append(Hit(id, *values, cells[number], why, asked))
    (id,) = [None] if queries.positions[i] < 0 else now.names.of(queries.positions[i : i + 1])
    return Hits(hits, record, replace(info, id=id))


def _asked(
    measure: Measure, schema: Schema, record: Callable[[], dict[str, Any]], new: bool
) -> dict[str, Any]:
    """Return the cells of the query that count: not those without a weight.

    Columns that a record leaves open are not compared; missing cells of a stored row are.
    """
    weights = getattr(measure, "weights_", None)
    known = weights if isinstance(weights, Mapping) else {}
    return {
        name: cell
        for name, cell in record().items()
        if name in schema.kinds and known.get(name, 1.0) and not (new and cell is None)
    }


def _read_one(now: Snapshot, side: Any) -> Queries:
    read = read_query(now, side, "Index.explain")
    if len(read) != 1:
        needed, hint = "one row on each side", "Give an id, a record, or a table of one row"
        raise InvalidInput("Index.explain", needed, f"{len(read)} rows", hint)
    return read


def _finite(value: float) -> float | None:
    # Lists have inf where two rows have nothing to compare; JSON has no such number.
    return value if -INFINITY < value < INFINITY else None
