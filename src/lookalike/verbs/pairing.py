"""The two tables of a verb: opened, read by one schema, and named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lookalike.errors import InvalidInput, Param, Phrase, WrongType
from lookalike.verbs.measures import AUTO, name_measure, read_measure, refuse_measure
from lookalike.verbs.source import TableSource, as_source, split_names

if TYPE_CHECKING:
    from lookalike.linkage import TwoTables

SHOWN = {"dedupe": ("groups", "pairs", "review", "golden"), "link": ("pairs", "review")}


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
    from lookalike.linkage.two_tables import NAMES
    from lookalike.saving.fields import Real

    given = max_distance if isinstance(max_distance, Mapping) else {"": max_distance}
    limits = {name: width for name, width in given.items() if width is not None}
    for width in limits.values():
        example = Phrase("Pass for example ", Param("max_distance", 0.2))
        Real(0.0, finite=True).check(verb, "max_distance", width, example)
    first = as_source(table)
    second = first.beside(other)

    def ids_in(ids: Any) -> Callable[[Any], list[Any]]:
        return lambda rows: [ids[row] for row in rows.tolist()]

    # Checked before anything is read: tables may be large, and names mistyped.
    chosen = AUTO if measure is None else read_measure(measure)
    if second.is_index:
        refuse_measure(measure)
    index, parts = second.index, first.parts  # Parquet files are not read as a whole
    left, ids = open_table(first) if parts is None else (parts, range(len(parts)))
    word = NAMES.get(verb, ("table", "other"))[1]
    right, names = open_table(second, word) if index is None else (index, [])
    options |= {name: split_names(options[name]) for name in ("on", "by")}
    most = limits.pop("", float("inf"))
    two = read_two(left, right, chosen, calipers=limits, max_distance=most, who=verb, **options)
    return two, {
        "ids": (ids_in(ids), ids_in(names) if index is None else index.state_.names.of),
        "names": (first.name, second.name if second.is_path or second.is_index else "other"),
        "measure": name_measure(two.measure),
        "frames": (arrow_of(first.given), arrow_of(second.given)),
        "backend": backend_of(first.given),
    }


def open_table(source: TableSource, word: str = "table") -> tuple[Any, Any]:
    """Return a table, in memory, and the ids of its rows, which must differ.

    Parameters
    ----------
    source : TableSource
    word : str
        What the verb calls the table, for errors: which of two cannot be used.
    """
    # A label that several rows have could not say which one of them a pair is about.
    source.strict = source.whole = True
    try:
        if source.parts is not None:
            return source.parts.read(), range(len(source.parts))
        named = source.rows()
    except (InvalidInput, WrongType) as error:
        whole = error.who in ("read_table", "table")
        raise error.by(Phrase(Param(word), "" if whole else f", {error.who}")) from error
    return named.table, named.ids


def decide(verb: str, given: tuple[Any, ...], *options: Any, **more: Any) -> Any:
    """Decide which rows of one or two tables are the same record.

    Parameters
    ----------
    verb : str
    given : one or two tables
    options : n, on, by, decisions, threshold, show and seed, as of ``dedupe``
    more : further options of ``link_rows``
    """
    from lookalike._runtime.frames import backend_of
    from lookalike.linkage import Deduped, Linked
    from lookalike.linkage.linking import link_rows, read_decisions
    from lookalike.linkage.pooled import pool_columns
    from lookalike.saving.fields import Choice, Maybe, Real

    n, on, by, decisions, threshold, show, seed = options
    # Refused before tables are read, which may take minutes.
    Choice(*SHOWN[verb]).check(verb, "show", show)
    Maybe(Real(0.0, 1.0)).check(verb, "threshold", threshold, Phrase("Pass for example 0.9"))
    first = as_source(given[0])
    sources = [first, *(first.beside(one) for one in given[1:])]
    tables, ids = zip(*map(open_table, sources, ("table", "other")), strict=True)
    if len(tables) == 1 and len(tables[0]) < 2:
        raise InvalidInput(Param("table"), "at least 2 rows", "1", "Name a table with more rows")
    # Rows of two tables are numbered as one sequence, the second after the first.
    other, shift = (tables[1], len(tables[0])) if len(tables) > 1 else (None, None)
    columns, exact = pool_columns(tables[0], other, split_names(on), split_names(by) or ())
    decided = read_decisions(decisions, (ids[0], ids[-1]), shift or 0)
    more |= {"decided": decided, "threshold": threshold, "seed": seed}
    found = link_rows(columns, shift, by=exact, **more)
    names = [first.name, *(one.name if one.is_path else "other" for one in sources[1:])]
    answer = Deduped if other is None else Linked
    return answer(found, tables, ids, names, show, n, backend_of(first.given))
