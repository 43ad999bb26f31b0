"""The rows most like a row of a table, or like a record."""

import warnings
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

from lookalike._runtime.text import as_record
from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase, suggest
from lookalike.verbs import annotations as args
from lookalike.verbs.measures import AUTO, name_measure, read_measure, refuse_measure
from lookalike.verbs.source import TableSource, as_source, column_names, read_filter, select_columns

if TYPE_CHECKING:
    from lookalike.index import Hits, Index

HEADING, RANK = "Look at a table", 20
EXAMPLES = (
    "lookalike search films.csv --row 17 -k 5 --why",
    "lookalike search films.csv --row 'Toy Story'",
    """lookalike search films.csv --like '{"title": "Alien", "year": 1979}'""",
    "lookalike search films.csv --row 17 --weight length=3 --filter 'year>=1990'",
    "lookalike search films.csv --like 17 --like 20 --unlike 3",
)
MAX_SUGGESTED_IDS = 1000  # that a mistyped one is compared with; chosen by hand
MAX_LISTED_ROWS = 8  # of those that one name means
MAX_LISTED_WIDTH = 48  # characters of each of them
ROW_HINT = "Count rows from 0, without the header line"


def search(
    table: args.TableLike,
    row: args.RowRef = None,
    *,
    like: args.LikeRows = None,
    unlike: args.UnlikeRows = None,
    k: args.Count = 10,
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    columns: args.Columns = None,
    filter: args.Filter = None,
    why: bool = False,
) -> "Hits":
    """Find the rows most like a row of the table, or like a record.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    row : id, name or record, optional
        What to start from: a row by its id (its position, counted from 0, where rows have no ids
        of their own) or its name ("Toy Story", "title=Toy Story"; the beginning or a part of it
        will do where it means one row), or a record, in which columns may be missing.
    like : ids or records, optional
        Rows that answers should be like. Without ``row`` the first is what to start from.
    unlike : ids, optional
        Rows that answers should not be like.
    k : int
        How many rows to find.
    measure : str or Measure, optional
        How rows are compared, such as "gower" or "vector:metric=cosine"; "auto" is the
        default. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        How much columns matter: 3 counts three times, 0 not at all.
    columns : names, optional
        Compare by these columns only.
    filter : conditions, optional
        Which rows may be found: texts such as "year>=1990", or what ``Index.search`` takes.
    why : bool
        Show the two strongest reasons for and against each row.

    Returns
    -------
    Hits

    Examples
    --------
    >>> import lookalike as la
    >>> pets = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "wolf"]}
    >>> la.search(pets, 0, k=2).ids
    [2, 3]
    >>> la.search(pets, {"weight": 29.0}, k=1, filter="animal=wolf")[0].because()
    'weight similar: 29 and 28'
    """
    source = as_source(table)
    start, liked, unliked = _read_marks(row, like, unlike)
    first = "like" if row is None else "row"
    index, reason, names = get_index(source, measure, weights, columns, start)
    sample = index.sample
    query = find_row(index, start, first)
    conditions = read_filter(filter, sample) if filter else None
    options = {**source.more, "filter": conditions, "weights": weights, "columns": names}
    for name, marks in (("like", liked), ("unlike", unliked)):
        options[name] = [find_row(index, mark, name) for mark in marks]
    found: Any = index.search(query, k, **options)
    if isinstance(query, Mapping):
        _warn_not_compared(index, query, first)
    from lookalike.index.hits import SearchInfo

    id = None if isinstance(query, Mapping) else query
    named = (part for part in (query, weights, conditions) if isinstance(part, Mapping))
    asked = tuple(str(name) for part in named for name, value in part.items() if value is not None)
    by = type(index.measure_).__name__, name_measure(index.measure_), reason
    info = SearchInfo(source.name, id, k, *by, bool(filter), asked, why=why, sample=sample)
    return found.with_info(info)


def _read_marks(row: Any, like: Any, unlike: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return what to start from, and the rows that are liked and not liked."""
    row, liked, unliked = as_record(row), _as_list(like), _as_list(unlike)
    records = [mark for mark in liked if isinstance(mark, Mapping)]
    if row is None and liked:
        row = (records or liked)[0]
        liked.remove(row)
        records = records[1:]
    # One record at most: marks are rows of the table.
    if row is None or records:
        needed = "a row of the table or a record, one of the two"
        found = "none" if row is None else "several"
        hint = ("Use ", Param("row", 17), " or ", Param("like", {"year": 1977}))
        raise InvalidInput("search", needed, found, hint, problem=f"say what to look for: {needed}")
    return row, liked, unliked


def _as_list(marks: Any) -> list[Any]:
    """Return rows as a list; one alone may be given without brackets."""
    if marks is None:
        return []
    marks = as_record(marks)
    is_one = isinstance(marks, str | Mapping) or not isinstance(marks, Sequence)
    return [marks] if is_one else [as_record(mark) for mark in marks]


def get_index(
    source: TableSource, measure: Any, weights: Any, columns: Any, start: Any
) -> tuple["Index", str | None, list[str] | None]:
    """Return the index to search, the reason for its measure, and columns still to be chosen.

    A record to start from that cannot be used is an error before anything is fitted.
    """
    from lookalike.index import Index

    if (index := source.index) is not None:
        refuse_measure(measure)
        names = None if columns is None else list(select_columns(index.sample, columns).names)
        return index, None if index.reason_ == "given" else index.reason_, names
    # The measure first: a mistake in its name is an error before the table is read.
    given = AUTO if measure is None else read_measure(measure)
    table, (_, id_column) = select_columns(source.read(), columns), source.labels
    if columns is None and isinstance(weights, Mapping):
        # Who weighs a column wants it compared, also where it was taken for a name.
        table = table.compare_also(weights)
    if isinstance(start, Mapping) and not (id_column or getattr(given, "frozen_", False)):
        from lookalike.index.index import WHO
        from lookalike.index.query import read_records

        with warnings.catch_warnings():  # the search warns
            warnings.simplefilter("ignore", LookalikeWarning)
            read_records([start], table.schema, Phrase(Param("query", of=WHO)))
    index = Index(given, id_column=id_column).fit(table)
    return index, index.reason_ if isinstance(given, str) else None, None


def find_row(index: "Index", mark: Any, name: str) -> Any:
    """Return a record as it is, and of a row its id: by its id, or by its name.

    Parameters
    ----------
    index : Index
    mark : record, id (a number may be given as text) or name
    name : str
        The parameter that it was given as, for errors.
    """
    if isinstance(mark, Mapping):
        return mark
    id = _as_id(index, mark)
    if id is not None:
        return id
    positions = [] if isinstance(mark, Number) else _named(index, str(mark))
    if len(positions) == 1:
        return index.state_.names.of(positions)[0]
    if positions:
        raise _several(index, positions, mark, name)
    known, last = _some_names(index), index.state_.segments.next_position - 1
    if _numbers_rows(index) and (_is_number(mark) or not known):
        raise InvalidInput(Param(name), f"a row from 0 to {last}", str(mark), ROW_HINT)
    hint = suggest(str(mark), known)
    if type(mark) is int and mark in index.state_.segments.positions:
        hint = f"By position, row {mark} is {index.state_.names.of([mark])[0]!r}"
    raise InvalidInput(Param(name), "the id or the name of a row", repr(mark), hint)


def _numbers_rows(index: "Index") -> bool:
    """Whether the ids of the rows are their positions."""
    return index.id_column is None and not index.state_.id_column


def _is_number(mark: Any) -> bool:
    return isinstance(mark, Number) or str(mark).strip().lstrip("-").isdecimal()


def _as_id(index: "Index", mark: Any) -> Any:
    """Return the id that a mark is, None where it is none; a shell has numbers as text."""
    if _numbers_rows(index):
        # The index raises for a row that was deleted.
        position = int(mark) if _is_number(mark) else -1
        return position if 0 <= position < index.state_.segments.next_position else None
    if mark in index:
        return mark
    return next((id for id in _first_ids(index) if str(id) == str(mark)), None) or (
        int(mark) if _is_number(mark) and int(mark) in index else None
    )


def _first_ids(index: "Index") -> list[Any]:
    """Return the ids; of a folder, whose ids would be read from disk, the first."""
    now = index.state_
    few = now.segments.positions[:MAX_SUGGESTED_IDS]
    return index.ids if index.folder is None else now.names.of(few)


# -- rows by name ----------------------------------------------------------------------------------


def _named(index: "Index", text: str) -> list[int]:
    """Return the positions of the rows that a text names: ``Toy Story``, or ``title=Toy Story``."""
    from lookalike.table.model.labels import match_rows

    now, (names, words) = index.state_, _names_to_match(index, text)
    cells: list[list[Any]] = [[] for _ in names]
    positions: list[int] = []
    live = set(now.segments.positions.tolist())  # a deleted row has no name any more
    for segment in now.segments.segments:
        rows = [(row, at) for row, at in enumerate(segment.positions.tolist()) if at in live]
        positions += [at for _, at in rows]
        for known, name in zip(cells, names, strict=True):
            known += [segment.table[name].cell(row) for row, _ in rows]
    # A name in two columns is found as a whole, too: "Ada Lovelace".
    parts = [known for known, name in zip(cells, names, strict=True) if name != now.id_column]
    if len(parts) > 1:
        whole = zip(*parts, strict=True)
        cells.append([" ".join(str(part) for part in row if part) for row in whole])
    # A number that is no row is a slip more often than a part of a name.
    return [positions[row] for row in match_rows(cells, words, exact=_is_number(text))]


def _names_to_match(index: "Index", text: str) -> tuple[list[str], str]:
    """Return the columns in which a text is looked for, and what of it to look for."""
    from lookalike.table.model.labels import label_of

    column, equals, rest = text.partition("=")
    if equals and column.strip() in column_names(index.sample):
        return [column.strip()], rest
    id_column = index.state_.id_column
    return [*label_of(index.sample).columns, *([id_column] if id_column else [])], text


def _some_names(index: "Index") -> list[str]:
    """Return names and ids that a mistyped one may have meant."""
    from lookalike.table.model.labels import label_of

    sample = index.sample[:MAX_SUGGESTED_IDS]
    label = label_of(sample)
    # Levels that many rows share, such as "f" and "m", name no row.
    named = range(0 if label.with_id else len(sample))
    names = [label.of(sample.record(row)) for row in named]
    ids = [] if _numbers_rows(index) else [str(id) for id in _first_ids(index)[:MAX_SUGGESTED_IDS]]
    return [name for name in dict.fromkeys([*names, *ids]) if name]


def _several(index: "Index", positions: list[int], mark: Any, name: str) -> InvalidInput:
    """Return the error about a name that several rows have, with these rows to choose from."""
    from lookalike.table.model.display import write_row

    now, most = index.state_, positions[:MAX_LISTED_ROWS]
    ids, lines = now.names.of(most), []
    for id, (segment, row) in zip(ids, now.segments.look_up(most), strict=True):
        one = segment.table[[row]]
        # The id comes first; the column that a service numbers rows by is not shown.
        shown = one.drop(now.id_column) if now.id_column else one
        lines.append(f"{id} ({write_row(shown, 0, MAX_LISTED_WIDTH)})")
    more = f" and {len(positions) - len(most):,} more" if len(positions) > len(most) else ""
    found = f"{len(positions):,} rows: {'; '.join(lines)}{more}"
    hint = ("Choose one by its id: ", Param(name, ids[0]))
    return InvalidInput(Param(name, str(mark)), "the name of one row", found, hint)


def _warn_not_compared(index: "Index", record: Mapping[str, Any], name: str) -> None:
    """Say which columns of a record are not compared, and offer the row that it names."""
    from lookalike.table.model.labels import label_of

    aside = index.state_.schema.aside
    given = [column for column in record if column in aside and record[column] is not None]
    if not given:
        return
    hint: tuple[Any, ...] = ("They name rows, or say nothing about them",)
    columns = label_of(index.sample).columns[:1]
    cell = record.get(columns[0]) if columns else None
    rows = [] if cell is None else _named(index, f"{columns[0]}={cell}")
    if len(rows) == 1:
        id = index.state_.names.of(rows)[0]
        hint = (f"To start from the row that is called {cell!r}, use ", Param("row", id))
    found = ", ".join(f"{column!r} ({aside[column]})" for column in given)
    text = "columns that are compared"
    warnings.warn(LookalikeWarning(Param(name), text, found, hint), stacklevel=4)
