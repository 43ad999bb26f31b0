"""Conditions on columns: which rows a search may find.

A filter is a mapping of column to condition; all of them must hold. A condition is

- a value: the cell equals it (``{"genre": "Drama"}``);
- a pair of operator and value (``{"year": (">=", 1990)}``);
- a mapping of operators to values, all of which must hold (``{"year": {">=": 1990, "<": 2000}}``);
- ``None``: the cell is missing; ``("!=", None)``: it is not.

Operators: ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``not in`` and ``contains`` (a word
in a text, an item in a set or sequence). A missing cell meets no condition but ``None``. Values are
read as cells of the column, so a date may be written as text, and ordered levels compare by their
order.

Conditions may be written as text, one or several: ``"day=Sun"``, ``["year>=1990", "mpaa=PG"]``.
There ``~`` is ``contains``, and nothing after the operator is a missing cell.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput, Param, Phrase, WrongType, suggest
from lookalike.index.ids import RowIds
from lookalike.index.segments import Segment
from lookalike.table import Column, Schema, Table
from lookalike.table.formats.raw import is_missing, of_values
from lookalike.table.model.cells import convert

ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = ("==", "!=", *ORDERED, "in", "not in", "contains")
TEXT_OPERATORS = ("==", "!=", "<=", ">=", "=", "<", ">", "~")  # a longer one before its beginning
BY_SIZE = ("number", "order")
BY_CODE = ("number", "order", "category", "flag")
HOLDING = ("text", "set", "sequence")

Conditions = Sequence[tuple[str, str, Any]]  # column, operator, value
WHO = Phrase(Param("filter"))


def read_conditions(given: Mapping[Any, Any], names: Sequence[str]) -> Conditions:
    """Return conditions as triples of column, operator and value; refuse unknown columns."""
    found: list[tuple[str, str, Any]] = []
    for name, condition in given.items():
        if name not in names:
            raise InvalidInput(WHO, "columns of the table", repr(name), suggest(str(name), names))
        if isinstance(condition, Mapping):
            pairs = list(condition.items())
        # A tuple is always an operator and a value; a list is a value to compare with.
        elif isinstance(condition, tuple):
            if len(condition) != 2:
                hint: str = Phrase(InPython('Write for example ("<=", 5)'))
                size = f"a tuple of {len(condition)}"
                where = (Param("filter"), f" on {name!r}")
                raise InvalidInput(where, "a pair of operator and value", size, hint)
            pairs = [condition]
        else:
            pairs = [("==", condition)]
        for word, value in pairs:
            if not isinstance(word, str) or word not in OPERATORS:
                where, hint = (Param("filter"), f" on {name!r}"), suggest(str(word), OPERATORS)
                raise InvalidInput(where, "a known operator", repr(word), hint)
            found.append((str(name), word, value))
    return found


def read_texts(words: Sequence[str], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Return conditions that are written as text as a mapping.

    Parameters
    ----------
    words : texts of one condition each
    kinds : mapping of column to Kind, or to something else where the kind is not known

    Examples
    --------
    >>> read_texts(["year>=1990", "year<2000", "mpaa=PG"], {"year": "", "mpaa": ""})
    {'year': {'>=': '1990', '<': '2000'}, 'mpaa': {'==': 'PG'}}
    """
    found: dict[str, Any] = {}
    columns = "|".join(map(re.escape, kinds))
    for word in words:
        column, sign, value = _condition(word, list(kinds))
        # Two conditions in one text would be one with a value that no cell has.
        second = re.search(rf"(?:,|&| and )\s*((?:{columns})\s*[=!<>~].*)", value)
        if second is not None:
            first = word[: word.rindex(value) + second.start()]
            hints = ("Use ", Param("filter", [first.strip(), second[1]]))
            raise InvalidInput(WHO, "one condition in a text", repr(word), hints)
        if sign in found.setdefault(column, {}):
            who, hint = Param("filter", word), "Use one of them, or the operator 'in' of JSON"
            raise InvalidInput(who, "each condition once", f"{sign} twice", hint)
        found[column][sign] = _value(value, getattr(kinds[column], "name", ""))
    return found


def _condition(word: str, names: list[str]) -> tuple[str, str, str]:
    """Split a condition at the operator; the name of a column may hold one itself."""
    # The longest name first: a column "a>b" must not be read as the column "a" and an operator.
    for name in sorted(names, key=len, reverse=True):
        rest = word[len(name) :].lstrip() if word.startswith(name) else ""
        if rest.startswith(("=>", "=<")):
            needed = f"an operator ({' '.join(TEXT_OPERATORS)})"
            hint = f"Did you mean {f'{name}{rest[1]}={rest[2:]}'!r}?"
            raise InvalidInput(Param("filter", word), needed, rest[:2], hint)
        for sign in TEXT_OPERATORS:
            if rest.startswith(sign):
                meant = {"=": "==", "~": "contains"}.get(sign, sign)
                return name, meant, rest[len(sign) :].strip()
    column, *more = re.split("[=!<>~]", word, maxsplit=1)
    if not more:
        raise InvalidInput(WHO, "COLUMN, an operator and a value", repr(word), "Try 'year>=1990'")
    hint = suggest(column.strip(), names)
    raise InvalidInput(WHO, "a column of the table", repr(column.strip()), hint)


def _value(text: str, kind: str) -> Any:
    if text == "":
        return None
    if kind == "number":
        try:
            number = float(text)
        except ValueError:
            return text  # a date, or a mistake that the filter reports
        # An integer where it is written as one: a message then quotes 1990, not 1990.0.
        return int(number) if number.is_integer() and "e" not in text.lower() else number
    return text


def meets(table: Table, conditions: Conditions) -> np.ndarray:
    """Return which rows of a table meet all conditions."""
    met = np.ones(len(table), dtype=bool)
    columns = {column.name: column for column in table.columns + table.aside}
    for name, word, value in conditions:
        column = columns.get(name)
        # Set aside, and not among the columns of added rows: all cells are missing.
        if column is None:
            met &= word == "==" and value is None
        else:
            met &= _meets(column, word, value)
    return met


def _meets(column: Column, word: str, value: Any) -> np.ndarray:
    if word in ("==", "!=", "in", "not in"):
        is_list = not isinstance(value, str) and hasattr(value, "__iter__")
        if word.endswith("in") and not is_list:
            raise _refuse(column, word, "a list of values", repr(value), "Put it into a list")
        hit = _among(column, word, list(value) if word.endswith("in") else [value])
        # As in SQL, a missing cell meets neither == nor !=.
        return hit if word in ("==", "in") else ~hit & ~column.blank
    if _asks_for_missing(value):
        raise _refuse(column, word, "a value", "None", "Use == or != for missing values")
    return _ordered(column, word, value) if word in ORDERED else _contains(column, value)


def _ordered(column: Column, word: str, value: Any) -> np.ndarray:
    kind = column.kind.name
    if kind not in BY_SIZE:
        hint = Phrase("Use ==, != or in; or give levels from low to high by ", Param("kinds"))
        raise _refuse(column, word, "a column of numbers or ordered levels", kind, hint)
    limit = _read(column, word, value)[0]
    # Unknown levels have negative codes, and no rank to compare by.
    if kind == "order" and limit < 0:
        raise _not_a_level(column, word, value)
    with np.errstate(invalid="ignore"):
        return np.asarray(ORDERED[word](column.values, limit) & ~column.missing)


def _among(column: Column, word: str, values: list[Any]) -> np.ndarray:
    """Return which cells equal one of the values, in time linear in cells and values."""
    known = [value for value in values if not _asks_for_missing(value)]
    hit = column.blank.copy() if len(known) < len(values) else np.zeros(len(column), dtype=bool)
    kind = column.kind.name
    if not known:
        return hit
    if kind not in (*BY_CODE, *HOLDING, "object"):
        hint = "Use None or ('!=', None), or a function of the record"
        needed = "a column of single values, texts, sets or sequences"
        raise _refuse(column, word, needed, kind, hint)
    # Cells are compared in one pass: a request with 200,000 values must not take one for each.
    if kind in BY_CODE:
        wanted: Any = _read_each(column, word, known)
        return np.asarray(hit | (np.isin(column.values, wanted) & ~column.blank))
    wanted = set(_read_each(column, word, known)) if kind in HOLDING else known
    same = (cell is not None and cell in wanted for cell in column.values)
    return hit | np.fromiter(same, bool, len(column))


def _read_each(column: Column, word: str, values: list[Any]) -> list[Any]:
    """Read values as cells of the column; those of one type together, as in a column of them."""
    by_type: dict[type, list[Any]] = {}
    for value in values:
        by_type.setdefault(type(value), []).append(value)
    return [cell for some in by_type.values() for cell in _read(column, word, *some)]


def _asks_for_missing(value: Any) -> bool:
    return not isinstance(value, list | tuple | set | frozenset | np.ndarray) and is_missing(value)


def _read(column: Column, word: str, *values: Any) -> np.ndarray:
    """Read values as cells of the column, so that they are compared as the cells are."""
    try:
        return convert(of_values(column.name, list(values)), column.kind, fitted=True).values
    except InvalidInput as error:
        # The error is about cells of a table: raise one about the value of the filter instead, the
        # first that cannot be read.
        for value in values if len(values) > 1 else ():
            _read(column, word, value)
        value = values[0]
        if column.kind.levels:
            raise _not_a_level(column, word, value) from error
        present = np.flatnonzero(~column.missing)
        hint = "Write it as the cells are written"
        hint += f", such as {column.cell(int(present[0]))!r}" if len(present) else ""
        kind = column.kind.name
        needed = "a number" if kind == "number" else f"a cell of kind {kind}"
        raise _refuse(column, word, needed, repr(value), hint) from error


def _not_a_level(column: Column, word: str, value: Any) -> InvalidInput:
    hint = suggest(str(value), column.kind.levels)
    return _refuse(column, word, "one of its levels", repr(value), hint)


def _contains(column: Column, value: Any) -> np.ndarray:
    kind = column.kind.name
    if kind not in HOLDING:
        hint = "Use == or in"
        raise _refuse(column, "contains", "a column of texts, sets or sequences", kind, hint)
    if kind == "text" and not isinstance(value, str):
        raise _refuse(column, "contains", "a text", repr(value), "Pass a string")
    if kind == "set" and isinstance(value, list | dict | set):
        raise _refuse(column, "contains", "one item", repr(value)[:80], "Ask for one item")
    return np.fromiter((c is not None and value in c for c in column.values), bool, len(column))


def _refuse(column: Column, word: str, needed: str, found: str, hint: str) -> InvalidInput:
    return InvalidInput((Param("filter"), f" on {column.name!r} ({word})"), needed, found, hint)


def read_filter(given: Any, names: RowIds, schema: Schema) -> list[np.ndarray] | None:
    """Return which rows of each segment may be found, None for all.

    Parameters
    ----------
    given : None, text or texts, mapping, callable, ids or boolean array
    names : RowIds, the ids of an index
    schema : Schema, its columns
    """
    if given is None:
        return None
    segments = names.segments.segments
    if (words := _as_texts(given, names)) is not None:
        given = read_texts(words, {**schema.aside, **schema.kinds})
    if isinstance(given, Mapping):
        conditions = read_conditions(given, [*schema.kinds, *schema.aside])
        return [meets(segment.table, conditions) for segment in segments]
    if callable(given):
        return [_call(segment, given) for segment in segments]
    if not hasattr(given, "__iter__"):
        hint = Phrase("Pass for example ", Param("filter", "year>=1990"))
        raise WrongType(WHO, "conditions on columns", repr(given), hint)
    positions = _positions(list(given), names)
    return [np.isin(segment.positions, positions) for segment in segments]


def _positions(entries: list[Any], names: RowIds) -> np.ndarray:
    """Return the positions that ids, or a boolean for every row, name."""
    if not entries or not all(isinstance(entry, bool | np.bool_) for entry in entries):
        return np.array([names.position(id, WHO) for id in entries], dtype=np.int64)
    if len(entries) != len(names.segments):
        needed = f"{len(names.segments):,} booleans, one per id of index.ids"
        raise InvalidInput(WHO, needed, f"{len(entries):,}", "Give one per row")
    return names.segments.positions[np.array(entries)]


def _as_texts(given: Any, names: RowIds) -> list[str] | None:
    """Return conditions that are written as text, None for another filter."""
    words = [given] if isinstance(given, str) else given
    listed = isinstance(words, list | tuple) and words
    if not listed or not all(isinstance(word, str) for word in words):
        return None
    # Ids may be texts too; without an operator it is no condition, but an id that is mistyped.
    is_condition = words is not given or any(re.search("[=!<>~]", word) for word in words)
    return list(words) if is_condition and words[0] not in names else None


def _call(segment: Segment, function: Callable[[Any], Any]) -> np.ndarray:
    """Return for which live rows a function of the record is true."""
    met = np.zeros(len(segment), dtype=bool)
    for row in np.flatnonzero(segment.live):
        answer = function(segment.table.record(int(row)))
        # Only booleans: a function that returns nothing would silently find nothing.
        if not isinstance(answer, bool | np.bool_):
            needed = "a function of the record that returns True or False"
            raise WrongType(WHO, needed, repr(answer), InPython("Return a bool"))
        met[row] = bool(answer)
    return met
