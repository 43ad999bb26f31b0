"""Learning from rows in files, part by part: what columns hold, and which numbers they have.

The facts of a part are small. Those of several parts, merged in the order of the parts, are those
of the whole, so parts may be read by this process (``Learner``) or by others
(``lookalike.index.dask``), with the same outcome. ``ColumnFacts.raw`` turns them into cells that each
stand for many (``Raw.times``), from which the kind is guessed by the same rules as from all cells.

Exact up to a bound: distinct words, and distinct integers of columns named like codes, are kept up
to ``MAX_WORDS`` and ``MAX_NUMBERS``. Past it nothing more is learned about which there are, and
their number is taken to grow as it did.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike._runtime.progress import Progress
from lookalike.errors import InPython, InvalidInput, Param, Phrase
from lookalike.table.formats.files import arrow_to_raw
from lookalike.table.formats.parquet import BATCH, ParquetParts
from lookalike.table.formats.raw import Raw, is_number, neutralise, to_numpy
from lookalike.table.formats.sources import name_unnamed
from lookalike.table.infer.lists import ListFacts, list_facts
from lookalike.table.infer.roles import is_key_name, says_date
from lookalike.table.infer.thresholds import MAX_CELLS_TO_COUNT_DISTINCT, MAX_EXACT_INTEGER
from lookalike.table.model.kind import Kind
from lookalike.table.model.tally import Tally

if TYPE_CHECKING:
    from lookalike.table.formats.lazy import LazyTable

# Distinct values that are kept: some hundred megabytes of strings or of integers.
MAX_WORDS = 2**22
MAX_NUMBERS = 2**24
MAX_PLAIN_INTEGERS = 2**20  # of a column with an ordinary name
MIN_TO_MERGE = 2**14  # distinct strings that come before parts are put together
ENDS = 4  # smallest and largest numbers that are kept whatever else is: sentinels lie there
SHOWN = 64  # cells of lists that are kept to be read
LEVELLED = ("category", "order")  # kinds whose every value becomes a level


class ColumnFacts(ABC):
    """What is known about a column; the cells of one more part are added in their order."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        self.name, self.type, self.all_values = name, kind, all_values
        self.rows = self.n_missing = 0
        self.lists: ListFacts | None = None  # what decides about a column of lists

    def add(self, raw: Raw) -> None:
        """Count the cells of one more part, in their neutral form."""
        here = raw.present()
        self.rows += len(raw)
        self.n_missing += len(raw) - int(here.sum())
        if here.any():
            self._count(raw, here)

    def merge(self, other: Any) -> None:
        """Count what another has counted in a part that comes after all of this one's."""
        self.rows += other.rows
        self.n_missing += other.n_missing
        self._merge(other)

    @abstractmethod
    def _count(self, raw: Raw, here: np.ndarray) -> None: ...

    @abstractmethod
    def _merge(self, other: Any) -> None: ...

    @abstractmethod
    def raw(self) -> Raw:
        """Return cells that stand for all."""

    def _standing(self, cells: Any, times: np.ndarray, distinct: int | None = None) -> Raw:
        """Return cells that stand for so many rows each, and one for the missing cells."""
        if self.n_missing or not len(cells):
            cells = pa.concat_arrays([cells, pa.nulls(1, self.type)])
            times = np.append(times, self.n_missing)
        return Raw(self.name, cells, times=times, distinct=distinct)

    def _too_many(self, most: int) -> InvalidInput:
        hint = "Give it another kind, such as 'text', 'number' or 'aside'"
        needed = f"at most {most:,} levels in the column {self.name!r}"
        return InvalidInput(Param("lazy", True, of="read_table"), needed, "more", hint)


class _Words(ColumnFacts):
    """Text: every distinct string, in the order of their coming, and how many rows have it."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        super().__init__(name, kind, all_values)
        self.declared = ""
        self.words: list[Any] = []
        self.counts: list[np.ndarray] = []
        self.held = self.settled = 0
        self.full: tuple[int, int] | None = None  # distinct strings, and rows they were counted in

    def _count(self, raw: Raw, here: np.ndarray) -> None:
        self.declared = raw.declared
        codes = raw.codes
        self._take(raw.words, np.bincount(codes[codes >= 0], minlength=len(raw.words)))

    def _take(self, words: Any, counts: np.ndarray) -> None:
        if self.full is not None:
            return
        self.words.append(words)
        self.counts.append(counts)
        self.held += len(words)
        # Merged when they have doubled: every string is merged a few times, not once per part.
        if self.held > 2 * max(self.settled, MIN_TO_MERGE):
            self._settle()

    def _merge(self, other: _Words) -> None:
        self.declared = self.declared or other.declared
        other._settle()
        for words, counts in zip(other.words, other.counts, strict=True):
            self._take(words, counts)
        if other.full is not None and self.full is None:
            self._settle()
            self.full = (self.settled, int(sum(c.sum() for c in self.counts)))

    def _settle(self) -> None:
        """Put the parts together, each string once."""
        if len(self.words) > 1:
            every = pa.chunked_array(self.words).dictionary_encode().combine_chunks()
            counts = np.zeros(len(every.dictionary), np.int64)
            np.add.at(counts, to_numpy(every.indices), np.concatenate(self.counts))
            self.words, self.counts = [every.dictionary], [counts]
        self.settled = self.held = sum(map(len, self.words))
        if self.settled > MAX_WORDS and not self.declared:
            if self.all_values:
                raise self._too_many(MAX_WORDS)
            self.full = (self.settled, int(self.counts[0].sum()))

    def raw(self) -> Raw:
        self._settle()
        words = self.words[0] if self.words else pa.array([], pa.large_string())
        counts = self.counts[0] if self.counts else np.empty(0, np.int64)
        if self.full is not None:
            # What was counted stands for all rows: the strings keep their shares.
            share = (self.rows - self.n_missing) / max(1, self.full[1])
            counts = np.maximum(np.round(counts * share).astype(np.int64), counts)
            counts[0] += self.rows - self.n_missing - counts.sum()
        codes, times = np.arange(len(words)), counts
        if self.n_missing:
            codes, times = np.append(codes, -1), np.append(counts, self.n_missing)
        cells = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words)
        return Raw(self.name, cells, self.declared, times)


class _Numbers(ColumnFacts):
    """Numbers: both ends with their counts, and the distinct values where they may matter."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        super().__init__(name, kind, all_values)
        self.whole = pa.types.is_integer(kind)
        self.named = is_key_name(name) or says_date(name)
        self.distinct = _Distinct()
        self.ends: tuple[np.ndarray, np.ndarray] = (np.empty(0), np.empty(0, np.int64))
        self.broken: Any = None  # a number that is not whole
        self.kept: tuple[int, int] | None = None  # distinct values, and rows, when they were let go

    def _count(self, raw: Raw, here: np.ndarray) -> None:
        values = to_numpy(raw.cells.filter(pa.array(here)))
        self._take(*np.unique(values, return_counts=True))

    def _take(self, values: np.ndarray, counts: np.ndarray) -> None:
        """Count distinct values, ascending, and how many rows have each."""
        self.ends = _join_ends(self.ends, (values, counts))
        if self.broken is None and not self.whole:
            # One fraction is enough to know that the column is no column of codes.
            odd = np.flatnonzero(values != np.floor(values))
            self.broken = values[odd[0]] if len(odd) else None
        if self.kept is None:
            self.distinct.add(values)
            if self.distinct.size > self._most():
                self.distinct.settle()
                if self.distinct.size > self._most():
                    if self.all_values:
                        raise self._too_many(MAX_NUMBERS)
                    self.kept = (self.distinct.size, self.rows - self.n_missing)
                    self.distinct = _Distinct()

    def _most(self) -> int:
        if self.named or self.all_values:
            return MAX_NUMBERS
        if not self.whole:
            return MAX_CELLS_TO_COUNT_DISTINCT
        values = self.ends[0]
        large = len(values) and np.abs(values[[0, -1]]).max() > MAX_EXACT_INTEGER
        return MAX_NUMBERS if large else MAX_PLAIN_INTEGERS

    def _merge(self, other: _Numbers) -> None:
        self.ends = _join_ends(self.ends, other.ends)
        self.broken = other.broken if self.broken is None else self.broken
        # Which values the other part let go is lost, so those of this part say nothing about all.
        if self.kept is None and other.kept is not None:
            self.kept, self.distinct = other.kept, _Distinct()
        elif self.kept is None:
            self.distinct.add(other.distinct.values())

    def raw(self) -> Raw:
        count = self.rows - self.n_missing
        values, counts = self.ends
        distinct: int | None = None
        if self.kept is None:
            every = self.distinct.values()
        else:
            every = values if self.broken is None else np.append(values, self.broken)
            every = np.unique(every)
            distinct = round(count * self.kept[0] / max(1, self.kept[1]))
        times = np.zeros(len(every), np.int64)
        times[np.searchsorted(every, values)] = counts
        rest = np.flatnonzero(times == 0)
        times[rest] = 1
        if len(every):
            at = rest[0] if len(rest) else len(every) // 2
            times[at] += count - times.sum()  # which of those between has them says nothing
        return self._standing(pa.array(every, self.type), times, distinct)


class _Distinct:
    """Distinct numbers, put together when those that came since are as many."""

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []
        self.size = self.settled = 0

    def add(self, values: np.ndarray) -> None:
        self.parts.append(values)
        self.size += len(values)
        if self.size > 2 * max(self.settled, 2**16):
            self.settle()

    def settle(self) -> None:
        if len(self.parts) > 1:
            self.parts = [np.unique(np.concatenate(self.parts))]
        self.size = self.settled = sum(map(len, self.parts))

    def values(self) -> np.ndarray:
        self.settle()
        return self.parts[0] if self.parts else np.empty(0)


class _Ticks(ColumnFacts):
    """Dates, times and durations: when the first and the last are."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        super().__init__(name, kind, all_values)
        self.storage = pa.int32() if kind.bit_width == 32 else pa.int64()
        self.ticks = np.empty(0, np.int64)  # both ends, or every distinct one

    def _count(self, raw: Raw, here: np.ndarray) -> None:
        cells = raw.cells.drop_null().cast(self.storage).cast(pa.int64())
        self._take(to_numpy(cells))

    def _take(self, ticks: np.ndarray) -> None:
        self.ticks = np.unique(np.concatenate([self.ticks, ticks]))
        if self.all_values and len(self.ticks) > MAX_NUMBERS:
            raise self._too_many(MAX_NUMBERS)
        if not self.all_values and len(self.ticks) > 2:
            self.ticks = self.ticks[[0, -1]]

    def _merge(self, other: _Ticks) -> None:
        self._take(other.ticks)

    def raw(self) -> Raw:
        times = np.ones(len(self.ticks), np.int64)
        times[:1] += self.rows - self.n_missing - len(times)
        return self._standing(pa.array(self.ticks).cast(self.storage).cast(self.type), times)


class _Truths(ColumnFacts):
    """True or false: how many of each, in the order of their coming."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        super().__init__(name, kind, all_values)
        self.counts: Counter[bool] = Counter()

    def _count(self, raw: Raw, here: np.ndarray) -> None:
        for entry in raw.cells.drop_null().value_counts().to_pylist():
            self.counts[entry["values"]] += entry["counts"]

    def _merge(self, other: _Truths) -> None:
        self.counts.update(other.counts)

    def raw(self) -> Raw:
        times = np.array(list(self.counts.values()), np.int64)
        return self._standing(pa.array(list(self.counts), pa.bool_()), times)


class _Others(ColumnFacts):
    """Cells of which the type decides alone; some are kept to be read."""

    shown = 1
    some: Any = None

    def _count(self, raw: Raw, here: np.ndarray) -> None:
        self._keep(raw.cells.drop_null()[: self.shown])

    def _merge(self, other: _Others) -> None:
        self._keep(other.some)

    def _keep(self, cells: Any) -> None:
        if self.some is None:
            self.some = cells
        elif cells is not None and len(self.some) < self.shown:
            self.some = pa.concat_arrays([self.some, cells])

    def raw(self) -> Raw:
        cells = pa.nulls(1, self.type) if self.some is None else self.some
        times = np.ones(len(cells), np.int64)
        times[0] += self.rows - len(cells)
        return Raw(self.name, cells, times=times)


class _Lists(_Others):
    """Lists: also what decides about all of them (``ListFacts``)."""

    shown = SHOWN

    def _count(self, raw: Raw, here: np.ndarray) -> None:
        super()._count(raw, here)
        self._know(list_facts(raw.cells))

    def _merge(self, other: _Others) -> None:
        super()._merge(other)
        self._know(other.lists)

    def _know(self, lists: ListFacts | None) -> None:
        if lists is not None:
            self.lists = lists if self.lists is None else self.lists.merge(lists)


def facts_of(raw: Raw, all_values: bool = False) -> ColumnFacts:
    """Return what can count a column of this type; nothing is counted yet.

    Parameters
    ----------
    raw : Raw, some cells of the column
    all_values : bool
        Keep every distinct value, since they become levels.
    """
    name, kind = raw.name, raw.type
    if not raw.is_arrow:
        raise _in_memory_only(
            "columns to be read in parts",
            f"{name!r}, whose cells Arrow has no single type for",
            ("Read the table in memory", _READ, ", or leave the column out of the files"),
        )
    if pa.types.is_dictionary(kind) and not pa.types.is_large_string(kind.value_type):
        raise _in_memory_only(
            "categories of text",
            f"{name!r}, categories of type {kind.value_type}",
            ("Write them as text, or read the table in memory", _READ),
        )
    return _counter(kind)(name, kind, all_values)


_READ = InPython(": read_table(path)")


def _in_memory_only(needed: str, found: str, hint: tuple[str | InPython, ...]) -> InvalidInput:
    return InvalidInput(Param("lazy", True, of="read_table"), needed, found, Phrase(*hint))


def _counter(kind: Any) -> type[ColumnFacts]:
    if pa.types.is_dictionary(kind):
        return _Words
    if pa.types.is_boolean(kind):
        return _Truths
    if pa.types.is_temporal(kind):
        return _Ticks
    if is_number(kind):
        return _Numbers
    return _Lists if pa.types.is_nested(kind) and not pa.types.is_struct(kind) else _Others


def _join_ends(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest of distinct values, with how many rows have each.

    Both must come with the counts of all rows up to now, so that the sums of those that stay are
    sums over all rows: a value at an end stays counted while it is one.
    """
    values, counts = _ends(*other)
    if not len(one[0]):
        return values, counts
    every, place = np.unique(np.concatenate([one[0], values]), return_inverse=True)
    total = np.zeros(len(every), np.int64)
    np.add.at(total, place, np.concatenate([one[1], counts]))
    return _ends(every, total)


def _ends(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(values) <= 2 * ENDS:
        return values, counts
    at = np.r_[:ENDS, len(values) - ENDS : len(values)]
    return values[at], counts[at]


# -- reading the parts -----------------------------------------------------------------------------


class Learner:
    """Who reads rows to learn from them: this process, one part after another."""

    def facts(
        self, parts: ParquetParts, chosen: Mapping[str, Kind | None], tokens: tuple[Any, ...]
    ) -> dict[str, ColumnFacts]:
        """Count what decides about the columns, in all rows; see ``learn_facts``."""
        return learn_facts(parts, chosen, tokens)

    def tally(self, table: LazyTable, name: str) -> Tally:
        """Count the distinct values of a column of numbers or codes."""
        return Tally.of(np.asarray(part.values, np.float64) for part in table.column(name))


def learn_facts(
    parts: ParquetParts,
    chosen: Mapping[str, Kind | None],
    tokens: tuple[Any, ...],
    start: int = 0,
    stop: int | None = None,
) -> dict[str, ColumnFacts]:
    """Count what decides about the columns, in some of the rows; such facts merge.

    Parameters
    ----------
    parts : ParquetParts
    chosen : mapping of column to the kind that the caller said
    tokens : values that are read as missing
    start, stop : int
        Which rows; all of them by default.
    """
    found: dict[str, ColumnFacts] = {}
    stop = len(parts) if stop is None else stop
    progress = Progress("reading columns", -(-(stop - start) // BATCH))
    for rows in parts.batches(start, stop):
        for raw in neutral_columns(rows, tokens):
            if raw.name not in found:
                kind = chosen.get(raw.name)
                levelled = kind is not None and kind.name in LEVELLED and not kind.levels
                found[raw.name] = facts_of(raw, levelled)
            found[raw.name].add(raw)
        progress.advance()
    return found


def neutral_columns(rows: Any, tokens: Sequence[Any]) -> list[Raw]:
    """Return the columns of an Arrow table as ``read_table`` looks at them."""
    return [neutralise(raw).without(tokens) for raw in name_unnamed(arrow_to_raw(rows))]
