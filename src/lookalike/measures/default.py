"""The one comparison that is used where the caller names none.

Every verb, surface and estimator asks here, so that two questions about one table compare rows in
the same way. The choice was made by a study on public tables (``studies/defaults.py``, decision
27). One exception: outliers by neighbors are compared by ranges, since ranks hide extremes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lookalike.columns import Absolute
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.vector import Vector
from lookalike.table import LazyTable, Table, read_table
from lookalike.table.model.kind import PLACE

AUTO = "auto"


def default_measure(table: Table | LazyTable | None = None) -> Gower | Vector:
    """Return the default comparison, not fitted: Gower by ranks, missing cells at the midpoint.

    Ranks, because a skewed column would drown in its range. The midpoint, because rows compared in
    a few columns only would otherwise be the nearest to everything: leaving missing cells out makes
    almost empty rows hubs. Entries of a vector share one scale, so a table of nothing but complete
    vectors is compared by the cosine.
    """
    if table is not None:
        known = table.like if isinstance(table, LazyTable) else table
        kinds = {"" if column.kind.role == PLACE else column.kind.name for column in known}
        if kinds == {"vector"} and not _count_missing(table):
            return Vector("cosine")
    return Gower(scale="rank", missing="midpoint")


def choose_measure(
    table: Any, *, kinds: Mapping[str, Any] | None = None
) -> tuple[Gower | Vector, str]:
    """Return the measure that "auto" means for a table, and why.

    It is ``Gower(scale="rank", missing="midpoint")``: numbers are compared by rank, and a
    comparison with a missing cell counts as half alike. On 217 public tables no other scale,
    treatment of missing cells or hubness reduction was ahead of it beyond noise on both halves. A
    table of nothing but vectors is compared by the cosine: entries of a vector share one scale.

    It is a default for a first look. With labels, compare measures on them instead.

    Parameters
    ----------
    table : Table, LazyTable, or anything that ``read_table`` takes
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).

    Returns
    -------
    measure : Measure, not fitted
    reason : str

    Examples
    --------
    >>> from lookalike.measures import choose_measure
    >>> measure, reason = choose_measure({"size": [1.0, None], "color": ["red", "blue"]})
    >>> measure
    Gower(missing='midpoint', scale='rank')
    >>> print(reason)
    Gower: numbers are compared by rank; 1 missing cell counts as half alike
    """
    known = table if isinstance(table, LazyTable) else read_table(table, kinds=kinds)
    measure = default_measure(known)
    if isinstance(measure, Vector):
        return measure, "Vector by cosine: every column is a vector"
    missing = _count_missing(known)
    columns = known.like if isinstance(known, LazyTable) else known
    has_numbers = any(column.kind.name in Absolute.kinds for column in columns)
    reasons = ["numbers are compared by rank"] if has_numbers else []
    if missing:
        cells, counts = ("cell", "counts") if missing == 1 else ("cells", "count")
        reasons.append(f"{missing:,} missing {cells} {counts} as half alike")
    return measure, f"Gower: {'; '.join(reasons) or 'every column is compared by its kind'}"


def _count_missing(table: Table | LazyTable) -> int:
    if isinstance(table, LazyTable):  # counted when the files were read
        return sum(table.n_missing.get(name, 0) for name in table.names)
    return int(sum(column.missing.sum() for column in table))


def is_auto(measure: Any) -> bool:
    """Whether the default comparison is asked for: by its name, or by naming none."""
    return measure is None or (isinstance(measure, str) and measure.strip().lower() == AUTO)
