"""The two tables of a verb: opened, read by one schema, and named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.verbs.measures import AUTO, name_measure, read_measure
from lookalike.verbs.source import TableSource, as_source

if TYPE_CHECKING:
    from lookalike.linkage import TwoTables

Ids = Callable[[Any], list[Any]]


def open_two(
    verb: str, table: Any, other: Any, measure: Any, max_distance: Any, **options: Any
) -> tuple[TwoTables, dict[str, Any]]:
    """Open the two tables of a verb; return what an answer says about them as well.

    Parameters
    ----------
    verb : str
    table, other, measure, max_distance : as of ``join``
    options : on, by and weights
    """
    from lookalike._runtime.frames import arrow_of, backend_of
    from lookalike.linkage import read_two
    from lookalike.saving.fields import Real

    given = max_distance if isinstance(max_distance, Mapping) else {"": max_distance}
    limits = {name: width for name, width in given.items() if width is not None}
    for width in limits.values():
        example = Phrase("Pass for example ", Param("max_distance", 0.2))
        Real(0.0, finite=True).check(verb, "max_distance", width, example)
    first = as_source(table)
    second = first.beside(other)
    chosen = AUTO if measure is None else read_measure(measure)  # before anything is read
    if second.is_index and measure is not None:
        found, hint = "a saved index, which has its own", "Leave it out, or build another index"
        raise InvalidInput(Param("measure"), "a table to fit it to", found, hint)
    index, parts = second.index, first.parts  # Parquet files are not read as a whole
    left, ids = open_table(first) if parts is None else (parts, range(len(parts)))
    right, names = open_table(second) if index is None else (index, [])
    for name in ("on", "by"):
        options[name] = split_names(options[name])
    calipers = {name: width for name, width in limits.items() if name}
    options |= {"calipers": calipers, "max_distance": limits.get("", float("inf")), "who": verb}
    two = read_two(left, right, chosen, **options)
    return two, {
        "ids": (_ids_in(ids), _ids_in(names) if index is None else index.state_.names.of),
        "names": (first.name, second.name if second.is_path or second.is_index else "other"),
        "measure": name_measure(two.measure),
        "frames": (arrow_of(first.given), arrow_of(second.given)),
        "backend": backend_of(first.given),
    }


def open_table(source: TableSource) -> tuple[Any, Any]:
    """Return a table, in memory, and the ids of its rows, which must differ."""
    source.strict = True
    if source.parts is not None:
        return source.parts.read(), range(len(source.parts))
    named = source.rows()
    return named.table, named.ids


def _ids_in(ids: Any) -> Ids:
    return lambda rows: [ids[row] for row in rows.tolist()]


def split_names(names: Any) -> Any:
    """Return names of columns; a text may hold several, with commas.

    Examples
    --------
    >>> split_names("age, sex"), split_names(["age"])
    (['age', 'sex'], ['age'])
    """
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names
