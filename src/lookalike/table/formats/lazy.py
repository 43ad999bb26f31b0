"""A table that stays in its Parquet files: its columns are known, its rows are read on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput
from lookalike.table.formats.parquet import BATCH_ROWS, ParquetParts, find_files
from lookalike.table.formats.raw import Raw
from lookalike.table.formats.sources import check_shape, name_unnamed
from lookalike.table.infer import roles, thresholds
from lookalike.table.infer.kinds import infer_columns
from lookalike.table.infer.learning import ColumnFacts, Learner, columns_of
from lookalike.table.infer.lists import kind_of
from lookalike.table.model.cells import convert
from lookalike.table.model.kind import Kind, given_kinds
from lookalike.table.model.table import CODED, Column, Schema, Table
from lookalike.table.model.tally import Tally
from lookalike.table.read import make_table, read_columns, without_copies


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
        stored = self._stored(columns)
        for part in blocks(len(self), rows):
            yield self._table(self.parts.read(part.start, part.stop, stored), columns)

    def column(self, name: str, rows: int = BATCH_ROWS) -> Iterator[Column]:
        """Yield the cells of one column in parts; nothing else is read."""
        for table in self.batches(rows, self.like.joined.get(name, [name])):
            yield table[name]

    def take_column(self, name: str, rows: np.ndarray) -> Column:
        """Return some cells of one column, in the order asked for; nothing else is read."""
        columns = self.like.joined.get(name, [name])
        return self._table(self.parts.take(rows, self._stored(columns)), columns)[name]

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

    def _stored(self, columns: Sequence[str] | None) -> list[str] | None:
        """Return the names that columns have in the files, where some have none there."""
        if columns is None:
            return None
        stored = dict(zip(_names(self.parts.names), self.parts.names, strict=True))
        return [stored[name] for name in columns]

    def _table(self, rows: Any, columns: Sequence[str] | None = None) -> Table:
        raws = {raw.name: raw for raw in columns_of(rows, self.missing)}
        # A column without a name has one by its place among all.
        if columns is not None:
            raws = {n: replace(r, name=n) for n, r in zip(columns, raws.values(), strict=True)}
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


def _names(stored: Sequence[str]) -> list[str]:
    return [raw.name for raw in name_unnamed([Raw(name, ()) for name in stored])]


# -- learning --------------------------------------------------------------------------------------


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
    chosen = given_kinds(kinds, _names(parts.names))
    table = table_of(parts, learner.facts(parts, chosen, tokens), chosen, tokens)
    return table.learned_by(learner)


def table_of(
    parts: ParquetParts,
    facts: Mapping[str, ColumnFacts],
    chosen: Mapping[str, Kind | None],
    tokens: tuple[Any, ...],
) -> LazyTable:
    """Decide about the columns from the facts of all rows."""
    raws = [facts[name].raw() for name in _names(parts.names)]
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

    def key(name: str) -> Any:
        kind = ends[name].kind
        return kind.name, kind.source, roles.glance(ends[name])

    names = [column.name for column in columns if column.values.ndim == 1]
    return roles.match_earlier(names, key, lambda earlier, name: _same(table, earlier, name))


def _same(table: LazyTable, one: str, other: str) -> bool:
    kinds = [table.like[name].kind for name in (one, other)]
    if kinds[0].name in CODED and kinds[0].levels != kinds[1].levels:
        return False
    pairs = table.batches(columns=[one, other])
    if not all(roles.same_cells(part[one], part[other]) for part in pairs):
        return False
    head = table.parts.read(0, thresholds.ROWS_TO_SHOW_VARIETY, table._stored([other]))
    return roles.tells_rows_apart(table._table(head, [other])[other])
