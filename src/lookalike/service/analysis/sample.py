"""The rows that an analysis looks at: all of them, or a sample that is stated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from lookalike._runtime.estimator import clone
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.index import Index
from lookalike.index.segments import join_tables
from lookalike.measures import Measure
from lookalike.service.view import View
from lookalike.table import Table, as_table
from lookalike.verbs.source import NamedRows, TableSource

# Chosen by hand: neighbor lists of 100,000 rows take a job of minutes, not of hours.
MAX_ANALYZED_ROWS = 100_000
# Up to so many rows an analysis takes seconds, so that any change makes it stale; beyond, it is
# shown until a share of the rows has changed. Both chosen by hand.
MAX_ROWS_ALWAYS_FRESH = 5_000
MAX_STALE_SHARE = 0.05


@dataclass(eq=False)
class RowSample:
    """Rows of a view.

    Parameters
    ----------
    view : View
    ids : list
    table : Table, in the same order
    sampled : bool
        Whether rows were left out.

    Attributes
    ----------
    positions : dict, the position of each id among these rows
    """

    view: View
    ids: list[Any]
    table: Table
    sampled: bool
    positions: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        self.positions = {id: position for position, id in enumerate(self.ids)}

    def still_fits(self, view: View) -> bool:
        """Whether a result computed from these rows may be shown for another view."""
        if view.fitted != self.view.fitted:
            return False
        moved, n = abs(view.changed - self.view.changed), len(view.index)
        return moved == 0 if n <= MAX_ROWS_ALWAYS_FRESH else moved <= MAX_STALE_SHARE * n

    def row(self, position: int) -> dict[str, Any]:
        """Return id, label and record of a row."""
        return self.view.named_row(self.ids[position], self.table.record(position))

    def name(self, position: int) -> dict[str, Any]:
        """Return id and label of a row."""
        found = self.row(position)
        return {"id": found["id"], "label": found["label"]}

    def fitted_measure(self) -> Measure | None:
        """Return the measure of the view if it was fitted to exactly these rows, frozen."""
        if self.view.changed or self.sampled:
            return None
        # Frozen, so that a verb uses it as it is: fitting it again would give the same bits.
        return self.view.index.measure_.frozen()

    def fit_measure(self) -> Measure:
        """Return the measure of the view, fitted to these rows."""
        return self.fitted_measure() or clone(self.view.index.measure_).fit(self.table)


class CollectionSource(TableSource):
    """The rows of a collection, as a verb takes a table.

    Parameters
    ----------
    view : View
    name : str
        Of the collection, for headings.
    space : {"plain", "repaired"}
    gamma : float, optional
        Weight of the rows that are not liked; None: that of ``Index.search``.
    """

    def __init__(
        self, view: View, name: str = "table", space: str = "plain", gamma: float | None = None
    ) -> None:
        super().__init__(view.space(space), name)
        self.view, self.gamma = view, gamma

    @property
    def searched(self) -> Any:
        """The index of the space, with the weight of marks that a request may set."""
        if self.gamma is None:
            return self.index
        return SimpleNamespace(search=partial(self.given.search, gamma=self.gamma))

    def rows(self, filter: Any = None) -> NamedRows:
        """Return the rows that meet a filter; of very many, a sample."""
        sample = take(self.view)
        return NamedRows(sample.table, sample.ids, self.name, self.given).meeting(filter)


def take(view: View, most: int = MAX_ANALYZED_ROWS) -> RowSample:
    """Take all rows of a view, or as many as an analysis looks at."""
    table = view.table
    n = len(table)
    if n > most:
        # A fixed seed: the same rows after a restart, so that stored results still fit them.
        table = table[np.sort(np.random.default_rng(0).choice(n, most, replace=False))]
    ids = table[view.settings.names].values.tolist()
    sampled = n > most or view.sample is not None
    return RowSample(view, ids, table.drop([view.settings.names]), sampled)


def take_again(view: View, ids: list[Any]) -> RowSample | None:
    """Take the rows of these ids, in their order; None where they are not those of the view."""
    sample = take(view)
    if sample.ids == ids:
        return sample
    if len(ids) != len(sample.ids) or any(id not in sample.positions for id in ids):
        return None
    # Another server may have loaded the rows in another order, after a replaced row for example.
    order = np.array([sample.positions[id] for id in ids], dtype=np.int64)
    return RowSample(view, list(ids), sample.table[order], sample.sampled)


def with_rows(sample: RowSample, ids: Sequence[Any]) -> RowSample:
    """Return a sample with further rows of its view, by their ids."""
    view, more = sample.view, [id for id in dict.fromkeys(ids) if id not in sample.positions]
    if not more:
        return sample
    table = as_table([view.record(id) for id in more], view.schema, who="profile")
    return RowSample(view, [*sample.ids, *more], join_tables([sample.table, table]), True)


def fit_repaired(view: View) -> Index:
    """Return an index of the same rows in a space with reduced hubness."""
    if view.sample is not None:
        # Mutual proximity needs the distances of all rows, which a folder does not hold in memory.
        who, hint = Param("space", "repaired"), Phrase("Use ", Param("space", "plain"))
        raise InvalidInput(who, "rows in memory", "rows in a folder of shards", hint)
    measure = default_reducer(clone(view.index.measure_), len(view.index))
    return Index(measure, id_column=view.settings.names).fit(view.index.table)
