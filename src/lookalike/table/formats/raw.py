"""Columns as they arrive: Arrow arrays where the cells are regular, object arrays where not.

Everything that reads a file or a frame ends here; everything that decides about kinds starts here.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InPython, InvalidInput, Phrase

# Arrow would flatten these (a set into a list, a dict into a record with all keys of the column).
_KEEP = (set, frozenset, dict, bytes)
# Arrow follows these without end.
_NESTED = (list, tuple, dict)
DEEPEST = 64  # lists within lists
_SPANS = ("Interval", "Period")
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
        How many rows have each of the cells, where every cell stands for several (``facts.py``);
        None: one each.
    distinct : int, optional
        How many different cells there are, where they are too many to be all here.
    """

    name: str
    cells: Any
    declared: str = ""
    times: np.ndarray | None = None
    distinct: int | None = None

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def rows(self) -> int:
        """How many rows the cells stand for."""
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
        """The distinct strings of a text column."""
        return self.cells.dictionary

    @property
    def codes(self) -> np.ndarray:
        """For each row the place of its string in ``words``, -1 where missing."""
        indices = self.cells.indices
        if indices.null_count:
            indices = pc.fill_null(indices.cast(pa.int64()), -1)
        return np.asarray(indices.to_numpy(zero_copy_only=False))

    def present(self) -> np.ndarray:
        """Where there is a cell, as a boolean array."""
        if not self.is_arrow:
            return np.fromiter((c is not None for c in self.cells), bool, len(self))
        gap = pc.is_null(self.cells, nan_is_null=pa.types.is_floating(self.type))
        return ~gap.to_numpy(zero_copy_only=False)

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
            cells = [None if _scalar(c) and written(c) in words else c for c in self.cells]
            return of_values(self.name, cells)
        kind = self.type
        if pa.types.is_dictionary(kind):
            return self._without_levels(words)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            numbers = [number for number in map(as_number, words) if number is not None]
            found = np.isin(self.cells.to_numpy(zero_copy_only=False), numbers)
            hit = pa.array(found)
        else:
            return self
        if not pc.any(hit).as_py():
            return self
        cells = pc.if_else(hit, pa.scalar(None, kind), self.cells)
        return replace(self, cells=cells)

    def _without_levels(self, words: set[str]) -> Raw:
        levels = self.cells.dictionary
        if pa.types.is_large_string(levels.type):
            tokens = pa.array(sorted(words), pa.large_string())
            gone = pc.is_in(levels, value_set=tokens)
            if self.is_text:  # " ?" is a "?" too
                bare = pc.utf8_trim_whitespace(levels)
                gone = pc.or_(gone, pc.is_in(bare, value_set=tokens))
            keep = ~gone.to_numpy(zero_copy_only=False)
        else:
            keep = np.array([written(level) not in words for level in levels.to_pylist()], bool)
        return self if keep.all() else self.with_words(keep)

    def with_words(self, keep: np.ndarray) -> Raw:
        """Return the column with some of its distinct cells; rows with others are missing.

        Parameters
        ----------
        keep : boolean array, one entry per cell of the dictionary
        """
        kept = np.flatnonzero(keep)
        to = np.full(len(keep) + 1, -1, dtype=np.int64)
        to[kept] = np.arange(len(kept))
        codes = to[self.codes]
        cells = pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), self.cells.dictionary.take(pa.array(kept))
        )
        return replace(self, cells=cells)


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


def of_arrow(name: str, cells: Any, *, declared: str | None = None) -> Raw:
    """Take an Arrow array or chunked array, and reduce the many Arrow types to a few."""
    if isinstance(cells, pa.ChunkedArray):
        if _is_string(cells.type) and cells.num_chunks:
            return Raw(name, _distinct(cells.dictionary_encode().combine_chunks()))
        if pa.types.is_dictionary(cells.type):
            cells = cells.unify_dictionaries()
        cells = cells.combine_chunks()
        if isinstance(cells, pa.ChunkedArray):
            cells = pa.concat_arrays(cells.chunks) if cells.num_chunks else pa.array([], cells.type)
    kind = cells.type
    if isinstance(kind, pa.BaseExtensionType):
        return of_arrow(name, cells.storage)
    if pa.types.is_run_end_encoded(kind):
        return of_arrow(name, pc.run_end_decode(cells))
    if pa.types.is_dictionary(kind):
        if cells.dictionary.null_count or not _plain(cells.dictionary.type):
            return of_arrow(name, cells.dictionary_decode())
        levels = of_arrow(name, cells.dictionary)
        if levels.is_text:  # strings: each once, so the levels keep their order
            levels = replace(levels, cells=levels.cells.dictionary_decode())
        cells = pa.DictionaryArray.from_arrays(cells.indices, levels.cells)
        return Raw(name, cells, declared or ("order" if kind.ordered else "category"))
    if str(kind) == "string_view":
        cells, kind = cells.cast(pa.large_string()), pa.large_string()
    if _is_string(kind):
        return Raw(name, _distinct(cells.dictionary_encode()))
    if pa.types.is_decimal(kind):
        cells = cells.cast(pa.float64())
    elif pa.types.is_float16(kind):
        cells = cells.cast(pa.float32())
    elif pa.types.is_interval(kind):
        return _intervals(name, cells.to_pylist())
    elif pa.types.is_union(kind):
        return Raw(name, objects(cells.to_pylist()))
    elif pa.types.is_map(kind):
        return Raw(name, objects([None if c is None else dict(c) for c in cells.to_pylist()]))
    elif str(kind).startswith(("list_view", "large_list_view")):
        cells = cells.cast(pa.large_list(kind.value_type))
    return Raw(name, cells)


def of_values(name: str, values: Iterable[Any]) -> Raw:
    """Take Python values."""
    values = list(values)
    types = set(map(type, values))
    if any(issubclass(kind, _NESTED) for kind in types):
        _check_depth(name, values)
    if any(issubclass(kind, complex | np.complexfloating) for kind in types):
        raise complex_error(f"Column {name!r}")
    if any(kind.__name__ in _SPANS for kind in types):  # pandas, known by name, never imported
        values = [str(v) if type(v).__name__ in _SPANS else v for v in values]
        types = set(map(type, values))
    if any(issubclass(kind, dt.datetime) for kind in types) and dt.date in types:
        # Arrow would cut the hours off when the first value is a plain date.
        values = [dt.datetime(v.year, v.month, v.day) if type(v) is dt.date else v for v in values]
    if not any(issubclass(kind, _KEEP) for kind in types):
        try:
            return of_arrow(name, pa.array(values, from_pandas=True))
        except (pa.ArrowException, OverflowError, TypeError, ValueError, AttributeError):
            pass  # cells of mixed types
    cells = objects(values)
    scalar = [kind for kind in types if not issubclass(kind, type(None))]
    if all(issubclass(kind, str) for kind in scalar):  # lone surrogates, which Arrow does not take
        return Raw(name, cells)
    if any(_has_words(kind) for kind in scalar) and all(issubclass(k, _SCALARS) for k in scalar):
        # 1, "n/a", 2.5: what a file would say, so that every door leads to the same table.
        return of_values(name, [None if cell is None else written(cell) for cell in cells])
    if scalar and all(issubclass(kind, int) for kind in scalar):  # beyond 64 bits
        return of_values(name, [None if cell is None else str(int(cell)) for cell in cells])
    return Raw(name, cells)


def _check_depth(name: str, values: list[Any]) -> None:
    """Refuse cells that hold lists in lists without end, such as a list that holds itself."""
    if not _is_deep(values):
        return
    row = next(row for row, cell in enumerate(values) if _is_deep([cell]))
    raise InvalidInput(
        f"Column {name!r}, row {row}",
        f"cells of at most {DEEPEST} lists within lists",
        "more, or a list that holds itself",
        "Take the cell apart, or leave it missing",
    )


def _is_deep(values: list[Any]) -> bool:
    lists = _lists_among(values)
    for _ in range(DEEPEST):
        if not lists:
            return False
        kinds = set().union(*(map(type, one) for one in lists))
        if not any(issubclass(kind, _NESTED) for kind in kinds):
            return False
        lists = _lists_among(value for one in lists for value in one)
    return bool(lists)


def _lists_among(values: Iterable[Any]) -> list[Iterable[Any]]:
    """Return the values that hold others, each of them once."""
    held = {id(v): v for v in values if isinstance(v, _NESTED)}.values()
    return [v.values() if isinstance(v, dict) else v for v in held]


def _is_string(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _distinct(cells: Any) -> Any:
    """Return a dictionary array with its strings as large_string."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.chunk(0) if cells.num_chunks == 1 else pa.concat_arrays(cells.chunks)
    if pa.types.is_large_string(cells.type.value_type):
        return cells
    words = cells.dictionary.cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(cells.indices, words)


def _has_words(kind: type) -> bool:
    return issubclass(kind, str) or issubclass(kind, dt.date | dt.time)


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
    if values.dtype.kind == "c":
        raise complex_error(f"Column {name!r}")
    if values.dtype.kind == "O":
        return of_values(name, values.tolist())
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    if values.dtype.kind == "U":
        return of_values(name, values.tolist())
    if values.dtype.kind in "Mm" and np.datetime_data(values.dtype)[0] not in (
        "s",
        "ms",
        "us",
        "ns",
    ):
        values = values.astype(f"{values.dtype.kind}8[s]")
    if values.dtype == np.longdouble:
        values = values.astype(np.float64)
    return of_arrow(name, pa.array(np.ascontiguousarray(values), from_pandas=True))


def complex_error(who: str) -> InvalidInput:
    """Say that complex numbers have no order and no place on a line."""
    found = Phrase("complex ones", InPython(" (Complex data not supported)"))
    hint = "Give the real and the imaginary parts as two columns"
    return InvalidInput(who, "real numbers", found, hint)


def _intervals(name: str, cells: list[Any]) -> Raw:
    """Take calendar intervals as durations, unless months are among them: they differ in length."""
    if any(cell is not None and cell.months for cell in cells):
        return Raw(name, objects(cells))
    spans = [
        cell and dt.timedelta(days=cell.days, microseconds=cell.nanoseconds / 1000)
        for cell in cells
    ]
    return Raw(name, pa.array(spans, pa.duration("us")))


def as_number(word: str) -> float | None:
    """Return the number that a word is, None where it is none."""
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def objects(values: list[Any]) -> np.ndarray:
    """Return an object array of the values, None where one is missing."""
    # numpy would turn a list of equal-length lists into a matrix, so it is filled one by one.
    cells = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        cells[row] = None if is_missing(value) else value
    return cells


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | np.generic | decimal.Decimal)


def _plain(kind: Any) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_dictionary(kind))


def wrong(
    raw: Raw, rows: Any, value: Any, needed: str, hint: str, error: type[Exception] = InvalidInput
) -> Exception:
    """Describe cells that do not fit: how many, the first, its row."""
    rows = np.atleast_1d(rows)
    value = value.item() if isinstance(value, np.generic) else value
    found = (
        f"{len(rows):,} of {len(raw):,} cells that are not (first: {value!r:.60}, row {rows[0]})"
    )
    return error(f"Column {raw.name!r}", needed, found, hint)
