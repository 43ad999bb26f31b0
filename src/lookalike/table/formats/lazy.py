"""A table that stays in its Parquet files: its columns are known, its rows are read on demand.

Rows are learned from part by part. The facts of a part are small. Those of several parts, merged in
the order of the parts, are those of the whole, so parts may be read by this process (``Learner``)
or by others (``lookalike.index.dask``), with the same outcome. ``ColumnFacts.raw`` turns them into
a few cells with the number of rows that have each (``Raw.times``), from which the kind is guessed
by the same rules as from all cells.

Exact up to a bound: distinct words, and distinct integers of columns named like codes, are kept up
to ``MAX_WORDS`` and ``MAX_NUMBERS``. Past it nothing more is learned about which there are, and
their number is taken to grow as it did.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike._runtime.progress import Progress
from lookalike._runtime.threads import blocks
from lookalike.errors import InPython, InvalidInput, Phrase
from lookalike.table.formats import arrow
from lookalike.table.formats.files import arrow_to_raw
from lookalike.table.formats.parquet import BATCH_ROWS, WHO, ParquetParts, find_files
from lookalike.table.formats.raw import Raw
from lookalike.table.formats.sources import check_shape
from lookalike.table.infer import roles, thresholds
from lookalike.table.infer.kinds import infer_columns
from lookalike.table.infer.lists import ListFacts, kind_of, list_facts
from lookalike.table.infer.thresholds import MAX_CELLS_TO_COUNT_DISTINCT, MAX_EXACT_INTEGER
from lookalike.table.model.cells import convert
from lookalike.table.model.kind import Kind, given_kinds
from lookalike.table.model.table import Column, Schema, Table
from lookalike.table.model.tally import Counts, Tally
from lookalike.table.read import make_table, read_columns, without_copies

# Distinct values that are kept: some hundred megabytes of strings or of integers. Chosen by hand,
# as are the bounds below.
MAX_WORDS = 2**22
MAX_NUMBERS = 2**24
# The same for integers of a column with an ordinary name, which are never codes.
MAX_PLAIN_INTEGERS = 2**20
# Smallest and largest numbers that are kept whatever else is: sentinels lie there.
N_END_VALUES = 4
# Cells of lists that are kept to be read.
MAX_SAMPLE_LISTS = 64
# Kinds whose every value becomes a level.
LEVELLED = ("category", "order")


# -- facts of columns -----------------------------------------------------------------------------


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


class _Strings(Counts):
    """Distinct strings, in the order of their coming."""

    def _unite(self, parts: list[Any]) -> tuple[Any, np.ndarray]:
        every = pa.chunked_array(parts).dictionary_encode().combine_chunks()
        return every.dictionary, arrow.to_numpy(every.indices)


class _Words(ColumnFacts):
    """Text: every distinct string, in the order of their coming, and how many rows have it."""

    def __init__(self, name: str, kind: Any, all_values: bool = False) -> None:
        super().__init__(name, kind, all_values)
        self.declared, self.typed = "", False
        self.found = _Strings()
        self.found.add_counts(pa.array([], pa.large_string()), np.empty(0, np.int64))
        # Rows that were counted, once there are too many distinct strings.
        self.full: int | None = None

    def _count(self, raw: Raw, present: np.ndarray) -> None:
        self.declared, self.typed = raw.declared, raw.typed
        codes = raw.codes
        self._take(raw.words, np.bincount(codes[codes >= 0], minlength=len(raw.words)))

    def _take(self, words: Any, counts: np.ndarray, full: bool = False) -> None:
        if self.full is not None:
            return
        self.found.add_counts(words, counts)
        many = self.found.held > MAX_WORDS and not self.declared
        if full or (many and len(self.found.values) > MAX_WORDS):
            if self.all_values:
                raise self._too_many(MAX_WORDS)
            self.full = int(self.found.counts.sum())

    def _merge(self, other: _Words) -> None:
        self.declared = self.declared or other.declared
        self.typed = self.typed or other.typed
        self._take(other.found.values, other.found.counts, other.full is not None)

    def raw(self) -> Raw:
        words, counts = self.found.values, self.found.counts
        if self.full is not None:
            # The strings that were counted represent all rows: they keep their shares.
            share = self.count / max(1, self.full)
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
        if self.all_values or roles.is_key_name(self.name) or roles.says_date(self.name):
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
    return [raw.without(tokens) for raw in arrow_to_raw(rows)]


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


# -- the table -------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class LazyTable:
    """A table in Parquet files, of which no row is kept in memory.

    Made by ``read_table(paths, lazy=True)``; the kinds are those that ``read_table`` finds for all
    rows together. ``Gower``, ``Vector``, ``Ranked`` and ``StochasticForest`` can be fitted to it,
    and ``lookalike.index.build_index`` builds an index in a folder from it.

    Parameters
    ----------
    parts : the files
    like : Table without rows, with the columns and kinds of this one
    missing : tuple
        Cell values that are read as missing.
    n_missing : mapping of column to the number of its missing cells
    learner : Learner, who reads rows to learn from them; this process unless given

    Examples
    --------
    >>> import lookalike as la, os, pyarrow as pa, pyarrow.parquet, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name, sizes in (("a", [1.0, 2.5]), ("b", [4.0, None])):
    ...     rows = pa.table({"size": sizes, "color": ["red", "blue"]})
    ...     pyarrow.parquet.write_table(rows, os.path.join(folder, f"{name}.parquet"))
    >>> table = la.read_table(folder, lazy=True)
    >>> table
    LazyTable: 4 rows, 2 columns in 2 files
      size: number: 3 distinct values from 1 to 4
      color: category: 2 distinct strings in 4 rows
    >>> table[1:3]["size"].values
    array([2.5, 4. ])
    """

    parts: ParquetParts
    like: Table
    missing: tuple[Any, ...] = ()
    n_missing: Mapping[str, int] = field(default_factory=dict)
    learner: Learner = field(default_factory=Learner)
    _tallies: dict[str, Tally] = field(init=False, default_factory=dict)

    # -- shape and access --------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and compared columns."""
        return len(self), len(self.like.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the compared columns."""
        return self.like.names

    @property
    def kinds(self) -> dict[str, Kind]:
        """Column name to kind, with the reason for it."""
        return self.like.kinds

    @property
    def schema(self) -> Schema:
        """What is needed to read new rows the same way."""
        return self.like.schema

    @property
    def files(self) -> tuple[Path, ...]:
        """The files, in the order of their rows."""
        return self.parts.files

    def __getitem__(self, at: Any) -> Table:
        """Return some of the rows, read now: a slice, or positions in any order."""
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step == 1:
                return self._table(self.parts.read(start, max(start, stop)))
            at = np.arange(start, stop, step)
        rows = np.asarray(at, np.int64)
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self)):
            hint = "Rows are counted from 0"
            found = f"{int(rows.max())}" if rows.max() >= len(self) else f"{int(rows.min())}"
            raise InvalidInput("LazyTable", f"rows below {len(self):,}", found, hint)
        return self._table(self.parts.take(rows))

    def batches(
        self, rows: int = BATCH_ROWS, columns: Sequence[str] | None = None
    ) -> Iterator[Table]:
        """Yield all rows as tables of so many rows each, in their order.

        Parameters
        ----------
        rows : int
        columns : names, optional
            Only these columns are read; None: all.
        """
        for part in blocks(len(self), rows):
            yield self._table(self.parts.read(part.start, part.stop, columns))

    def column(self, name: str, rows: int = BATCH_ROWS) -> Iterator[Column]:
        """Yield the cells of one column in parts; nothing else is read."""
        for table in self.batches(rows, self.like.joined.get(name, [name])):
            yield table[name]

    def take_column(self, name: str, rows: np.ndarray) -> Column:
        """Return some cells of one column, in the order asked for; nothing else is read."""
        return self._table(self.parts.take(rows, self.like.joined.get(name, [name])))[name]

    def read(self) -> Table:
        """Return all rows, in memory."""
        return self[:]

    def tally(self, name: str) -> Tally:
        """Return the distinct values of a column of numbers or codes, and how often each occurs.

        It is counted in one pass over the column, and kept for the next who asks.
        """
        if name not in self._tallies:
            tally = self.learner.tally(self, name)
            if len(tally.values) > BATCH_ROWS:
                # One long tally is kept at most: several would be as large as the table.
                self._tallies.clear()
            self._tallies[name] = tally
        return self._tallies[name]

    def with_aside(self, name: str) -> LazyTable:
        """Return the table with one column set aside, behind the others."""
        rest = self.like.drop(name)
        like = Table(rest.columns, [*rest.aside, self.like[name]], 0, rest.missing)
        return replace(self, like=like)

    def learned_by(self, learner: Learner) -> LazyTable:
        """Return the table with another who reads its rows to learn from them."""
        return replace(self, learner=learner)

    def with_kinds(self, kinds: Mapping[Any, Any]) -> LazyTable:
        """Return the table with some columns read as another kind."""
        everything: dict[str, Any] = {**self.kinds, **{c.name: None for c in self.like.aside}}
        chosen = everything | given_kinds(kinds, list(everything))
        if all(everything[name] == kind for name, kind in chosen.items()):
            return self
        return read_lazy(self.files, chosen, self.missing, self.learner)

    def compare_also(self, names: Any) -> LazyTable:
        """Return the table with these columns compared too; see ``Table.compare_also``."""
        back = {c.name: c.kind.name for c in self.like.guessed_aside(names)}
        return self.with_kinds(back) if back else self

    def __repr__(self) -> str:
        files = f"{len(self.files):,} file" + ("" if len(self.files) == 1 else "s")
        lines = repr(self.like).splitlines()[1:]
        head = f"LazyTable: {len(self):,} rows, {len(self.like.columns)} columns in {files}"
        return "\n".join([head, *lines])

    # -- reading -----------------------------------------------------------------------------------

    def _table(self, rows: Any) -> Table:
        raws = {raw.name: raw for raw in columns_of(rows, self.missing)}
        here, aside = (
            [_read(raws[like.name], like) for like in some if like.name in raws]
            for some in (self.like.columns, self.like.aside)
        )
        return Table(here, aside, rows.num_rows, self.missing)


def _read(raw: Raw, like: Column) -> Column:
    """Read cells as the whole column was read."""
    kind = like.kind
    if kind.name == "text" and raw.is_arrow and pa.types.is_integer(raw.type):
        raw = replace(raw, cells=raw.cells.cast(pa.large_string()).dictionary_encode())
    column = convert(raw, kind, fitted=True)
    values = column.values
    # Vectors that are all missing in a part have no type of their own.
    if values.dtype != like.values.dtype:
        values = values.astype(like.values.dtype)
    if values.ndim == 2 and not len(values):
        values = like.values
    return Column(like.name, kind, values, column.unknown)


def read_lazy(
    paths: Any,
    kinds: Mapping[Any, Any] | None,
    tokens: tuple[Any, ...],
    learner: Learner | None = None,
) -> LazyTable:
    """Say what the columns of Parquet files hold, in one pass over them; see ``read_table``."""
    learner = learner or Learner()
    parts = ParquetParts.open(find_files(paths))
    check_shape(len(parts), len(parts.names))
    chosen = given_kinds(kinds, parts.names)
    table = table_of(parts, learner.facts(parts, chosen, tokens), chosen, tokens)
    return table.learned_by(learner)


def table_of(
    parts: ParquetParts,
    facts: Mapping[str, ColumnFacts],
    chosen: Mapping[str, Kind | None],
    tokens: tuple[Any, ...],
) -> LazyTable:
    """Decide about the columns from the facts of all rows."""
    raws = [facts[name].raw() for name in parts.names]
    guesses = infer_columns([raw for raw in raws if raw.name not in chosen])
    for name, guess in guesses.items():
        lists = facts[name].lists
        if lists is not None:
            whole = roles.guess_of(kind_of(lists))
            guesses[name] = replace(whole, aside=whole.aside or guess.aside)
    columns, aside = read_columns(raws, chosen, guesses)
    times = {raw.name: raw.times for raw in raws}
    n_missing = {c.name: _n_missing(c, times[c.name], facts[c.name]) for c in columns + aside}
    # What was learned stays in the kinds; the cells that stood for many are no rows.
    columns, aside = ([c.take(slice(0, 0)) for c in some] for some in (columns, aside))
    table = LazyTable(parts, Table(columns, aside, 0, tokens), tokens, n_missing)
    columns, aside = without_copies(columns, aside, set(chosen), _find_copies(table, columns))
    return LazyTable(parts, make_table(columns, aside, tokens), tokens, n_missing)


def _n_missing(column: Column, times: np.ndarray | None, facts: ColumnFacts) -> int:
    if facts.lists is not None or times is None:
        return facts.n_missing
    return int(times[column.missing].sum())


def _find_copies(table: LazyTable, columns: Sequence[Column]) -> dict[str, str]:
    """Find columns whose every cell is that of an earlier column, as ``find_copies`` does.

    Only columns that agree in their first rows and in the last are compared as a whole.
    """
    if len(table) < thresholds.MIN_ROWS_FOR_PATTERN or not columns:
        return {}
    ends = table[np.r_[: thresholds.MIN_ROWS_FOR_PATTERN, len(table) - 1]]

    def same(earlier: str, name: str) -> bool:
        pairs = ((part[earlier], part[name]) for part in table.batches(columns=[earlier, name]))
        if not all(roles.key_of_cells(a) == roles.key_of_cells(b) for a, b in pairs):
            return False
        head = table.parts.read(0, thresholds.ROWS_TO_SHOW_VARIETY, [name])
        return roles.tells_rows_apart(table._table(head)[name])

    names = [column.name for column in columns if column.values.ndim == 1]
    return roles.match_earlier(names, lambda name: roles.key_of_cells(ends[name]), same)
