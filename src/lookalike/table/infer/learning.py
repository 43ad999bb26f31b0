"""Learning from rows in files, part by part: what columns hold, and which numbers they have.

The facts of a part are small. Those of several parts, merged in the order of the parts, are those
of the whole, so parts may be read by this process (``Learner``) or by others
(``lookalike.index.dask``), with the same outcome. ``ColumnFacts.raw`` turns them into a few cells
with the number of rows that have each (``Raw.times``), from which the kind is guessed by the same
rules as from all cells.

Exact up to a bound: distinct words, and distinct integers of columns named like codes, are kept up
to ``MAX_WORDS`` and ``MAX_NUMBERS``. Past it nothing more is learned about which there are, and
their number is taken to grow as it did.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike._runtime.progress import Progress
from lookalike.errors import InPython, InvalidInput, Phrase
from lookalike.table.formats import arrow
from lookalike.table.formats.files import arrow_to_raw
from lookalike.table.formats.parquet import BATCH_ROWS, WHO, ParquetParts
from lookalike.table.formats.raw import Raw
from lookalike.table.formats.sources import name_unnamed
from lookalike.table.infer.lists import ListFacts, list_facts
from lookalike.table.infer.roles import is_key_name, says_date
from lookalike.table.infer.thresholds import MAX_CELLS_TO_COUNT_DISTINCT, MAX_EXACT_INTEGER
from lookalike.table.model.kind import Kind
from lookalike.table.model.tally import Tally

if TYPE_CHECKING:
    from lookalike.table.formats.lazy import LazyTable

# Distinct values that are kept: some hundred megabytes of strings or of integers. Chosen by hand,
# as are the bounds below.
MAX_WORDS = 2**22
MAX_NUMBERS = 2**24
# The same for integers of a column with an ordinary name, which are never codes.
MAX_PLAIN_INTEGERS = 2**20
# Distinct strings that must come before parts are put together.
MIN_WORDS_TO_MERGE = 2**14
# Smallest and largest numbers that are kept whatever else is: sentinels lie there.
N_END_VALUES = 4
# Cells of lists that are kept to be read.
MAX_SAMPLE_LISTS = 64
# Kinds whose every value becomes a level.
LEVELLED = ("category", "order")


class ColumnFacts(ABC):
    """What is known about a column; the cells of one more part are added in their order."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        self.name, self.type, self.all_values = name, kind, all_values
        self.rows = self.n_missing = 0
        # What decides about a column of lists.
        self.lists: ListFacts | None = None

    @property
    def count(self) -> int:
        """How many rows have a cell."""
        return self.rows - self.n_missing

    def add(self, raw: Raw) -> None:
        """Count the cells of one more part, in their neutral form."""
        present = raw.present()
        self.rows += len(raw)
        self.n_missing += len(raw) - int(present.sum())
        if present.any():
            self._count(raw, present)

    def merge(self, other: Any) -> None:
        """Count what another has counted in a part that comes after all of this one's."""
        self.rows += other.rows
        self.n_missing += other.n_missing
        self._merge(other)

    @abstractmethod
    def _count(self, raw: Raw, present: np.ndarray) -> None: ...

    @abstractmethod
    def _merge(self, other: Any) -> None: ...

    @abstractmethod
    def raw(self) -> Raw:
        """Return a few cells, each with the number of rows that have it."""

    def _too_many(self, limit: int) -> InvalidInput:
        hint = "Give it another kind, such as 'text', 'number' or 'aside'"
        needed = f"at most {limit:,} levels in the column {self.name!r}"
        return InvalidInput(WHO, needed, "more", hint)


class _Words(ColumnFacts):
    """Text: every distinct string, in the order of their coming, and how many rows have it."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        super().__init__(name, kind, all_values)
        self.declared, self.typed = "", False
        self.words: list[Any] = []
        self.counts: list[np.ndarray] = []
        self.held = self.settled = 0
        # Distinct strings, and rows they were counted in, once there are too many of them.
        self.full: tuple[int, int] | None = None

    def _count(self, raw: Raw, present: np.ndarray) -> None:
        self.declared, self.typed = raw.declared, raw.typed
        codes = raw.codes
        self._take(raw.words, np.bincount(codes[codes >= 0], minlength=len(raw.words)))

    def _take(self, words: Any, counts: np.ndarray) -> None:
        if self.full is not None:
            return
        self.words.append(words)
        self.counts.append(counts)
        self.held += len(words)
        # Merged when they have doubled: every string is merged a few times, not once per part.
        if self.held > 2 * max(self.settled, MIN_WORDS_TO_MERGE):
            self._settle()

    def _merge(self, other: _Words) -> None:
        self.declared = self.declared or other.declared
        self.typed = self.typed or other.typed
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
            np.add.at(counts, arrow.to_numpy(every.indices), np.concatenate(self.counts))
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
            # The strings that were counted represent all rows: they keep their shares.
            share = self.count / max(1, self.full[1])
            counts = np.maximum(np.round(counts * share).astype(np.int64), counts)
            counts[0] += self.count - counts.sum()
        codes, times = np.arange(len(words)), counts
        if self.n_missing:
            codes, times = np.append(codes, -1), np.append(counts, self.n_missing)
        cells = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words)
        return Raw(self.name, cells, self.declared, times, typed=self.typed)


class _Numbers(ColumnFacts):
    """The distinct numbers with their counts; past a bound those at both ends.

    Of dates, times and durations the first and the last are enough: they are numbers too.
    """

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        super().__init__(name, kind, all_values)
        ticks = pa.int32() if kind.bit_width == 32 else pa.int64()
        self.storage = kind if arrow.is_number(kind) else ticks
        self.whole = not pa.types.is_floating(kind)
        self.n_ends = N_END_VALUES if arrow.is_number(kind) else 1
        self.tally = Tally()
        # Whether some integer is not a float.
        self.is_large = False
        # A number that is not an integer.
        self.fraction: Any = None
        # Distinct values, and rows, when those between the ends were dropped.
        self.dropped: tuple[int, int] | None = None

    def _count(self, raw: Raw, present: np.ndarray) -> None:
        present_cells = raw.cells.filter(pa.array(present)).cast(self.storage)
        self._take(*np.unique(arrow.to_numpy(present_cells), return_counts=True))

    def _take(self, values: np.ndarray, counts: np.ndarray) -> None:
        """Count distinct values, ascending, and how many rows have each."""
        if not len(values):
            return
        self.is_large |= bool(np.abs(values[[0, -1]]).max() > MAX_EXACT_INTEGER)
        if self.fraction is None and not self.whole:
            # One fraction is enough to know that these are not codes.
            fractions = values[values != np.floor(values)]
            self.fraction = fractions[0] if len(fractions) else None
        self.tally.add_counts(values, counts)
        if self.dropped is None and self.tally.held > self._limit():
            size = len(self.tally.values)
            if size > self._limit():
                if self.all_values:
                    raise self._too_many(MAX_NUMBERS)
                self.dropped = (size, self.count)
        if self.dropped is not None:
            self._drop()

    def _drop(self) -> None:
        """Keep the numbers at both ends alone.

        Their counts are those of all rows: a value that is at an end of all of them is at an end
        of every part, so it was never dropped before.
        """
        values, counts = self.tally.values, self.tally.counts
        if len(values) > 2 * self.n_ends:
            ends = np.r_[: self.n_ends, len(values) - self.n_ends : len(values)]
            self.tally = Tally()
            self.tally.add_counts(values[ends], counts[ends])

    def _limit(self) -> int:
        if not arrow.is_number(self.type):
            return MAX_NUMBERS if self.all_values else 2
        if self.all_values or is_key_name(self.name) or says_date(self.name):
            return MAX_NUMBERS
        if not self.whole:
            return MAX_CELLS_TO_COUNT_DISTINCT
        return MAX_NUMBERS if self.is_large else MAX_PLAIN_INTEGERS

    def _merge(self, other: _Numbers) -> None:
        self.fraction = other.fraction if self.fraction is None else self.fraction
        # Which values the other part dropped is lost, so those of this part say nothing about all.
        self.dropped = self.dropped or other.dropped
        self._take(other.tally.values, other.tally.counts)

    def raw(self) -> Raw:
        values, counts, distinct = self.tally.values, self.tally.counts, None
        if self.dropped is not None and len(values):
            # Which of the values between the ends has the other rows changes nothing in the guess.
            between, rest = len(values) // 2, self.count - counts.sum()
            if self.fraction is not None and self.fraction not in values:
                between = int(np.searchsorted(values, self.fraction))
                values = np.insert(values, between, self.fraction)
                counts = np.insert(counts, between, 0)
            counts = counts + rest * (np.arange(len(values)) == between)
            distinct = round(self.count * self.dropped[0] / max(1, self.dropped[1]))
        cells = pa.array(values, self.storage).cast(self.type)
        if self.n_missing or not len(cells):
            # One more for the missing cells.
            cells = pa.concat_arrays([cells, pa.nulls(1, self.type)])
            counts = np.append(counts, self.n_missing)
        return Raw(self.name, cells, times=counts, distinct=distinct)


class _Others(ColumnFacts):
    """Cells of which the type decides alone, or the facts of lists; a few are kept to be read."""

    some: Any = None

    def _count(self, raw: Raw, present: np.ndarray) -> None:
        lists = list_facts(raw.cells) if arrow.is_list(self.type) else None
        self._keep(raw.cells.drop_null(), lists)

    def _merge(self, other: _Others) -> None:
        self._keep(other.some, other.lists)

    def _keep(self, cells: Any, lists: ListFacts | None) -> None:
        if lists is not None:
            self.lists = lists if self.lists is None else self.lists.merge(lists)
        shown = MAX_SAMPLE_LISTS if arrow.is_list(self.type) else 1
        if self.some is None:
            self.some = cells if cells is None else cells[:shown]
        elif cells is not None and len(self.some) < shown:
            self.some = pa.concat_arrays([self.some, cells[:shown]])

    def raw(self) -> Raw:
        cells = pa.nulls(1, self.type) if self.some is None else self.some
        times = np.ones(len(cells), np.int64)
        times[0] += self.rows - len(cells)
        return Raw(self.name, cells, times=times)


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
        found = f"{name!r}, whose cells Arrow has no single type for"
        hint = Phrase("Read the table in memory", _READ, ", or leave the column out of the files")
        raise InvalidInput(WHO, "columns to be read in parts", found, hint)
    if pa.types.is_dictionary(kind):
        if not pa.types.is_large_string(kind.value_type):
            found = f"{name!r}, categories of type {kind.value_type}"
            hint = Phrase("Write them as text, or read the table in memory", _READ)
            raise InvalidInput(WHO, "categories of text", found, hint)
        return _Words(name, kind, all_values)
    counted = _Numbers if arrow.is_numeric(kind) or pa.types.is_temporal(kind) else _Others
    return counted(name, kind, all_values)


_READ = InPython(": read_table(path)")


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
    progress = Progress("reading columns", -(-(stop - start) // BATCH_ROWS))
    for rows in parts.batches(start, stop):
        for raw in (one.neutral() for one in columns_of(rows, tokens)):
            if raw.name not in found:
                kind = chosen.get(raw.name)
                levelled = kind is not None and kind.name in LEVELLED and not kind.levels
                found[raw.name] = facts_of(raw, levelled)
            found[raw.name].add(raw)
        progress.advance()
    return found


def columns_of(rows: Any, tokens: Sequence[Any]) -> list[Raw]:
    """Return the columns of an Arrow table as ``read_table`` looks at them."""
    return [raw.without(tokens) for raw in name_unnamed(arrow_to_raw(rows))]
