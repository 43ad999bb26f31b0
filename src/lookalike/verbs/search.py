"""The rows most like a row of a table, or like a record."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.verbs.annotations import (
    Columns,
    Count,
    Filter,
    LikeRows,
    MeasureLike,
    RowRef,
    TableLike,
    UnlikeRows,
    Weights,
)
from lookalike.verbs.measures import AUTO, name_measure, read_measure, set_seed
from lookalike.verbs.source import TableSource, as_source, read_filter, select_columns

if TYPE_CHECKING:
    from lookalike.index import Hits, Index

EXAMPLES = (
    "lookalike search films.csv --row 17 -k 5 --why",
    """lookalike search films.csv --like '{"title": "Alien", "year": 1979}'""",
    "lookalike search films.csv --row 17 --weight length=3 --filter 'year>=1990'",
    "lookalike search films.csv --like 17 --like 20 --unlike 3",
)
SUGGESTED = 1000  # ids that a mistyped one is compared with


def search(
    table: TableLike,
    row: RowRef = None,
    *,
    like: LikeRows = None,
    unlike: UnlikeRows = None,
    k: Count = 10,
    measure: MeasureLike = None,
    weights: Weights = None,
    columns: Columns = None,
    filter: Filter = None,
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
        How rows are compared, such as "gower" or "vector:metric=cosine"; "auto" chooses by the
        columns. None: the measure of an index, "auto" for a table.
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
    _check_positions(source, row, [start, *liked], unliked)
    given = None if measure is None else read_measure(measure)
    index, reason, names = _get_index(source, given, weights, columns)
    sample = index.sample
    query = _find(index, start, "like" if row is None else "row")
    conditions = read_filter(filter, sample) if filter else None
    found: Any = (source.searched or index).search(
        query,
        k,
        like=[_find(index, mark, "like") for mark in liked],
        unlike=[_find(index, mark, "unlike") for mark in unliked],
        filter=conditions,
        weights=weights,
        columns=names,
    )
    from lookalike.index.hits import SearchInfo

    hits: Hits = found.with_info(
        SearchInfo(
            source.name,
            None if isinstance(query, Mapping) else query,
            k,
            type(index.measure_).__name__,
            name_measure(index.measure_),
            reason,
            filtered=bool(filter),
            why=why,
            sample=sample,
        )
    )
    return hits


def _read_marks(row: Any, like: Any, unlike: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return what to start from, and the rows that are liked and not liked."""
    liked = [] if like is None else [like] if _is_one(like) else list(like)
    unliked = [] if unlike is None else [unlike] if _is_one(unlike) else list(unlike)
    records = [mark for mark in liked if isinstance(mark, Mapping)]
    if row is None and liked:
        row = (records or liked)[0]
        liked.remove(row)
        records = records[1:]
    if row is None or records:
        needed = "a row of the table or a record, one of the two"
        found = "none" if row is None else "several"
        hint = ("Use ", Param("row", 17), " or ", Param("like", {"year": 1977}))
        problem = f"say what to look for: {needed}"
        raise InvalidInput("search", needed, found, hint, problem=problem)
    return row, liked, unliked


def _is_one(marks: Any) -> bool:
    return isinstance(marks, str | Mapping) or not isinstance(marks, Sequence)


def _check_positions(source: TableSource, row: Any, liked: list[Any], unliked: list[Any]) -> None:
    """Refuse a word where rows are counted, before the table is read."""
    if source.is_index or not source.is_path:
        return  # ids of an index, and labels of a frame, may be words
    names = ["like" if row is None else "row", *["like"] * (len(liked) - 1)]
    for name, mark in [*zip(names, liked, strict=True), *(("unlike", one) for one in unliked)]:
        if isinstance(mark, str):
            _as_position(mark, name)


def _get_index(
    source: TableSource, measure: Any, weights: Any, columns: Any
) -> tuple["Index", str | None, list[str] | None]:
    """Return the index to ask, why it compares as it does, and the columns still to be chosen."""
    from lookalike.index import Index, choose_measure

    if source.index is not None:
        index = source.index
        if measure is not None:
            found, hint = "a saved index, which has its own", "Leave it out, or build another index"
            raise InvalidInput(Param("measure"), "a table to fit it to", found, hint)
        names = None if columns is None else list(select_columns(index.sample, columns).names)
        return index, None if index.reason_ == "given" else index.reason_, names
    table, (_, id_column) = select_columns(source.read(), columns), source.labels
    given, reason = AUTO if measure is None else measure, None
    # "auto" may wrap a measure in a hubness reducer, whose statistics fix the weights; so it is
    # told beforehand that the question comes with weights.
    if isinstance(given, str) and weights:
        given, reason = choose_measure(table, weighs_columns=True)
        set_seed(given, 0)
    index = Index(given, id_column=id_column).fit(table)
    return index, index.reason_ if isinstance(given, str) else reason, None


def _as_position(word: Any, name: str) -> int:
    """Return the position of a row that was typed."""
    try:
        return int(word)
    except (TypeError, ValueError):
        hint = "Count rows from 0, without the line of headings"
        raise InvalidInput(Param(name), "the number of a row", repr(word), hint) from None


def _find(index: "Index", mark: Any, name: str) -> Any:
    """Return a record as it is, and the id that a row is meant by; text may stand for a number."""
    if isinstance(mark, Mapping):
        return mark
    segments, names = index.state_.segments, index.state_.names
    if index.id_column is None and not index.state_.id_column:
        position, last = _as_position(mark, name), segments.next_position - 1
        if 0 <= position <= last:
            return position  # one that was deleted is named by the index
        hint = "Count rows from 0, without the line of headings"
        raise InvalidInput(Param(name), f"a row from 0 to {last}", str(mark), hint)
    if mark in index:
        return mark
    # All ids of a folder would be read from disk; the first show how ids are written.
    ids = index.ids if index.folder is None else names.of(segments.positions[:SUGGESTED])
    for id in ids:
        if str(id) == str(mark):
            return id
    if isinstance(mark, str) and mark.lstrip("-").isdigit() and int(mark) in index:
        return int(mark)
    hint = suggest(str(mark), map(str, ids[:SUGGESTED]))
    raise InvalidInput(Param(name), "the id of a row", repr(mark), hint)
