"""What a row is called: the columns that name it, and the rows that a name means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike._runtime.text import short
from lookalike.errors import InvalidInput, Param, suggest
from lookalike.table.infer import roles
from lookalike.table.model.table import Column, Table

# All chosen by hand.
MIN_DISTINCT_SHARE = 0.5  # of labels, for a column to distinguish rows
MAX_MISSING_SHARE = 0.5  # of cells, for a column to name rows
MAX_COMBINED = 2  # columns of a label, where one alone does not distinguish rows
MIN_LEVELS = 3  # of a label that does not distinguish rows: "f" and "m" name no row
MAX_LABEL_ROWS = 2_000  # first rows that the columns are judged by
MAX_LABEL_LENGTH = 60  # mean characters of a text up to which it is a name, not a description
MAX_CELL_CHARACTERS = 24
DOT = " · "


@dataclass(frozen=True)
class RowLabel:
    """The columns that name the rows of a table.

    Parameters
    ----------
    columns : tuple of str
        Their names, the most telling first; none where nothing but the id names a row.
    with_id : bool
        Whether rows with equal labels need the id to be distinguished.
    reason : str
        Why these, in words.
    separator : str
        Between the cells.
    """

    columns: tuple[str, ...] = ()
    with_id: bool = True
    reason: str = "no column names the rows"
    separator: str = DOT

    def of(self, record: Mapping[str, Any]) -> str | None:
        """Return the label of a row without its id; None where the row has none.

        Examples
        --------
        >>> RowLabel(("species", "island")).of({"species": "Adelie", "island": None})
        'Adelie'
        """
        cells = [record.get(name) for name in self.columns]
        known = [str(short(cell, 200)) for cell in cells if cell is not None and cell != ""]
        return self.separator.join(known) or None

    def added_to(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return a row as plain values with its label before its cells."""
        row = found.pop("row")
        return found | {"label": self.of(row), "row": row}

    def write(self, record: Mapping[str, Any], id: object) -> str:
        """Return the label of a row with its id.

        Examples
        --------
        >>> RowLabel(("title",), with_id=False).write({"title": "Alien"}, 17)
        'Alien (17)'
        >>> RowLabel(("species", "island")).write({"species": "Adelie", "island": "Dream"}, 12)
        'Adelie · Dream · #12'
        """
        text, name = self.of(record), short(id)
        # A column that names the rows may be that of the ids.
        if text is None or text == name:
            return name
        parts = [short(part, MAX_CELL_CHARACTERS) for part in text.split(DOT)]
        return DOT.join([*parts, f"#{name}"] if self.with_id else [f"{DOT.join(parts)} ({name})"])


def label_of(table: Table) -> RowLabel:
    """Say which columns name the rows of a table, and why.

    A title or a name comes before a code, a code before the id. A label needs to tell rows apart:
    one with fewer than half as many values as rows is combined with another column, and the id.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table({"size": [1.0, 2.0, 3.0], "color": ["red", "red", "blue"]})
    >>> label_of(table).write(table.record(1), 1)
    'red (1)'
    """
    first = table[:MAX_LABEL_ROWS]
    every = first.columns + first.aside
    if given := [column for column in every if column.kind.names_rows]:
        # In the order in which they would be chosen.
        given.sort(key=lambda column: (not _is_name(column), -_count([column])))
        return _label(tuple(given), "given")
    # Remarks on a few rows name none of the others.
    every = tuple(c for c in every if c.missing.sum() <= MAX_MISSING_SHARE * len(c))
    names = [column for column in every if _is_name(column)]
    # A name in words before any other text that differs from row to row, and a title of every row
    # before one that several share: "name" before "email".
    names.sort(key=lambda c: (not roles.says_name(c.name), c.kind.role != "name"))
    if person := _find_person(names):
        return replace(_label(person, "a person's name"), separator=" ")
    for column in names or filter(_is_code, every):
        if _tells_apart([column]):
            return _label((column,), "a name" if names else "a code")
    return _combined(names, every)


def _combined(names: list[Column], every: Iterable[Column]) -> RowLabel:
    """Return a label of several columns, none of which tells the rows apart."""
    levels = [column for column in every if _is_level(column) and column not in names]
    levels.sort(key=lambda column: -_count([column]))  # stable: the first of the table on ties
    chosen = _first_that_tell_apart([*names, *levels][:MAX_COMBINED])
    return _label(chosen, "the most different words") if chosen else RowLabel()


def _find_person(columns: list[Column]) -> tuple[Column, ...]:
    """Return the columns of first and last names; none unless there is one of each."""
    parts = {roles.says_part_of_name(column.name): column for column in reversed(columns)}
    return (parts["first"], parts["last"]) if {"first", "last"} <= parts.keys() else ()


def _first_that_tell_apart(columns: list[Column]) -> tuple[Column, ...]:
    """Return the fewest of the first columns that tell rows apart; all where none do.

    None where they have too few different cells to say anything.
    """
    tell = (n for n in range(1, len(columns)) if _tells_apart(columns[:n]))
    chosen = tuple(columns[: next(tell, len(columns))])
    if not chosen or (_count(chosen) < MIN_LEVELS and not _tells_apart(chosen)):
        return ()
    return chosen


def _label(columns: tuple[Column, ...], why: str) -> RowLabel:
    names = ", ".join(repr(column.name) for column in columns)
    n, rows = _count(columns), len(columns[0])
    reason = f"{names}: {why}, {n:,} different in {rows:,} rows"
    return RowLabel(tuple(c.name for c in columns), not _tells_apart(columns), reason)


def _count(columns: Sequence[Column]) -> int:
    """Return how many different cells, or combinations of cells, there are."""
    cells = [np.where(c.missing, np.array(None), c.values).tolist() for c in columns]
    return len({key for key in zip(*cells, strict=True) if any(part is not None for part in key)})


def _tells_apart(columns: Sequence[Column]) -> bool:
    return _count(columns) >= MIN_DISTINCT_SHARE * len(columns[0]) > 0


def _is_name(column: Column) -> bool:
    """Whether cells are titles or names: words, not a long text, and none of a code."""
    kind, name = column.kind, column.name
    if kind.role in UNTOLD or roles.is_id_name(name) or roles.is_code_name(name):
        return False
    if kind.role == "name":
        return _is_short(column)
    worded = kind.name in ("text", "category", "object") and kind.role != "code"
    return worded and roles.says_name(name) and _is_short(column)


def _is_short(column: Column) -> bool:
    cells = [column.cell(row) for row in range(min(len(column), 200))]
    texts = [cell for cell in cells if cell is not None]
    if not texts or not all(isinstance(cell, str) for cell in texts):
        return False
    return sum(map(len, texts)) <= MAX_LABEL_LENGTH * len(texts)


def _is_code(column: Column) -> bool:
    """Whether cells are identifiers in words: a counter of the rows says no more than the id."""
    kind = column.kind
    if kind.role in UNTOLD or roles.is_row_name(column.name):
        return False
    named = kind.role in ("identifier", "code") or kind.reason.startswith("identifier")
    named = named or roles.is_identifier_name(column.name) or roles.is_code_name(column.name)
    return named and kind.name != "number"


def _is_level(column: Column) -> bool:
    kind = column.kind
    if kind.role in (*UNTOLD, "code", "month", "weekday") or roles.is_row_name(column.name):
        return False
    return kind.name in ("category", "order") and all(isinstance(v, str) for v in kind.levels[:20])


UNTOLD = ("constant", "empty", "copy")  # what the same in all rows, or twice, says nothing more


def label_first(table: Table) -> list[Column]:
    """Return all columns in the order to show them: label, compared columns, others, identifiers.

    Examples
    --------
    >>> import lookalike as la
    >>> rows = {"id": ["a1", "a2"], "x": [1.0, 2.0], "title": ["one film", "two films"]}
    >>> table = la.read_table(rows, kinds={"title": "name", "id": "aside"})
    >>> [column.name for column in label_first(table)]
    ['title', 'x', 'id']
    """
    label = label_of(table).columns
    compared = set(table.names)

    def rank(column: Column) -> tuple[int, int]:
        if column.name in label:
            return 0, label.index(column.name)
        # Identifiers and counters must not take the place of the columns that decided.
        if column.kind.role in UNTOLD or roles.is_row_name(column.name):
            return 4, 0
        return (1 if column.name in compared else 3 if _is_code(column) else 2), 0

    # Sorting is stable: within a rank the columns stay in the order of the table.
    return sorted(table.columns + table.aside, key=rank)


def mark_label(table: Table, names: Iterable[str], who: str = "read_table") -> Table:
    """Return the table with these columns as the label of its rows.

    Parameters
    ----------
    table : Table
    names : names of columns, compared or set aside
    who : who is asking, for error messages
    """
    wanted, every = list(names), [column.name for column in table.every]
    for name in wanted:
        if name not in every:
            where, hint = Param("label_column", of=who), suggest(str(name), every)
            raise InvalidInput(where, "a column of the table", repr(name), hint)

    columns, aside = (
        [replace(c, kind=replace(c.kind, names_rows=c.name in wanted)) for c in side]
        for side in (table.columns, table.aside)
    )
    return Table(columns, aside, len(table), table.missing)


# -- rows by their names ---------------------------------------------------------------------------


def match_rows(columns: Sequence[Sequence[Any]], text: str, *, exact: bool = False) -> list[int]:
    """Return the positions of the rows that a text means, by cells that may name them.

    Cells that are the text come first; only where there are none those that are it in other case,
    then those that begin with it, then those that hold it.

    Parameters
    ----------
    columns : lists of cells, one list per column that may name a row
    text : str
    exact : bool
        Whether only cells that are the text count.

    Examples
    --------
    >>> (
    ...     match_rows([["Toy Story", "Toy Story 2", None]], "toy story"),
    ...     match_rows([["Alien"]], "lie"),
    ... )
    ([0], [0])
    """
    words = text.strip()
    found: dict[int, set[int]] = {}
    wanted = words.casefold()
    every = ((row, str(c)) for cells in columns for row, c in enumerate(cells) if c is not None)
    for row, cell in every if wanted else ():
        lower = cell.casefold()
        if wanted in lower:
            ranks = (cell == words, lower == wanted, lower.startswith(wanted), True)
            found.setdefault(ranks.index(True), set()).add(row)
    return sorted(found.get(0 if exact else min(found, default=0), ()))
