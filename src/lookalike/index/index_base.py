"""The rows that an index holds: fitted once, then added to and deleted from."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self, TypeVar

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.config import count_jobs
from lookalike._runtime.threads import lock_of
from lookalike.errors import InPython, InvalidInput, Param, Phrase
from lookalike.index.approximate import MayMiss
from lookalike.index.choose import choose_measure
from lookalike.index.drift import ColumnDrift, Drift, learn_fitted, warn_of
from lookalike.index.filters import read_filter
from lookalike.index.hits_html import index_html
from lookalike.index.ids import take_ids
from lookalike.index.segments import Segments
from lookalike.index.shards.maintenance import InFolder
from lookalike.index.snapshot import Snapshot
from lookalike.index.tables import learn_levels
from lookalike.measures.contract.base import Measure
from lookalike.measures.names import IsMeasure, as_measure
from lookalike.measures.task import copy_input_tags
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import (
    KINDS,
    N_JOBS,
    Fields,
    Flag,
    Instance,
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

AUTO = "auto"
Answer = TypeVar("Answer")


class _IndexBase(MayMiss, InFolder, SaveMixin, BaseEstimator):
    """Base of the index: everything but searching."""

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

    measure: Measure | str
    id_column: str | None
    kinds: Mapping[str, Any] | None
    n_jobs: int | None
    state_: Snapshot  # all that was learned and all rows; replaced as a whole, never changed

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
        """Fit the measure to rows; those of an index that is fitted again keep their places."""
        table, target = split_target(table, y, "Index")
        measure, reason = self._choose(table)
        measure = measure.fit(table, target)  # a frozen one stays as it is
        rows = measure.encode(table) if getattr(measure, "frozen_", False) else measure.rows_
        if before is None:
            segments = Segments.of(rows, table)
        else:
            segments = Segments.of(rows, table, before.places, before.next_place)
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
        return sum(int((segment.alive & mask).sum()) for segment, mask in pairs)

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
