"""The rows that an index holds: fitted once, then added to and deleted from."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from lookalike._config import count_jobs
from lookalike._params import KINDS, N_JOBS, AnyOf, Is, OneOf, Rule, check_params
from lookalike._save import Saved
from lookalike.errors import InvalidInput, LookalikeWarning, message
from lookalike.measures.base import Measure
from lookalike.measures.task import copy_input_tags
from lookalike.search.choose import choose_measure
from lookalike.search.drift import Drift, learn_fitted, report_drift
from lookalike.search.ids import RowIds, as_id, take_ids
from lookalike.search.query import QueryReader
from lookalike.search.segments import Segments
from lookalike.search.tables import concatenate as join_tables
from lookalike.search.tables import learn_levels
from lookalike.table import Kind, Schema, Table, as_table, read_table
from lookalike.table.targets import split_target

__all__ = ["_IndexBase"]

AUTO = "auto"


class _IndexBase(Saved, BaseEstimator):
    """Base of the index: everything but searching."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "measure": AnyOf(OneOf(AUTO), Is(Measure, named="a measure, such as Gower()")),
        "id_column": AnyOf(OneOf(None), Is(str, named="the name of a column")),
        "kinds": KINDS,
        "n_jobs": N_JOBS,
    }

    measure: Measure | str
    id_column: str | None
    kinds: Mapping[str, Any] | None
    n_jobs: int | None

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
            kinds.setdefault(self.id_column, "object")  # as written: a large number is not a float
        if isinstance(measure, Measure) and measure.traits.pairwise:
            if kinds:
                do = "Leave out kinds= and id_column="
                raise InvalidInput(
                    message("Index.fit", "distances and nothing else", repr(kinds), do)
                )
            return measure.read(X)
        try:
            table = read_table(X, kinds=kinds or None)
        except InvalidInput:
            # Was it the column of ids that is not there? Then say so in its name.
            if self.id_column is not None:
                take_ids(read_table(X, kinds=self.kinds), self.id_column)
            raise
        if isinstance(measure, str):
            return table
        if getattr(measure, "frozen_", False):
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
        if getattr(measure, "frozen_", False):
            rows = self.measure_.encode(table)
        self.schema_ = table.schema
        self.n_features_in_ = self.measure_.n_features_in_
        if self.measure_.traits.pairwise:
            self.fitted_ = {}
        else:
            self.fitted_ = learn_fitted(table)
        self.segments_ = Segments.of(rows, table, places)
        self.drifted_: list[str] = []
        self.checked_ = 0
        self.__dict__.pop("_names", None)  # worked out from the rows, and not saved
        return self

    def _choose(self, table: Table) -> tuple[Measure, str]:
        if isinstance(self.measure, str):
            measure, reason = choose_measure(table)
        else:
            measure, reason = clone(self.measure), "given"
        if self.n_jobs is not None:
            if getattr(measure, "frozen_", False):
                measure = copy.copy(measure)  # the caller's own stays as it is
            nested = measure.get_params()
            idle = [n for n in nested if n.rpartition("__")[2] == "n_jobs" and nested[n] is None]
            measure.set_params(**dict.fromkeys(idle, self.n_jobs))
        return measure, reason

    @property
    def _ids(self) -> RowIds:
        """The names of the rows, if a column gives them."""
        check_is_fitted(self, "segments_")
        if "_names" not in self.__dict__:
            self.__dict__["_names"] = RowIds(self.segments_, self.id_column)
        return self.__dict__["_names"]

    # -- looking at the rows -----------------------------------------------------------------------

    def __len__(self) -> int:
        check_is_fitted(self, "segments_")
        return len(self.segments_)

    def __contains__(self, id: Any) -> bool:
        return self._ids.find(id) is not None

    @property
    def ids(self) -> list[Any]:
        """The ids of all rows, in the order in which they came."""
        return self._ids.of(self._ids.segments.places)

    def get(self, id: Any) -> dict[str, Any]:
        """Return a row as a record.

        Parameters
        ----------
        id : int, or a value of the id column
        """
        found = self.segments_.find(self._ids.place(id, "Index.get"))
        assert found is not None
        segment, at = found
        return segment.table.record(at)

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
        check_is_fitted(self, "segments_")
        parts = [
            segment.table[segment.alive]
            for segment in self.segments_.segments
            if segment.alive.any()
        ]
        return join_tables(parts or [self.segments_.segments[0].table[:0]])

    def _reader(self) -> QueryReader:
        ids = self._ids
        return QueryReader(
            self.measure_, self.schema_, self.segments_, ids.place, self.id_column is not None
        )

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
        places = self.segments_.add(self.measure_.encode(table), table)
        self._warn_drift()
        return ids.note_added(places)

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
        names.note_deleted(wanted)
        self.segments_.hide(places)

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
        check_is_fitted(self, "segments_")
        first, *later = self.segments_.segments
        added = [segment.table[segment.alive] for segment in later if segment.alive.any()]
        return report_drift(self.fitted_, int(np.count_nonzero(first.alive)), added)

    def _warn_drift(self) -> None:
        """Warn once about every column that has drifted."""
        added = sum(map(len, self.segments_.segments[1:]))
        if added < 1.1 * self.checked_:  # rows may come one by one: look again after some more
            return
        self.checked_ = added
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
        if y is None and self.learned_target_:
            y = self.target_
            if y is None:
                do = "Pass y with one entry per id of index.ids"
                raise InvalidInput(message("Index.refit", "a target, as in fit", "none", do))
        places, next_place = names.segments.places, names.segments.next_place
        self._fit_table(learn_levels(self.table), y, places)
        self.segments_.next_place = next_place  # ids of deleted rows are not given again
        return self

    # -- scikit-learn ------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # "auto" takes whatever Gower takes, since it falls back on it.
        return copy_input_tags(tags, self.measure)
