"""Columns as they arrive: Arrow arrays where the cells are regular, object arrays where not.

Everything that reads a file or a frame ends here; everything that decides about kinds starts here.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InPython, InvalidInput, LookalikeError, Phrase
from lookalike.table.formats import arrow

# Arrow would flatten these (a set into a list, a dict into a record with all keys of the column).
_KEEP = (set, frozenset, dict, bytes)
# Arrow follows these without end.
_NESTED = (list, tuple, dict)
MAX_NESTED_LISTS = 64  # lists within lists
# Types of pandas that Arrow has no type for; written as text they are levels or dates.
_SPANS = ("Interval", "Period")
ErrorType = type[LookalikeError]
_SCALARS = (str, bool, int, float, np.generic, decimal.Decimal, dt.date, dt.time, dt.timedelta)


@dataclass(frozen=True)
class Raw:
    """A column before its kind is known.

    Parameters
    ----------
    name : str
    cells : Arrow array, or object array with None where a cell is missing
        Text is a dictionary array: each distinct string once.
    declared : str
        What the source says about categories: "category", "order", "enum" (an order that may be no
        more than the order of a list), or "" where it says nothing.
    times : int64 array, optional
        How many rows have each of the cells, where they are facts of files
        (``formats/lazy.py``); None: one each.
    distinct : int, optional
        How many different cells there are, where they are too many to be all here.
    typed : bool
        Whether the source has types, so that digits kept as text were a choice.
    """

    name: str
    cells: Any
    declared: str = ""
    times: np.ndarray | None = None
    distinct: int | None = None
    typed: bool = False

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return len(self) if self.times is None else int(self.times.sum())

    @property
    def count(self) -> int:
        """How many rows have a cell."""
        here = self.present()
        return int(here.sum() if self.times is None else self.times[here].sum())

    @property
    def is_arrow(self) -> bool:
        """Whether the cells are an Arrow array."""
        return not isinstance(self.cells, np.ndarray)

    @property
    def type(self) -> Any:
        """The Arrow type of the cells, None for an object array."""
        return self.cells.type if self.is_arrow else None

    @property
    def is_text(self) -> bool:
        """Whether the cells are strings, each distinct one kept once, without a declared order."""
        if self.declared in ("order", "enum") or not self.is_arrow:
            return False
        return pa.types.is_dictionary(self.type) and pa.types.is_large_string(self.type.value_type)

    @property
    def words(self) -> Any:
        """The distinct strings of a text column, or the levels of categories."""
        return self.cells.dictionary

    @property
    def codes(self) -> np.ndarray:
        """For each row the position of its string in ``words``, -1 where missing."""
        indices = self.cells.indices
        if indices.null_count:
            indices = pc.fill_null(indices.cast(pa.int64()), -1)
        return arrow.to_numpy(indices)

    def present(self) -> np.ndarray:
        """Where there is a cell, as a boolean array."""
        if not self.is_arrow:
            return np.array([cell is not None for cell in self.cells], bool)
        return ~arrow.to_numpy(pc.is_null(self.cells, nan_is_null=pa.types.is_floating(self.type)))

    def values(self) -> list[Any]:
        """All cells as Python values, None where missing."""
        if not self.is_arrow:
            return list(self.cells)
        return [None if is_missing(value) else value for value in self.cells.to_pylist()]

    def without(self, tokens: Sequence[Any]) -> Raw:
        """Return the column with the cells that equal a token made missing.

        A token means a number and its written form alike: ``-999`` and ``"-999"`` are one token.
        """
        if not tokens or (self.is_arrow and pa.types.is_null(self.type)):
            return self
        words = {written(token) for token in tokens}
        if not self.is_arrow:
            one = str | int | float | np.generic | decimal.Decimal
            cells = [None if isinstance(c, one) and written(c) in words else c for c in self.cells]
            return of_values(self.name, cells)
        if pa.types.is_dictionary(self.type):
            return self._without_levels(words)
        return self._without_numbers(words) if arrow.is_number(self.type) else self

    def _without_numbers(self, words: set[str]) -> Raw:
        # Compared as numbers, so that 4.0 in the cells is the token "4".
        numbers = [number for number in map(as_number, words) if number is not None]
        hit = np.isin(arrow.to_numpy(self.cells), numbers)
        if not hit.any():
            return self
        cells = pc.if_else(pa.array(hit), pa.scalar(None, self.type), self.cells)
        return replace(self, cells=cells)

    def _without_levels(self, words: set[str]) -> Raw:
        levels = self.words
        if pa.types.is_large_string(levels.type):
            tokens = pa.array(sorted(words), pa.large_string())
            gone = arrow.to_numpy(pc.is_in(levels, value_set=tokens))
            if self.is_text:  # " ?" is a "?" too
                trimmed = pc.utf8_trim_whitespace(levels)
                gone = gone | arrow.to_numpy(pc.is_in(trimmed, value_set=tokens))
        else:
            gone = np.array([written(level) in words for level in levels.to_pylist()], bool)
        return self.with_order(np.flatnonzero(~gone)) if gone.any() else self

    def with_order(self, positions: np.ndarray) -> Raw:
        """Return the column with these of its distinct cells, in this order; others are missing."""
        new_codes = np.full(len(self.words) + 1, -1, dtype=np.int64)
        # The last entry is for code -1: a missing cell stays missing.
        new_codes[positions] = np.arange(len(positions))
        codes = new_codes[self.codes]
        words = self.words.take(pa.array(positions))
        cells = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words)
        return replace(self, cells=cells)

    # -- as text -----------------------------------------------------------------------------------

    def neutral(self) -> Raw:
        """Make blank strings missing; typed cells stay as they are."""
        if not self.is_text:
            return self
        blank = pc.or_(pc.utf8_is_space(self.words), pc.equal(pc.binary_length(self.words), 0))
        if not self.words.null_count and not pc.any(blank).as_py():
            return self
        return self.with_order(np.flatnonzero(~arrow.to_numpy(pc.fill_null(blank, True))))

    def strings(self) -> Words:
        """Return the distinct strings that some row has."""
        codes = self.codes
        present = codes >= 0
        # A cell that comes from the facts of files counts for several rows; below 2**53 rows the
        # sums of floats are exact.
        times = None if self.times is None else self.times[present]
        counts = np.bincount(codes[present], times, len(self.words)).astype(np.int64)
        trimmed = pc.utf8_trim_whitespace(self.words)
        return Words(self.name, trimmed, counts, self.rows, self.words).where(counts > 0)

    def spread(self, words: Words, cells: Any) -> Raw:
        """Give every row of a text column the value of its string; one not in words is missing.

        Parameters
        ----------
        words : Words
            The distinct strings of the column, or some of them.
        cells : Arrow array
            The value of each word.
        """
        known = pc.index_in(self.words, value_set=words.written)
        known = arrow.to_numpy(pc.fill_null(known.cast(pa.int64()), -1))
        # The last entry is for code -1.
        codes = np.append(known, -1)[self.codes]
        return Raw(self.name, cells.take(pa.array(codes, mask=codes < 0)), times=self.times)

    def misfits(self, words: Words, fits: np.ndarray) -> tuple[np.ndarray, str, bool]:
        """Return the rows of words that do not fit, the first of them, and whether these are all.

        Parameters
        ----------
        words : Words
            Its distinct strings.
        fits : boolean array
            Which of them fit by themselves.
        """
        # Each fits for itself, but not in one reading.
        every = not fits.any() or bool(fits.all())
        bad = words.written if every else words.where(~fits).written
        hit = pc.is_in(self.cells.dictionary_decode(), value_set=bad)
        rows = np.flatnonzero(arrow.to_numpy(hit))
        return rows, self.cells[int(rows[0])].as_py(), every

    def error(
        self, rows: Any, value: Any, needed: str, hint: str, error: ErrorType = InvalidInput
    ) -> LookalikeError:
        """Describe cells that do not fit: how many, the first, its row."""
        rows = np.atleast_1d(rows)
        value = value.item() if isinstance(value, np.generic) else value
        count = f"{len(rows):,} of {len(self):,} cells that are not"
        found = f"{count} (first: {value!r:.60}, row {rows[0]})"
        return error(f"Column {self.name!r}", needed, found, hint)


def written(value: Any) -> str:
    """Write a scalar the way a file would: 4.0 as "4", True as "true".

    Examples
    --------
    >>> written(4.0), written(True), written("a b")
    ('4', 'true', 'a b')
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def short_number(value: Any) -> str:
    """Write a number shortly: 5220, 0.25, 1e+06 only where nothing shorter is exact enough."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def is_missing(value: Any) -> bool:
    """Whether a Python value means "no cell": None, NaN, NaT, pandas' NA.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, False, False)
    """
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    # pandas' own NA and NaT, known by name so that pandas is never imported.
    return type(value).__name__ in ("NAType", "NaTType")


# Types whose cells refer to values, each value any number of times, or whose casts in Arrow read
# memory behind the end of the cells.
_BY_REFERENCE = re.compile(r"\b(list_view|large_list_view|run_end_encoded|\w+_union)<")


def check_type(name: str, kind: Any) -> None:
    """Refuse a column of an Arrow type that is not read, or has one inside."""
    if _BY_REFERENCE.search(str(kind)):
        hint = "Cast the column before to its values, or to lists"
        raise InvalidInput(f"Column {name!r}", "values or lists", f"the Arrow type {kind}", hint)


def of_arrow(name: str, cells: Any, *, declared: str | None = None) -> Raw:
    """Take an Arrow array or chunked array, and reduce the many Arrow types to a few."""
    check_type(name, cells.type)
    if isinstance(cells, pa.ChunkedArray):
        if _is_string(cells.type) and cells.num_chunks:
            # Encoded chunk by chunk: one array of all strings may not exceed 2 GB.
            return Raw(name, _distinct(cells.dictionary_encode().combine_chunks()))
        if pa.types.is_dictionary(cells.type):
            cells = cells.unify_dictionaries()
        cells = cells.combine_chunks()
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return _of_dictionary(name, cells, declared)
    for is_of_type, reduced in _REDUCED:
        if is_of_type(kind):
            return reduced(name, cells)
    return Raw(name, cells)


def _of_dictionary(name: str, cells: Any, declared: str | None) -> Raw:
    kind = cells.dictionary.type
    if cells.dictionary.null_count or pa.types.is_nested(kind) or pa.types.is_dictionary(kind):
        return of_arrow(name, cells.dictionary_decode())
    levels = of_arrow(name, cells.dictionary)
    # Strings: each once, so the levels keep their order.
    if levels.is_text:
        levels = replace(levels, cells=levels.cells.dictionary_decode())
    ordered = cells.type.ordered
    cells = pa.DictionaryArray.from_arrays(cells.indices, levels.cells)
    return Raw(name, cells, declared or ("order" if ordered else "category"))


def _of_intervals(name: str, cells: Any) -> Raw:
    """Take calendar intervals as durations, unless months are among them: they differ in length."""
    listed = cells.to_pylist()
    if any(cell is not None and cell.months for cell in listed):
        return Raw(name, objects(listed))
    spans = [c and dt.timedelta(c.days, microseconds=c.nanoseconds / 1000) for c in listed]
    return Raw(name, pa.array(spans, pa.duration("us")))


def _is_string(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


# Type of the cells, and how they become one of the few types that everything else knows.
_REDUCED: tuple[tuple[Callable[[Any], bool], Callable[[str, Any], Raw]], ...] = (
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda n, c: of_arrow(n, c.storage)),
    (lambda kind: str(kind) == "string_view", lambda n, c: of_arrow(n, c.cast(pa.large_string()))),
    (_is_string, lambda n, c: Raw(n, _distinct(c.dictionary_encode()))),
    (pa.types.is_decimal, lambda n, c: Raw(n, c.cast(pa.float64()))),
    (pa.types.is_float16, lambda n, c: Raw(n, c.cast(pa.float32()))),
    (pa.types.is_interval, _of_intervals),
    (
        pa.types.is_map,
        lambda n, c: Raw(n, objects([v if v is None else dict(v) for v in c.to_pylist()])),
    ),
)


def of_values(name: str, values: Iterable[Any]) -> Raw:
    """Take Python values."""
    values = _comparable(name, list(values))
    types = set(map(type, values))
    if not _some(types, _KEEP):
        try:
            return of_arrow(name, pa.array(values, from_pandas=True))
        except (pa.ArrowException, OverflowError, TypeError, ValueError, AttributeError):
            pass  # cells of mixed types
    cells, types = objects(values), types - {type(None)}
    # Integers beyond 64 bits are read as the digits that they are. Of mixed cells (1, "n/a", 2.5)
    # every source leads to the same table. Strings alone have lone surrogates: Arrow takes none.
    mixed = _some(types, str | dt.date | dt.time) and _every(types, _SCALARS)
    if _every(types, str) or not (mixed or _every(types, int)):
        return Raw(name, cells)
    write = written if mixed else lambda cell: str(int(cell))
    return of_values(name, [None if cell is None else write(cell) for cell in cells])


def _comparable(name: str, values: list[Any]) -> list[Any]:
    """Return values without what Arrow would cut or not take; refuse what nothing can compare."""
    types = set(map(type, values))
    if _some(types, _NESTED):
        _check_depth(name, values)
    if _some(types, complex | np.complexfloating):
        raise complex_error(f"Column {name!r}")
    # Types of pandas are known by name, which is never imported.
    if any(kind.__name__ in _SPANS for kind in types):
        values = [str(v) if type(v).__name__ in _SPANS else v for v in values]
    if _some(types, dt.datetime) and dt.date in types:
        # Arrow would cut the hours off when the first value is a plain date.
        values = [dt.datetime(v.year, v.month, v.day) if type(v) is dt.date else v for v in values]
    return values


def _some(types: set[type], classes: Any) -> bool:
    return any(issubclass(kind, classes) for kind in types)


def _every(types: set[type], classes: Any) -> bool:
    return all(issubclass(kind, classes) for kind in types)


def _check_depth(name: str, values: list[Any]) -> None:
    """Refuse cells that hold lists in lists without end, such as a list that holds itself."""
    if _is_deep(values):
        row = next(row for row, cell in enumerate(values) if _is_deep([cell]))
        needed = f"cells of at most {MAX_NESTED_LISTS} lists within lists"
        found, hint = (
            "more, or a list that holds itself",
            "Take the cell apart, or leave it missing",
        )
        raise InvalidInput(f"Column {name!r}, row {row}", needed, found, hint)


def _is_deep(values: Iterable[Any]) -> bool:
    """Whether cells hold lists in lists without end, such as a list that holds itself."""
    for _ in range(MAX_NESTED_LISTS):
        # Each list once: one that holds itself twice would double at every level.
        held = {id(v): v for v in values if isinstance(v, _NESTED)}.values()
        lists = [v.values() if isinstance(v, dict) else v for v in held]
        # Most lists hold none: their types are looked at faster than their items.
        if not _some(set().union(*(map(type, one) for one in lists)), _NESTED):
            return False
        values = chain.from_iterable(lists)
    return True


def _distinct(cells: Any) -> Any:
    """Return a dictionary array with its strings as large_string."""
    if pa.types.is_large_string(cells.type.value_type):
        return cells
    return pa.DictionaryArray.from_arrays(cells.indices, cells.dictionary.cast(pa.large_string()))


def of_array(name: str, values: np.ndarray) -> Raw:
    """Take a numpy array with one entry, or one row of numbers, per table row."""
    if values.ndim == 2 and values.dtype.kind in "fiub":
        width = values.shape[1]
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        flat = pa.array(np.ascontiguousarray(values).reshape(-1))
        return Raw(name, pa.FixedSizeListArray.from_arrays(flat, width))
    if values.ndim != 1:
        return of_values(name, list(values))
    kind = values.dtype.kind
    if kind == "c":
        raise complex_error(f"Column {name!r}")
    if kind in "OSU":
        values = np.char.decode(values, "utf-8") if kind == "S" else values
        return of_values(name, values.tolist())
    if kind in "Mm" and np.datetime_data(values.dtype)[0] not in ("s", "ms", "us", "ns"):
        values = values.astype(f"{kind}8[s]")
    if values.dtype == np.longdouble:
        values = values.astype(np.float64)
    return of_arrow(name, pa.array(np.ascontiguousarray(values), from_pandas=True))


def records_to_raw(records: Sequence[Any]) -> list[Raw]:
    """Take a list of dictionaries; a key that a record does not have is a missing cell."""
    names: dict[Any, None] = {}
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            found = f"{type(record).__name__} {record!r:.40} at row {row}"
            hint = "Give every row as a dictionary of column and value"
            raise InvalidInput("read_table", "a list of records (dictionaries)", found, hint)
        names.update(dict.fromkeys(record))
    return [of_values(str(name), [record.get(name) for record in records]) for name in names]


def complex_error(who: str) -> InvalidInput:
    """Say that complex numbers have no order and no place on a line."""
    found = Phrase("complex ones", InPython(" (Complex data not supported)"))
    hint = "Give the real and the imaginary parts as two columns"
    return InvalidInput(who, "real numbers", found, hint)


def as_number(word: str) -> float | None:
    """Return the number that a word is, None where it is something else."""
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def objects(values: list[Any]) -> np.ndarray:
    """Return an object array of the values, None where one is missing."""
    # numpy.array would turn a list of equal-length lists into a matrix.
    cells = (None if is_missing(value) else value for value in values)
    return np.fromiter(cells, object, len(values))


@dataclass(frozen=True)
class Words:
    """The distinct strings of a text column, and how often each occurs.

    Parameters
    ----------
    name : str
        The name of the column.
    distinct : Arrow array of strings, trimmed, none missing
        One twice where the column has it with other spaces around it.
    counts : int64 array
        How many rows have each of them.
    rows : int
        All rows of the table.
    written : Arrow array of strings, each once
        The same strings as they are written.
    """

    name: str
    distinct: Any
    counts: np.ndarray
    rows: int
    written: Any

    @classmethod
    def once(cls, name: str, distinct: Any) -> Words:
        """Take strings as they are, each for one row."""
        return cls(name, distinct, np.ones(len(distinct), dtype=np.int64), 1, distinct)

    def __len__(self) -> int:
        return len(self.distinct)

    @property
    def count(self) -> int:
        """Rows that have a cell."""
        return int(self.counts.sum())

    def where(self, keep: np.ndarray) -> Words:
        """Return some of the words."""
        if keep.all():
            return self
        mask = pa.array(keep)
        distinct, texts = self.distinct.filter(mask), self.written.filter(mask)
        return replace(self, distinct=distinct, counts=self.counts[keep], written=texts)

    def counted(self) -> dict[str, int]:
        """Return the strings as they are written, and how many rows have each."""
        return dict(zip(self.written.to_pylist(), self.counts.tolist(), strict=True))
