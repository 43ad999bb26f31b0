"""The rows most like a row of a table, or like a record."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.verbs import annotations as args
from lookalike.verbs.measures import AUTO, name_measure, read_measure
from lookalike.verbs.source import TableSource, as_source, read_filter, select_columns

if TYPE_CHECKING:
    from lookalike.index import Hits, Index

EXAMPLES = (
    "lookalike search films.csv --row 17 -k 5 --why",
    """lookalike search films.csv --like '{"title": "Alien", "year": 1979}'""",
    "lookalike search films.csv --row 17 --weight length=3 --filter 'year>=1990'",
    "lookalike search films.csv --like 17 --like 20 --unlike 3",
)
MAX_SUGGESTED_IDS = 1000  # that a mistyped one is compared with; chosen by hand
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
    row : id or record, optional
        What to start from: a row by its id (its position, counted from 0, where rows have no ids
        of their own), or a record, in which columns may be missing.
    like, unlike : ids or records, optional
        Rows that answers should be like, and should not be like. Without ``row`` the first of
        ``like`` is what to start from.
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
    if source.is_path and not source.is_index:
        # A word is refused before the table is read; ids of an index, and labels of a frame, may
        # be words.
        named = [(first, start), *(("like", mark) for mark in liked)]
        for name, mark in [*named, *(("unlike", mark) for mark in unliked)]:
            if isinstance(mark, str):
                _as_position(mark, name)
    index, reason, names = _get_index(source, measure, weights, columns)
    sample = index.sample
    query = _find(index, start, first)
    found: Any = (source.searched or index).search(
        query,
        k,
        like=[_find(index, mark, "like") for mark in liked],
        unlike=[_find(index, mark, "unlike") for mark in unliked],
        filter=read_filter(filter, sample) if filter else None,
        weights=weights,
        columns=names,
    )
    from lookalike.index.hits import SearchInfo

    id = None if isinstance(query, Mapping) else query
    by = type(index.measure_).__name__, name_measure(index.measure_), reason
    hits: Hits = found.with_info(
        SearchInfo(source.name, id, k, *by, filtered=bool(filter), why=why, sample=sample)
    )
    return hits


def _read_marks(row: Any, like: Any, unlike: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return what to start from, and the rows that are liked and not liked."""
    liked, unliked = _as_list(like), _as_list(unlike)
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
        problem = f"say what to look for: {needed}"
        raise InvalidInput("search", needed, found, hint, problem=problem)
    return row, liked, unliked


def _as_list(marks: Any) -> list[Any]:
    """Return rows as a list; one alone may be given without brackets."""
    if marks is None:
        return []
    is_one = isinstance(marks, str | Mapping) or not isinstance(marks, Sequence)
    return [marks] if is_one else list(marks)


def _get_index(
    source: TableSource, measure: Any, weights: Any, columns: Any
) -> tuple["Index", str | None, list[str] | None]:
    """Return the index to search, the reason for its measure, and columns still to be chosen."""
    from lookalike.index import Index

    if source.index is not None:
        index = source.index
        if measure is not None:
            found, hint = "a saved index, which has its own", "Leave it out, or build another index"
            raise InvalidInput(Param("measure"), "a table to fit it to", found, hint)
        names = None if columns is None else list(select_columns(index.sample, columns).names)
        return index, None if index.reason_ == "given" else index.reason_, names
    # The measure first: a mistake in its name is an error before the table is read.
    given = AUTO if measure is None else read_measure(measure)
    table, (_, id_column) = select_columns(source.read(), columns), source.labels
    index = Index(given, id_column=id_column).fit(table)
    return index, index.reason_ if isinstance(given, str) else None, None


def _as_position(word: Any, name: str) -> int:
    """Return the position of a row, which a shell has as text."""
    try:
        return int(word)
    except (TypeError, ValueError):
        who, needed = Param(name), "the number of a row"
        raise InvalidInput(who, needed, repr(word), ROW_HINT) from None


def _find(index: "Index", mark: Any, name: str) -> Any:
    """Return a record as it is, and the id of a row; a number may be given as text."""
    if isinstance(mark, Mapping):
        return mark
    segments, names = index.state_.segments, index.state_.names
    if index.id_column is None and not index.state_.id_column:
        position, last = _as_position(mark, name), segments.next_position - 1
        if 0 <= position <= last:
            return position  # the index raises if this row was deleted
        raise InvalidInput(Param(name), f"a row from 0 to {last}", str(mark), ROW_HINT)
    if mark in index:
        return mark
    # All ids of a folder would be read from disk; the first show how ids are written.
    ids = index.ids if index.folder is None else names.of(segments.positions[:MAX_SUGGESTED_IDS])
    for id in ids:
        if str(id) == str(mark):
            return id
    if isinstance(mark, str) and mark.lstrip("-").isdigit() and int(mark) in index:
        return int(mark)
    hint = suggest(str(mark), map(str, ids[:MAX_SUGGESTED_IDS]))
    raise InvalidInput(Param(name), "the id of a row", repr(mark), hint)
