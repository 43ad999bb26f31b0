"""The two tables of a verb: opened, read by one schema, and named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.verbs.measures import AUTO, name_measure, read_measure
from lookalike.verbs.source import TableSource, as_source

if TYPE_CHECKING:
    from lookalike.index import Index
    from lookalike.linkage import TwoTables
    from lookalike.neighbors import NeighborGraph
    from lookalike.table import LazyTable, Table

Ids = Callable[[Any], list[Any]]


@dataclass(frozen=True)
class OpenedTables:
    """Two tables that a verb was given.

    Parameters
    ----------
    tables : TwoTables
    max_distance : float or None
        The largest distance of a pair by the measure.
    about : dict
        What a result says about them: ids, names, measure, frames.
    """

    tables: TwoTables
    max_distance: float | None
    about: dict[str, Any]

    def nearest(self, k: int) -> NeighborGraph:
        """Return the k nearest rows of the other table for each row of the first."""
        return self.tables.nearest(k)

    def near_enough(self, lists: NeighborGraph) -> NeighborGraph:
        """Return lists without the pairs that are too far apart."""
        from lookalike.linkage.two_tables import drop_pairs

        if self.max_distance is None:
            return lists
        return drop_pairs(lists, lists.distances > self.max_distance)


def open_two(
    verb: str,
    table: Any,
    other: Any,
    on: Any,
    by: Any,
    max_distance: Any,
    measure: Any,
    weights: Any,
) -> OpenedTables:
    """Open the two tables of a verb; the parameters are those of ``join``."""
    from lookalike._runtime.frames import arrow_of, backend_of
    from lookalike.linkage import read_two

    far, calipers = split_limits(max_distance)
    first = as_source(table)
    second = first.beside(other)
    given = AUTO if measure is None else read_measure(measure)  # before anything is read
    if second.is_index and measure is not None:
        found, hint = "a saved index, which has its own", "Leave it out, or build another index"
        raise InvalidInput(Param("measure"), "a table to fit it to", found, hint)
    left, left_ids = open_left(first)
    right, right_ids = open_right(second)
    two = read_two(
        left, right, given,
        on=split_names(on), by=split_names(by), calipers=calipers, weights=weights, who=verb,
    )  # fmt: skip
    about = {
        "ids": (left_ids, right_ids),
        "names": (first.name, second.name if second.is_path or second.is_index else "other"),
        "measure": name_measure(two.measure),
        "frames": (arrow_of(first.given), arrow_of(second.given)),
        "backend": backend_of(first.given),
    }
    return OpenedTables(two, far, about)


def open_left(source: TableSource) -> tuple[Table | LazyTable, Ids]:
    """Return the table whose rows are looked up, in parts where it is in Parquet files."""
    parts = source.parts
    if parts is not None:
        return parts, lambda rows: rows.tolist()
    table, ids = open_table(source)
    return table, _ids_in(ids)


def open_right(source: TableSource) -> tuple[Table | Index, Ids]:
    """Return the table that is searched, or its index."""
    if source.index is not None:
        return source.index, source.index.state_.names.of
    table, ids = open_table(source)
    return table, _ids_in(ids)


def open_table(source: TableSource) -> tuple[Table, list[Any]]:
    """Return a table, in memory, and the ids of its rows, which must differ."""
    source.strict = True
    parts = source.parts
    if parts is not None:
        return parts.read(), list(range(len(parts)))
    named = source.rows()
    return named.table, named.ids


def _ids_in(ids: list[Any]) -> Ids:
    return lambda rows: [ids[row] for row in rows.tolist()]


def split_names(names: Any) -> Any:
    """Return names of columns; a text may hold several, with commas."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names


def split_limits(max_distance: Any) -> tuple[float | None, Mapping[str, float]]:
    """Split the largest distance from the calipers of columns.

    Examples
    --------
    >>> split_limits(0.2), split_limits({"age": 2, "": 0.3})
    ((0.2, {}), (0.3, {'age': 2}))
    """
    from lookalike.saving.fields import Real

    far, calipers = max_distance, {}
    if isinstance(max_distance, Mapping):
        calipers = {name: width for name, width in max_distance.items() if name}
        far = max_distance.get("")
    if far is not None:
        hint = Phrase("Pass for example ", Param("max_distance", 0.2))
        Real(0.0).check("join", "max_distance", far, hint)
    return far, calipers
