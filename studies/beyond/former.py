"""The rule that ``measure="auto"`` followed before the study of the default comparison.

The tables of this study were made with it; decision 27 replaced it.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from lookalike.columns import Absolute
from lookalike.errors import InvalidInput
from lookalike.hubness import k_occurrence, skewness
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.measures import Gower, Measure, Ranked, StochasticForest, Vector
from lookalike.table import Table

ORDERED = ("number", "order", "flag")  # what a forest of median splits takes
MIN_ROWS_FOR_TREES, MIN_COLUMNS_FOR_TREES = (
    1000,
    50,
)  # rows and columns from which trees are quicker than ranks
MIN_DISTINCT_ROWS = 64  # different rows that median splits of a sample of 32 need
MAX_SAMPLE_ROWS = 1000  # rows whose neighbors show whether there are hubs
MIN_ROWS_FOR_HUBS = 100  # rows below which lists of ten say little about hubs
MAX_SKEWNESS = 1.4  # skewness of the occurrences above which a few rows fill the lists
HUB_NEIGHBORS = 10


def choose_former(table: Table) -> Measure:
    """Return what "auto" chose by kinds of columns, missing cells, rows and hubs of a sample."""
    return _reduce(_by_columns(table), table)


def _by_columns(table: Table) -> Measure:
    kinds = {column.kind.name for column in table}
    missing = any(column.missing.any() for column in table)
    if kinds == {"vector"} and not missing:
        return Vector("cosine")
    if missing or not kinds <= set(ORDERED):
        return _gower(table)
    if (
        len(table) >= MIN_ROWS_FOR_TREES
        and len(table.columns) >= MIN_COLUMNS_FOR_TREES
        and _different(table) >= MIN_DISTINCT_ROWS
    ):
        return StochasticForest(on_fail="relax", random_state=0)
    return Ranked() if kinds == {"number"} else _gower(table)


def _gower(table: Table) -> Measure:
    numbers = any(column.kind.name in Absolute.kinds for column in table)
    return Gower(scale="rank") if numbers else Gower()


def _different(table: Table) -> int:
    """Return how many different rows there are among some."""
    some = table[:: max(1, len(table) // (10 * MIN_DISTINCT_ROWS))]
    return len(np.unique(np.column_stack([column.values for column in some]), axis=0))


def _reduce(measure: Measure, table: Table) -> Measure:
    """Wrap the measure if a sample has hubs that mutual proximity reduces."""
    n = len(table)
    if n < MIN_ROWS_FOR_HUBS:
        return measure
    few = table
    if n > MAX_SAMPLE_ROWS:
        few = table[np.sort(np.random.default_rng(0).choice(n, MAX_SAMPLE_ROWS, replace=False))]
    before, reducer = _skewness(measure, few), default_reducer(measure, n)
    if before is None or before <= MAX_SKEWNESS:
        return measure
    after = _skewness(reducer, few)
    return measure if after is None or after >= before else reducer


def _skewness(measure: Measure, table: Table) -> float | None:
    """Return how uneven the occurrences in neighbor lists are; None if there are no lists."""
    try:
        return skewness(k_occurrence(clone(measure).fit(table), HUB_NEIGHBORS, ties="expected"))
    except InvalidInput:
        return None
