"""Which measure suits a table: a rule in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike.columns import Absolute
from lookalike.errors import InvalidInput
from lookalike.measures import Gower, Measure, Ranked, StochasticForest, Vector
from lookalike.table import LazyTable, Table, read_table

ORDERED = ("number", "order", "flag")  # what a forest of halvings can test
ENOUGH, WIDE = 1000, 50  # rows and columns from which trees are quicker than ranks
FEW = 64  # different rows below which halving a sample of 32 makes no sense
SAMPLE = 1000  # rows whose neighbors show whether there are hubs
MIN_ROWS_FOR_HUBS = 100  # rows below which lists of ten say little about hubs
HUBS = 1.4  # skewness of the occurrences above which a few rows fill the lists
SKEWED = 1.0  # moment skewness from which a column of numbers is called skewed
HUB_NEIGHBORS = 10
SPREAD = 10_000  # rows of a table in files that are looked at
ALL_PAIRS = 10_000  # rows up to which every distance is looked at for a repair


def choose_measure(
    table: Any, *, kinds: Mapping[str, Any] | None = None, weighs_columns: bool = False
) -> tuple[Measure, str]:
    """Choose a measure for a table, and say why.

    The rule looks at the kinds of the columns, the gaps, the number of rows and the hubs of a
    sample:

    1. Only columns of vectors, without gaps: the cosine of ``Vector``, since the entries of a
       vector share one scale.
    2. Anything but numbers, ordered levels and flags, or a gap anywhere: ``Gower``, which takes
       every kind of column and leaves gaps out. Numbers are compared by rank (``scale="rank"``),
       so that a skewed column does not drown in its range: on 41 tables on which this was fixed
       ten neighbors are right in 83.9 % of the rows with ranks and 83.4 % with ranges, on 33
       others, numeric targets among them, the mean score is 76.1 against 74.4.
    3. Otherwise the scales of the columns may mean nothing, so only order counts: ``Ranked``, or
       ``Gower`` if there are levels or flags. With 50 columns and 1,000 rows or more
       ``StochasticForest``, whose time and memory do not grow with the columns. On 22 public sets
       of numbers the two classify equally well by five neighbors (86.4 %), before ``Gower``
       (86.2 %) and standardized Euclidean distances (85.7 %).
    4. With 100 rows or more, the ten nearest neighbors of up to 1,000 of them are counted. If a few
       rows fill most lists (skewness above 1.4) and mutual proximity evens that out, the measure is
       wrapped in ``MutualProximity``; above 10,000 rows with 30 rows as a sample, so that fitting
       stays linear.

    It is a default for a first look. With labels, compare measures on them instead.

    Parameters
    ----------
    table : Table, or anything that ``read_table`` takes
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    weighs_columns : bool
        Whether questions will come with column weights; then it is ``Gower``, whose weights can be
        changed without fitting again.

    Returns
    -------
    measure : Measure, not fitted
    reason : str

    Examples
    --------
    >>> from lookalike.index import choose_measure
    >>> measure, reason = choose_measure({"size": [1.0, 2.0], "color": ["red", "blue"]})
    >>> measure
    Gower(scale='rank')
    >>> print(reason)
    Gower: 'color' (category) is not numeric; numbers are compared by rank
    """
    read = read_table(table, kinds=kinds)
    if weighs_columns:
        return _gower(read, "columns are weighed, which it does without being fitted again")
    measure, reason = _by_columns(read)
    return _repair(measure, reason, read)


def choose_in_parts(table: LazyTable) -> tuple[Measure, str]:
    """Choose a measure for a table that stays in files, by a sample and the gaps of all rows.

    The rule of ``choose_measure``, but for hubs: what evens them out needs all rows in memory.
    """
    some = table[:: max(1, len(table) // SPREAD)]
    gappy = [name for name in table.names if table.n_missing.get(name)]
    if gappy and not any(column.missing.any() for column in some):
        named = f"{gappy[0]!r}" + (f" and {len(gappy) - 1} more" if len(gappy) > 1 else "")
        return _gower(some, f"gaps in {named}")
    measure, reason = _by_columns(some)
    rows = f"{len(some):,} of {len(table):,} rows"
    return measure, f"{reason} (by {rows})" if len(some) < len(table) else reason


def _by_columns(table: Table) -> tuple[Measure, str]:
    n = len(table)
    gappy = int(np.any([column.missing for column in table], axis=0).sum())
    kinds = {column.kind.name for column in table}
    if kinds == {"vector"} and not gappy:
        return Vector("cosine"), "Vector by cosine: every column is a vector without gaps"
    other = [column for column in table if column.kind.name not in ORDERED]
    gaps = f"{gappy:,} of {n:,} rows {'has' if gappy == 1 else 'have'} gaps"
    if other:
        named = ", ".join(f"{c.name!r} ({c.kind.name})" for c in other[:3])
        named += f" and {len(other) - 3} more" if len(other) > 3 else ""
        are = "is not numeric" if len(other) == 1 else "are not numeric"
        return _gower(table, f"{named} {are}" + (f", and {gaps}" if gappy else ""))
    if gappy:
        return _gower(table, gaps)
    order_only = "only order within a column counts, so scales do not matter"
    if n >= ENOUGH and len(table.columns) >= WIDE and _different(table) >= FEW:
        # A table with columns of few values cannot be halved exactly; the seed makes the choice,
        # and so every index made by it, the same each time.
        forest = StochasticForest(on_fail="relax", random_state=0)
        size = f"{n:,} rows and {len(table.columns)} columns"
        return forest, f"StochasticForest: no gaps in {size}; {order_only}"
    if kinds != {"number"}:
        return _gower(table, f"levels or flags beside numbers in {n:,} rows")
    return Ranked(), f"Ranked: numbers without gaps in {n:,} rows; {order_only}"


def _gower(table: Table, reason: str) -> tuple[Measure, str]:
    """Return the measure of mixed columns; numbers, where there are some, compared by rank."""
    skewness = {
        column.name: _skewness_of(np.asarray(column.values, dtype=np.float64))
        for column in table
        if column.kind.name in Absolute.kinds
    }
    if not skewness:
        return Gower(), f"Gower: {reason}"
    most = max(skewness, key=lambda name: skewness[name])
    skewed = f": {most!r} is skewed" if skewness[most] > SKEWED else ""
    return Gower(scale="rank"), f"Gower: {reason}; numbers are compared by rank{skewed}"


def _skewness_of(values: np.ndarray) -> float:
    """Return the size of the moment skewness of the numbers that are there; 0 if all are equal."""
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0
    # A largest size of 1 keeps powers within what a float can hold.
    values = values / (np.abs(values).max() or 1.0)
    values = values - values.mean()
    spread = values.std()
    return float(abs((values**3).mean()) / spread**3) if spread > 1e-12 else 0.0


def _different(table: Table) -> int:
    """Return how many different rows there are among some."""
    some = table[:: max(1, len(table) // (10 * FEW))]
    return len(np.unique(np.column_stack([column.values for column in some]), axis=0))


def _repair(measure: Measure, reason: str, table: Table) -> tuple[Measure, str]:
    """Wrap the measure if a sample has hubs that this evens out."""
    n = len(table)
    if n < MIN_ROWS_FOR_HUBS:
        return measure, reason
    few = table
    if n > SAMPLE:
        few = table[np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))]
    before = _skewness(measure, few)
    if before is None:
        return measure, reason
    measured = f"skewness {before:.1f} of the {HUB_NEIGHBORS}-occurrences in {len(few):,} rows"
    if before <= HUBS:
        return measure, f"{reason}; no hubs ({measured})"
    repaired = reduce_hubness(measure, n)
    after = _skewness(repaired, few)
    if after is None or after >= before:
        return measure, f"{reason}; hubs that mutual proximity does not repair ({measured})"
    return repaired, f"{reason}; hubs ({measured}), evened out by mutual proximity to {after:.1f}"


def reduce_hubness(measure: Measure, n_rows: int) -> Measure:
    """Wrap a measure so that no row is everybody's neighbor (mutual proximity), not fitted."""
    from lookalike.hubness import MutualProximity

    options: dict[str, Any] = {} if n_rows <= ALL_PAIRS else {"sample": 30, "random_state": 0}
    return MutualProximity(measure, model="gauss_independent", **options)


def _skewness(measure: Measure, table: Table) -> float | None:
    """Return how uneven the occurrences in neighbor lists are; None if there are no lists."""
    from lookalike.hubness import k_occurrence, skewness

    try:
        return skewness(k_occurrence(clone(measure).fit(table), HUB_NEIGHBORS, ties="expected"))
    except InvalidInput:
        return None
