"""Rows to be searched: fitted once, then added to, deleted from, asked and explained."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from lookalike._config import count_jobs
from lookalike._params import AnyOf, AtLeast, Is, OneOf, Rule, check_params
from lookalike._save import Saved
from lookalike.errors import InvalidInput, LookalikeWarning, message, suggest
from lookalike.measures.base import Measure
from lookalike.measures.explanation import Explanation
from lookalike.measures.rows import concatenate as join_rows
from lookalike.measures.target import split_target
from lookalike.neighbors.graph import NeighborGraph
from lookalike.search.choose import choose_measure
from lookalike.search.drift import Drift, learn_fitted, report_drift
from lookalike.search.filters import ask_records, meets, read_conditions
from lookalike.search.hits import Hit, Hits, explain_rows
from lookalike.search.names import Names, as_id, take_ids
from lookalike.search.query import Asked, Reader
from lookalike.search.rocchio import check_gamma
from lookalike.search.shelves import Shelves, Wanted
from lookalike.search.tables import concatenate as join_tables
from lookalike.search.tables import learn_levels
from lookalike.table import Kind, Schema, Table, as_table, read_table

__all__ = ["Index"]

AUTO = "auto"
WHO = "Index.search"


class Index(Saved, BaseEstimator):
    """Find the rows most like a row or a record, and keep doing so while rows come and go.

    Every row has an id that stays: whole numbers from 0 in the order of the rows, never given
    twice, or the values of a column. Rows that are added are read and encoded as the fitted ones
    were; nothing is learned from them until ``refit``. Deleting hides a row.

    Parameters
    ----------
    measure : Measure or "auto"
        How alike rows are. "auto" chooses by the columns, the gaps, the number of rows and the
        hubs of a sample; ``reason_`` says why (see ``choose_measure``). A clone is fitted; the
        frozen form of a fitted measure keeps what it has learned.
    id_column : str, optional
        A column whose values name the rows; they must differ, and are not compared. Ids written
        with leading zeros in a CSV file need ``kinds={id_column: "text"}``.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    measure_ : the fitted measure
    reason_ : str
        Why this measure.
    schema_ : how rows are read
    n_features_in_ : number of columns that are compared

    Notes
    -----
    Lists are ordered by (score, age of the row): ties go to the row that came first. They hold
    fewer than k rows if fewer are there. Rows with nothing to compare to the query come last, at
    distance None.

    Examples
    --------
    >>> import lookalike as la
    >>> index = la.Index().fit(la.datasets.load_films())
    >>> star_wars = index.search({"title": "Star Wars", "year": 1977, "length": 121}, k=3)
    """

    PARAMS: ClassVar[dict[str, Rule]] = {
        "measure": AnyOf(OneOf(AUTO), Is(Measure, named="a measure, such as Gower()")),
        "id_column": AnyOf(OneOf(None), Is(str, named="the name of a column")),
        "kinds": AnyOf(OneOf(None), Is(Mapping, named="a mapping of column to kind")),
        "n_jobs": AnyOf(OneOf(None), Is(int, named="a whole number")),
    }

    def __init__(
        self,
        measure: Measure | str = AUTO,
        *,
        id_column: str | None = None,
        kinds: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.id_column = id_column
        self.kinds = kinds
        self.n_jobs = n_jobs

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep rows to be searched.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            For measures that learn from a target. A named column is not compared.
        """
        check_params(self)
        count_jobs(self.n_jobs)
        table = self._read(X)
        self.id_kind_: Kind | None = None
        if self.id_column is not None:
            table, self.id_kind_ = take_ids(table, self.id_column)
        return self._fit_table(table, y, None)

    def _read(self, X: Any) -> Table:
        """Read rows to be fitted, as the measure wants them."""
        measure = self.measure
        kinds = dict(self.kinds or {})
        if self.id_column is not None:
            kinds.setdefault(self.id_column, "object")  # as written: a large number is no float
        if isinstance(measure, Measure) and measure.traits.pairwise:
            if kinds:
                do = "Leave out kinds= and id_column="
                raise InvalidInput(
                    message("Index.fit", "distances and nothing else", repr(kinds), do)
                )
            return measure.read(X)
        table = read_table(X, kinds=kinds or None)
        if isinstance(measure, str):
            return table
        if getattr(measure, "_frozen", False):
            aside = [] if self.id_column is None else [table[self.id_column]]
            known = as_table(table.drop([c.name for c in aside]), measure.schema_, who="Index.fit")
            return Table([*known.columns, *aside], known.aside, len(known), known.missing)
        return measure.read(table)

    def _fit_table(self, table: Table, y: Any, places: np.ndarray | None) -> Self:
        table, target = split_target(table, y, "Index")
        self.target_: str | None = y if isinstance(y, str) else None
        self.learned_target_ = y is not None
        measure, self.reason_ = self._choose(table)
        self.measure_ = measure.fit(table, target)  # a frozen one stays as it is
        rows = self.measure_.rows_
        if getattr(measure, "_frozen", False):
            rows = self.measure_.encode(table)
        self.schema_ = table.schema
        self.n_features_in_ = self.measure_.n_features_in_
        if self.measure_.traits.pairwise:
            self.fitted_ = {}
        else:
            self.fitted_ = learn_fitted(table)
        self.shelves_ = Shelves.of(rows, table, places)
        self.drifted_: list[str] = []
        self._forget()
        return self

    def _choose(self, table: Table) -> tuple[Measure, str]:
        if isinstance(self.measure, str):
            measure, reason = choose_measure(table)
        else:
            measure, reason = clone(self.measure), "given"
        if self.n_jobs is not None:
            if getattr(measure, "_frozen", False):
                measure = copy.copy(measure)  # the caller's own stays as it is
            nested = measure.get_params()
            idle = [n for n in nested if n.rpartition("__")[2] == "n_jobs" and nested[n] is None]
            measure.set_params(**dict.fromkeys(idle, self.n_jobs))
        return measure, reason

    def _forget(self) -> None:
        """Drop what is worked out from the rows and not saved."""
        self.__dict__.pop("_names", None)

    @property
    def _ids(self) -> Names:
        """The names of the rows, if a column gives them."""
        check_is_fitted(self, "shelves_")
        if "_names" not in self.__dict__:
            self.__dict__["_names"] = Names(self.shelves_, self.id_column)
        return self.__dict__["_names"]  # type: ignore[no-any-return]

    # -- looking at the rows -----------------------------------------------------------------------

    def __len__(self) -> int:
        check_is_fitted(self, "shelves_")
        return len(self.shelves_)

    def __contains__(self, id: Any) -> bool:
        return self._ids.find(id) is not None

    @property
    def ids(self) -> list[Any]:
        """The ids of all rows, in the order in which they came."""
        return self._ids.of(self._ids.shelves.places)

    def get(self, id: Any) -> dict[str, Any]:
        """Return a row as a record.

        Parameters
        ----------
        id : int, or a value of the id column
        """
        found = self.shelves_.find(self._ids.place(id, "Index.get"))
        assert found is not None
        shelf, at = found
        return shelf.table.record(at)

    def records(self, ids: Iterable[Any] | None = None) -> list[dict[str, Any]]:
        """Return rows as records.

        Parameters
        ----------
        ids : ids, optional
            None: all rows, in the order of ``ids``.
        """
        return [self.get(id) for id in (self.ids if ids is None else ids)]

    @property
    def table(self) -> Table:
        """All rows as one table, in the order of ``ids``."""
        check_is_fitted(self, "shelves_")
        parts = [shelf.table[shelf.alive] for shelf in self.shelves_.shelves if shelf.alive.any()]
        return join_tables(parts or [self.shelves_.shelves[0].table[:0]])

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
        >>> index.search(0, k=1, like=3).ids
        [1]
        """
        reader = self._reader()
        if not AtLeast(1).fits(k):
            do = "Ask for at least one row"
            raise InvalidInput(message(f"{WHO}(k={k!r})", "a whole number of at least 1", repr(k), do))
        check_gamma(gamma, WHO)
        asked = reader.read(query, WHO)
        liked = reader.read_some(like, f"{WHO}(like=...)")
        unliked = reader.read_some(unlike, f"{WHO}(unlike=...)")
        self._check_marks(asked, liked, unliked)
        masks = self._masks(filter)
        if liked is None and unliked is None:
            nobody = np.empty(0, np.int64)
            found = self.shelves_.nearest(
                self.measure_, asked.rows, int(k), asked.places, nobody, masks
            )
            answers = [self._hits(asked, i, found[i : i + 1]) for i in range(len(asked))]
        else:
            answers = [
                self._hits(asked, i, self._rank(asked, i, int(k), liked, unliked, gamma, masks))
                for i in range(len(asked))
            ]
        return answers[0] if asked.one else answers

    def _reader(self) -> Reader:
        ids = self._ids
        return Reader(
            self.measure_, self.schema_, self.shelves_, ids.place, self.id_column is not None
        )

    def _check_marks(self, asked: Asked, liked: Asked | None, unliked: Asked | None) -> None:
        """Refuse a row that is wanted and not wanted at once."""
        if unliked is None:
            return
        no = set(unliked.places[unliked.places >= 0].tolist())
        for what, wanted in (("like", liked), ("the query", asked)):
            both = [] if wanted is None else [p for p in wanted.places.tolist() if p in no]
            if both:
                id = self._ids.of(both[:1])[0]
                found = f"id {id!r} in unlike and {'in ' if what == 'like' else 'as '}{what}"
                raise InvalidInput(
                    message(WHO, "each row on one side only", found, "Take it out of one of them")
                )

    def _rank(
        self,
        asked: Asked,
        i: int,
        k: int,
        liked: Asked | None,
        unliked: Asked | None,
        gamma: float,
        masks: Sequence[np.ndarray] | None,
    ) -> NeighborGraph:
        """Return the best rows by feedback for one of the queries."""
        positive, hide = [asked.rows[i : i + 1]], {int(asked.places[i])}
        for marked in (liked, unliked):
            if marked is None:
                continue
            # The same row marked twice, or a query that is also liked, counts once.
            fresh = [
                at
                for at, place in enumerate(marked.places.tolist())
                if place < 0
                or (place != asked.places[i] and place not in marked.places[:at].tolist())
            ]
            if marked is liked and fresh:
                positive.append(marked.rows[np.array(fresh)])
            elif fresh:
                unliked = replace(marked, rows=marked.rows[np.array(fresh)])
            hide |= set(marked.places.tolist())
        negative = None if unliked is None else unliked.rows
        wanted = Wanted(join_rows(positive), negative, gamma)
        gone = np.array(sorted(hide - {-1}), dtype=np.int64)
        return self.shelves_.best(self.measure_, wanted, k, gone, masks)

    def _hits(self, asked: Asked, i: int, found: NeighborGraph) -> Hits:
        """Return what was found for one query, with distances and similarities to it."""
        kept = found.indices[0] >= 0
        places, scores = found.indices[0][kept].tolist(), found.distances[0][kept].tolist()
        query, one = asked.rows[i : i + 1], asked.table[i : i + 1]
        hits = []
        if places:
            rows, table = self.shelves_.take(places)
            far = self.measure_.block(query, rows)[0]
            near = self.measure_.block(query, rows, "similarity")[0]
            for at, (id, score) in enumerate(zip(self._ids.of(places), scores, strict=True)):
                part = slice(at, at + 1)
                pair = self.measure_, query, one, rows[part], table[part]
                numbers = (_finite(value) for value in (score, float(far[at]), float(near[at])))
                hits.append(Hit(id, *numbers, pair))
        return Hits(hits, one.record(0))

    def _masks(self, filter: Any) -> list[np.ndarray] | None:
        """Return which rows of each shelf may be found; None for all."""
        if filter is None:
            return None
        shelves = self.shelves_.shelves
        if isinstance(filter, Mapping):
            conditions = read_conditions(filter, [*self.schema_.kinds, *self.schema_.aside])
            return [meets(shelf.table, conditions) for shelf in shelves]
        if callable(filter):
            return [ask_records(shelf.table, shelf.alive, filter) for shelf in shelves]
        if isinstance(filter, str):
            do = 'Pass for example filter={"year": (">=", 1990)}'
            raise InvalidInput(message("filter", "a mapping of column to condition", repr(filter), do))
        chosen = np.asarray(list(filter) if isinstance(filter, set | frozenset) else filter)
        if chosen.dtype == bool:
            if chosen.shape != (len(self),):
                found = f"shape {chosen.shape}"
                do = "Give one entry per id of index.ids"
                raise InvalidInput(message("filter", f"{len(self):,} booleans", found, do))
            places = self.shelves_.places[chosen]
        else:
            places = np.array([self._ids.place(id, "filter") for id in filter], dtype=np.int64)
        return [np.isin(shelf.places, places) for shelf in shelves]

    def explain(self, a: Any, b: Any) -> Explanation:
        """Say why two rows are alike, column by column.

        Parameters
        ----------
        a, b : ids, records, or tables of one row
        """
        reader = self._reader()
        pair = []
        for side in (a, b):
            read = reader.read(side, "Index.explain")
            if len(read) != 1:
                do = "Pass an id, a record, or a table of one row"
                raise InvalidInput(
                    message("Index.explain", "one row on each side", f"{len(read)} rows", do)
                )
            pair += [read.rows, read.table]
        return explain_rows(self.measure_, *pair)

    # -- changing ----------------------------------------------------------------------------------

    def add(self, rows: Any) -> list[Any]:
        """Add rows without learning from them; return their ids.

        Warns when the rows that came since fitting no longer look like the fitted ones (see
        ``drift``).

        Parameters
        ----------
        rows : table, frame, array, list of records, or one record
            With all columns of the fitted rows; a cell may be missing where the measure takes gaps.
        """
        who = "Index.add"
        ids = self._ids
        reader = self._reader()
        if self.id_kind_ is None or self.id_column is None:
            table = reader.read_table(rows, who)
        else:
            kinds = {**self.schema_.kinds, self.id_column: self.id_kind_}
            aside = {n: why for n, why in self.schema_.aside.items() if n != self.id_column}
            whole = as_table(rows, Schema(kinds, aside, self.schema_.missing), who=who)
            table, _ = take_ids(whole, self.id_column, who, ids.known)
        places = self.shelves_.add(self.measure_.encode(table), table)
        self._forget()
        self._warn_drift()
        return self._ids.of(places)

    def delete(self, ids: Any) -> None:
        """Hide rows from all further searches; their ids are not given again.

        A value of ``id_column`` may come back with a new row.

        Parameters
        ----------
        ids : id, or ids
            One that is not there, or named twice, is an error; then nothing is deleted.
        """
        names = self._ids
        listed = hasattr(ids, "__iter__") and not isinstance(ids, str | bytes)
        wanted = list(ids) if listed else [ids]
        places = [names.place(id, "Index.delete") for id in wanted]
        twice = [id for at, id in enumerate(wanted) if places[at] in places[:at]]
        if twice:
            found = f"id {as_id(twice[0])!r} twice"
            raise InvalidInput(message("Index.delete", "each id once", found, "Name it once"))
        self.shelves_.hide(places)
        self._forget()

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
        check_is_fitted(self, "shelves_")
        first, *later = self.shelves_.shelves
        added = [shelf.table[shelf.alive] for shelf in later if shelf.alive.any()]
        return report_drift(self.fitted_, int(np.count_nonzero(first.alive)), added)

    def _warn_drift(self) -> None:
        """Warn once about every column that has drifted."""
        found = self.drift()
        new = [c for c in found.columns if c.reason and c.column not in self.drifted_]
        if not new:
            return
        self.drifted_ = [*self.drifted_, *(column.column for column in new)]
        warnings.warn(
            message(
                "Index.add",
                "rows like the fitted ones",
                "; ".join(f"in {column.column!r} {column.reason}" for column in new),
                "Call refit() to learn from them; drift() tells more",
            ),
            LookalikeWarning,
            stacklevel=3,
        )

    def refit(self, y: Any = None) -> Self:
        """Fit the measure again, to all rows that are there now; ids stay as they are.

        Deleted rows are dropped for good. With "auto" the measure is chosen again.

        Parameters
        ----------
        y : array with one entry per id, optional
            Needed if the index was fitted with an array; a column that was named is used again.
        """
        names = self._ids
        if self.measure_.traits.pairwise:
            do = "Make a new index from the matrix of all distances"
            raise InvalidInput(message("Index.refit", "rows", "distances to fitted rows", do))
        if not len(self):
            raise InvalidInput(message("Index.refit", "at least one row", "none", "Add rows"))
        table = learn_levels(self.table)
        places = names.shelves.places
        if y is None and self.target_ is not None:
            target = self.target_
            aside = [column for column in table.aside if column.name != target]
            columns = [*table.columns, table[target]]
            return self._renumber(Table(columns, aside, len(table), table.missing), target, places)
        if y is None and self.learned_target_:
            do = "Pass y with one entry per id of index.ids"
            raise InvalidInput(message("Index.refit", "a target, as in fit", "none", do))
        return self._renumber(table, y, places)

    def _renumber(self, table: Table, y: Any, places: np.ndarray) -> Self:
        next_place = self.shelves_.next_place
        self._fit_table(table, y, places)
        self.shelves_.next_place = next_place  # ids of deleted rows are not given again
        return self


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
