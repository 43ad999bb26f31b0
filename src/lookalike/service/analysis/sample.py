"""The rows that an analysis looks at: all of them, or a sample that is stated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.index import Index
from lookalike.index.choose import reduce_hubness
from lookalike.index.segments import join_tables
from lookalike.measures import Measure
from lookalike.service.answers import plain_row
from lookalike.service.view import View
from lookalike.table import Table, as_table

MOST = 100_000  # rows that one analysis looks at
SMALL = 5_000  # rows up to which every change makes an analysis old
SLACK = 0.05  # share of rows that may change before it is old, for larger collections


@dataclass(eq=False)
class Sample:
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
    positions : the position of each id among these rows
    """

    view: View
    ids: list[Any]
    table: Table
    sampled: bool
    positions: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        self.positions = {id: position for position, id in enumerate(self.ids)}

    def still_fits(self, view: View) -> bool:
        """Whether what was made of these rows may be shown for another view."""
        if view.fitted != self.view.fitted:
            return False
        moved, n = abs(view.changed - self.view.changed), len(view.index)
        return moved == 0 if n <= SMALL else moved <= SLACK * n

    def row(self, position: int) -> dict[str, Any]:
        """Return id, label and record of a row."""
        record = plain_row(self.view, self.table.record(position))
        id = self.ids[position]
        return {"id": id, "label": self.view.label(id, record), "row": record}

    def name(self, position: int) -> dict[str, Any]:
        """Return id and label of a row."""
        found = self.row(position)
        return {"id": found["id"], "label": found["label"]}


def take(view: View, most: int = MOST) -> Sample:
    """Take all rows of a view, or as many as an analysis looks at."""
    table = view.table
    n = len(table)
    if n > most:
        table = table[np.sort(np.random.default_rng(0).choice(n, most, replace=False))]
    ids = table[view.settings.names].values.tolist()
    sampled = n > most or view.sample is not None
    return Sample(view, ids, table.drop([view.settings.names]), sampled)


def take_again(view: View, ids: list[Any]) -> Sample | None:
    """Take the rows of these ids, in their order; None where they are not those of the view."""
    sample = take(view)
    if sample.ids == ids:
        return sample
    if len(ids) != len(sample.ids) or any(id not in sample.positions for id in ids):
        return None
    order = np.array([sample.positions[id] for id in ids], dtype=np.int64)
    return Sample(view, list(ids), sample.table[order], sample.sampled)


def with_rows(sample: Sample, ids: Sequence[Any]) -> Sample:
    """Return a sample with further rows of its view, by their ids."""
    view, more = sample.view, [id for id in dict.fromkeys(ids) if id not in sample.positions]
    if not more:
        return sample
    table = as_table([view.record(id) for id in more], view.schema, who="profile")
    return Sample(view, [*sample.ids, *more], join_tables([sample.table, table]), True)


def fit_plain(sample: Sample) -> Measure:
    """Return the measure of a collection, fitted to the rows of a sample."""
    view = sample.view
    if view.changed == 0 and not sample.sampled:
        return view.index.measure_  # fitted to exactly these rows
    return clone(view.index.measure_).fit(sample.table)


def fit_repaired(view: View) -> Index:
    """Return an index of the same rows in a space without hubs."""
    if view.sample is not None:
        hint = Phrase("Use ", Param("space", "plain"))
        raise InvalidInput(
            Param("space", "repaired"), "rows in memory", "rows in a folder of shards", hint
        )
    measure = reduce_hubness(clone(view.index.measure_), len(view.index))
    return Index(measure, id_column=view.settings.names).fit(view.index.table)
