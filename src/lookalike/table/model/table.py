"""A table whose columns know what they hold.

How each kind keeps its cells (``Column.values``, always one entry or row per row of the table):

========== ======================================================== ============
kind       values                                                   missing
========== ======================================================== ============
number     float64 (float32 kept if given so); datetimes and        NaN
           durations are seconds
category   int64 codes into ``kind.levels``; a value that was not   -1
           in the fitted data has a code below -1 (``unknown_code``)
order      int64 codes into ``kind.levels``, low to high; a level   -1
           that only new rows have is below -1, compared as missing
flag       int64 1 (yes) and 0 (no); ``kind.levels`` = (no, yes)    -1
text       object array of str                                      None
set        object array of frozenset                                None
sequence   object array of tuple (items: scalars or frozensets)     None
series     object array of 1-D float64 arrays                       None
histogram  float64 matrix, one row of bins per table row            NaN row
vector     float64 or float32 matrix                                NaN row
graph      object array of ``Graph``                                None
object     object array of anything                                 None
========== ======================================================== ============
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.frames import FrameMixin
from lookalike.errors import InvalidInput, message, suggest
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Dims, Fields, require
from lookalike.table.model.kind import GUESSED_ASIDE, PLACE, Kind
from lookalike.table.model.summary import TableSummary, summarize

# Kept as integers, -1 where missing.
CODED = ("category", "order", "flag")
# Kept as one matrix, a row of NaN where missing.
MATRIX = ("histogram", "vector")


@saveable
@dataclass(frozen=True)
class Graph:
    """A graph cell: labelled nodes and the edges between them.

    Parameters
    ----------
    nodes : mapping of node to label
    edges : frozenset of pairs; the two ends of an undirected edge are sorted by ``repr``
    """

    FIELDS: ClassVar[Fields] = {
        "nodes": fields.MapOf(fields.Plain(), fields.Plain()),
        "edges": fields.FrozensetOf(fields.TupleOf(fields.Plain(), 2)),
    }

    nodes: Mapping[Any, Any]
    edges: frozenset[tuple[Any, Any]]


@saveable
@dataclass(frozen=True)
class Schema:
    """What a fitted table remembers, so that new rows are read the same way.

    Parameters
    ----------
    kinds : mapping of column name to Kind, in column order
    aside : mapping of column name to the reason for setting it aside
    missing : cell values that were read as missing
    """

    FIELDS: ClassVar[Fields] = {
        "kinds": fields.MapOf(fields.Text(), fields.Saved("Kind")),
        "aside": fields.MapOf(fields.Text(), fields.Text()),
        "missing": fields.TupleOf(fields.Plain()),
    }

    kinds: Mapping[str, Kind]
    aside: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[Any, ...] = ()


@saveable
@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table: its name, its kind, its cells.

    ``unknown`` names the values behind codes below -1, which the fitted data did not have:
    categories, and levels of an order that was guessed.
    """

    FIELDS: ClassVar[Fields] = {
        "name": fields.Text(),
        "kind": fields.Saved("Kind"),
        "values": fields.Either(
            fields.Array("float64 float32", "rows"),
            fields.Array("int64", "rows"),
            fields.Array("float64 float32", "rows", "width"),
            fields.Objects("rows"),
        ),
        "unknown": fields.MapOf(fields.Integer(low=-(2**63)), fields.Plain()),
    }

    name: str
    kind: Kind
    values: np.ndarray
    unknown: Mapping[int, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Any) -> Column:
        """Return the column with some of its rows."""
        return replace(self, values=self.values[rows])

    @property
    def missing(self) -> np.ndarray:
        """Where there is nothing to compare, as a boolean array.

        A level that the fitted data did not have is such a cell, though ``cell`` returns it.
        """
        if self.kind.name == "number":
            return np.isnan(self.values)
        # A level without a place cannot be compared.
        if self.kind.name == "order":
            return np.asarray(self.values < 0)
        if self.kind.name in CODED:
            return np.asarray(self.values == -1)
        if self.kind.name in MATRIX:
            # All of no entries are missing, yet a cell of none is there.
            return np.isnan(self.values).all(axis=1) & (self.values.shape[1] > 0)
        return np.array([cell is None for cell in self.values], dtype=bool)

    @property
    def blank(self) -> np.ndarray:
        """Where no cell was written, as a boolean array."""
        return np.asarray(self.values == -1) if self.kind.name == "order" else self.missing

    def cell(self, row: int) -> Any:
        """Return one cell as a Python value, None where it is missing."""
        value = self.values[row]
        if self.kind.name == "number":
            if np.isnan(value):
                return None
            ticks = {"datetime": np.datetime64, "duration": np.timedelta64}.get(self.kind.source)
            return float(value) if ticks is None else ticks(round(float(value) * 1e6), "us").item()
        if self.kind.name in CODED:
            code = int(value)
            if code == -1:
                return None
            return self.kind.levels[code] if code >= 0 else self.unknown.get(code, "unknown")
        if self.kind.name in MATRIX:
            return None if len(value) and np.isnan(value).all() else value.tolist()
        return value

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that the cells are what the kind says."""
        check_cells(self.values, self.kind, f"column {self.name[:40]!r}")


# Types of the cells where they are kept as objects.
CELLS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "set": (frozenset,),
    "sequence": (tuple,),
    "series": (np.ndarray,),
    "graph": (Graph,),
}


def check_cells(values: np.ndarray, kind: Kind, where: str) -> None:
    """Refuse a loaded column whose cells are not what its kind says."""
    dtype = values.dtype
    if kind.name == "number" or kind.name in CODED:
        needed, letter = ("codes", "i") if kind.name in CODED else ("numbers", "f")
        require(dtype.kind == letter and values.ndim == 1, where, needed, str(dtype))
        if kind.name in CODED:
            n_levels = len(kind.levels) if kind.levels or kind.name != "flag" else 2
            require(values.max(initial=-1) < n_levels, where, f"codes below {n_levels}", "others")
    elif kind.name in MATRIX or dtype.kind != "O":
        is_matrix = kind.name in MATRIX and (values.ndim, dtype.kind) == (2, "f")
        require(is_matrix, where, f"cells of kind {kind.name}", str(dtype))
    elif kind.name != "object":
        _check_objects(values, kind.name, where)


def _check_objects(values: np.ndarray, kind: str, where: str) -> None:
    types = set(map(type, values)) - {*CELLS[kind], type(None)}
    shown = ", ".join(sorted(other.__name__ for other in types))
    require(not types, where, f"cells of kind {kind}", shown)
    if kind == "series":
        forms = {(cell.ndim, cell.dtype) for cell in values if cell is not None}
        lines = forms <= {(1, np.dtype(np.float64))}
        require(lines, where, "one-dimensional arrays of float64", "others")
    if kind in ("set", "sequence"):
        # A list inside a sequence has no hash, and every distance of sets and sequences takes one.
        try:
            set(values)
        except TypeError:
            require(False, where, "items that can be looked up", "others")


def check_columns(who: str, columns: Sequence[Any]) -> None:
    """Refuse columns of several lengths, or two of one name."""
    if len({len(column) for column in columns}) > 1:
        found = ", ".join(f"{c.name!r} has {len(c):,}" for c in columns[:4])
        hint = "Give every column a value per row"
        raise InvalidInput(who, "columns of equal length", found, hint)
    for name, count in Counter(column.name for column in columns).items():
        if count > 1:
            found = f"{name!r} {count} times"
            raise InvalidInput(who, "column names that differ", found, "Rename one of them")


@saveable
class Table(FrameMixin):
    """Typed columns of equal length.

    Made by ``read_table``; slices keep the kinds, so that cross-validation does not guess them
    again.

    Parameters
    ----------
    columns : sequence of Column
        The columns that measures use.
    aside : sequence of Column
        Identifiers and the like: kept for display, never compared. The reason is in their kind.
    n_rows : int, optional
        Needed only for a table without columns.
    missing : tuple
        Cell values that were read as missing.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table({"size": [1.0, 2.5, None], "color": ["red", "blue", "red"]})
    >>> table.shape
    (3, 2)
    >>> print(table.kinds["color"])
    category: 2 distinct strings in 3 rows
    """

    FIELDS: ClassVar[Fields] = {
        "columns": fields.TupleOf(fields.Saved("Column")),
        "aside": fields.TupleOf(fields.Saved("Column")),
        "missing": fields.TupleOf(fields.Plain()),
        "_n_rows": fields.Integer(0),
    }

    def __init__(
        self, columns: Any, aside: Any = (), n_rows: int | None = None, missing: Sequence[Any] = ()
    ) -> None:
        self.columns: tuple[Column, ...] = tuple(columns)
        self.aside: tuple[Column, ...] = tuple(aside)
        self.missing = tuple(missing)
        check_columns("Table", self.every)
        self._n_rows = len(self.every[0]) if self.every else int(n_rows or 0)

    # -- shape and access -------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and compared columns."""
        return len(self), len(self.columns)

    @property
    def ndim(self) -> int:
        """Always 2: scikit-learn asks."""
        return 2

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the compared columns."""
        return tuple(column.name for column in self.columns)

    @property
    def every(self) -> tuple[Column, ...]:
        """All columns: those that are compared, then those set aside."""
        return self.columns + self.aside

    @property
    def kinds(self) -> dict[str, Kind]:
        """Column name to kind, with the reason for it."""
        return {column.name: column.kind for column in self.columns}

    @property
    def joined(self) -> dict[str, tuple[str, ...]]:
        """Columns that are compared as one, by their joint name: "lat, lon" for a place.

        A column whose partner is not there, or is compared otherwise, is compared alone.
        """
        kinds = self.kinds
        found = {", ".join(kind.parts): kind.parts for kind in kinds.values() if kind.parts}
        return {
            name: parts
            for name, parts in found.items()
            if name not in kinds and all(p in kinds and kinds[p].parts == parts for p in parts)
        }

    @property
    def schema(self) -> Schema:
        """What is needed to read new rows the same way."""
        return Schema(self.kinds, {c.name: c.kind.reason for c in self.aside}, self.missing)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return any(column.name == name for column in self.columns)

    def __getitem__(self, key: Any) -> Any:
        """Return a column by name, or a table with some of the rows (slice, positions or mask).

        Columns that are compared as one have a joint name too; see ``joined``.
        """
        if isinstance(key, str):
            for column in self.every:
                if column.name == key:
                    return column
            if key in self.joined:
                return join_columns(key, [self[part] for part in self.joined[key]])
            raise KeyError(message("Table", f"a column {key!r}", "none", suggest(key, self.names)))
        key = self._rows_at(key)
        # A table without columns has rows too.
        rows = np.arange(len(self))[key]
        columns, aside = ([c.take(key) for c in side] for side in (self.columns, self.aside))
        return Table(columns, aside, len(rows), self.missing)

    def _rows_at(self, rows: Any) -> Any:
        """Return a slice, positions or a mask as numpy takes them."""
        # As scikit-learn indexes arrays: table[rows, ...].
        if isinstance(rows, tuple):
            rows = rows[0]
        if isinstance(rows, int | np.integer):
            words = "a table is indexed by a slice, positions or a mask"
            raise TypeError(f"{words}; use table.record(i)")
        if isinstance(rows, slice):
            return rows
        rows = np.asarray(rows)
        if rows.dtype == bool and rows.size and len(rows) != len(self):
            raise IndexError(f"mask of {len(rows)} for a table of {len(self)} rows")
        return rows if rows.size else rows.astype(np.int64)

    # -- parts ------------------------------------------------------------------------------------

    def select(self, names: Any) -> Table:
        """Return a table with these columns, in this order."""
        return Table([self[name] for name in names], self.aside, len(self), self.missing)

    def only(self, names: Any) -> Table:
        """Return a table with these columns and nothing else; one set aside may be among them."""
        return Table([self[name] for name in names], (), len(self), self.missing)

    def drop(self, names: Any) -> Table:
        """Return a table without these columns."""
        # A mistyped name is an error here, not a surprise later.
        gone = [self[name].name for name in ([names] if isinstance(names, str) else names)]
        rest, aside = ([c for c in s if c.name not in gone] for s in (self.columns, self.aside))
        return Table(rest, aside, len(self), self.missing)

    def join(self, parts: Any) -> Table:
        """Return the table with each of some groups of number columns as one column of vectors.

        Parameters
        ----------
        parts : sequence of tuples of column names
            The joint column takes the position of the first of them, and a joint name.

        Examples
        --------
        >>> import lookalike as la
        >>> table = la.read_table({"lat": [52.5, 48.1], "lon": [13.4, 11.6], "stars": [3, 4]})
        >>> table.names, table.join([("lat", "lon")]).names
        (('lat', 'lon', 'stars'), ('lat, lon', 'stars'))
        """
        first = {group[0]: tuple(group) for group in parts}
        gone = {name for group in first.values() for name in group[1:]}
        columns = [
            join_columns(", ".join(first[c.name]), [self[name] for name in first[c.name]])
            if c.name in first
            else c
            for c in self.columns
            if c.name not in gone
        ]
        return Table(columns, self.aside, len(self), self.missing) if first else self

    def compare_also(self, names: Any) -> Table:
        """Return the table with these columns compared too, where it was a guess to leave them out.

        Names, identifiers, constants, copies and objects are set aside when a table is read; who
        gives a distance or a weight for one wants it compared. What the caller set aside, and a
        target, stay where they are.
        """
        back = self.guessed_aside(names)
        aside = [column for column in self.aside if column not in back]
        columns = [*self.columns, *(replace(c, kind=replace(c.kind, role="")) for c in back)]
        return Table(columns, aside, len(self), self.missing) if back else self

    def guessed_aside(self, names: Any) -> list[Column]:
        """Return those of these columns that are set aside by a guess."""
        return [c for c in self.aside if c.kind.role in GUESSED_ASIDE and c.name in names]

    def compare_by(self, names: Any) -> Table:
        """Return the table with only these columns compared; all others are set aside.

        Parameters
        ----------
        names : name or names
            May name a column that is set aside, which is then compared.
        """
        wanted = dict.fromkeys([names] if isinstance(names, str) else names)
        rest = [column for column in self.every if column.name not in wanted]
        return Table([self[name] for name in wanted], rest, len(self), self.missing)

    def of_kind(self, *kinds: str) -> tuple[Column, ...]:
        """Return the columns of these kinds."""
        return tuple(column for column in self.columns if column.kind.name in kinds)

    def record(self, row: int) -> dict[str, Any]:
        """Return one row as a dictionary of Python values, set-aside columns included."""
        if not -len(self) <= row < len(self):
            needed, hint = f"a row below {len(self)}", "Rows are counted from 0"
            raise IndexError(message("Table", needed, str(row), hint))
        return {column.name: column.cell(row) for column in self.aside + self.columns}

    def summary(self) -> TableSummary:
        """Say what each column holds, why, how many gaps it has, and what to look at.

        Returns
        -------
        TableSummary
            One ``ColumnSummary`` per column; prints as text, and has ``records`` and ``to_frame``.

        Examples
        --------
        >>> import lookalike as la
        >>> summary = la.read_table({"size": [1.0, None, 1.0], "color": list("abb")}).summary()
        >>> summary["size"].missing, summary["size"].warnings
        (1, ('constant: it tells no rows apart',))
        >>> print(summary["color"].values)
        b 67%, a 33%
        """
        return summarize(self)

    def __repr__(self) -> str:
        lines = [f"Table: {len(self):,} rows, {len(self.columns)} columns"]
        lines += [f"  {column.name}: {column.kind}" for column in self.columns]
        lines += [f"  {column.name}: set aside, {column.kind.reason}" for column in self.aside]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from lookalike.table.model.display import table_html

        return table_html(self)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the cells as a data frame, in the order of the columns, those set aside last.

        Categories and flags are their words, dates are dates, gaps are gaps; sets become sorted
        lists, and cells that a frame has no type for stay what they are (text in polars and arrow).

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}

        Examples
        --------
        >>> import lookalike as la
        >>> la.read_table({"size": [1.0, None], "color": ["red", "blue"]}).to_frame()
           size color
        0   1.0   red
        1   NaN  blue
        """
        from lookalike.table.model.display import frame_of

        return frame_of(self, backend)

    def head(self, n: int = 5) -> Table:
        """Return the first n rows.

        Examples
        --------
        >>> import lookalike as la
        >>> la.read_table({"size": [1.0, 2.5, 2.0]}).head(2).to_pandas()
           size
        0   1.0
        1   2.5
        """
        return self[:n]

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that columns have different names and one length."""
        fits = all(len(column) == self._n_rows for column in self.every)
        require(fits, "Table", f"columns of {self._n_rows} rows", "others")
        names = {column.name for column in self.every}
        require(len(names) == len(self.every), "Table", "column names that differ", "one twice")


def join_columns(name: str, columns: Sequence[Column]) -> Column:
    """Return columns as one: numbers as vectors, others as tuples of cells.

    A row with a missing part is missing.
    """
    if any(column.kind.name != "number" for column in columns):
        values = np.empty(len(columns[0]), object)
        missing = np.any([column.missing for column in columns], axis=0)
        for row in np.flatnonzero(~missing).tolist():
            values[row] = tuple(column.cell(row) for column in columns)
        return Column(name, Kind("object"), values)
    values = np.column_stack([np.asarray(c.values, dtype=np.float64) for c in columns])
    values[np.isnan(values).any(axis=1)] = np.nan
    role = PLACE if columns[0].kind.parts else ""
    reason = "joined from " + " and ".join(repr(c.name) for c in columns)
    return Column(name, Kind("vector", reason, width=len(columns), role=role), values)


def unknown_code(value: Any) -> int:
    """Return a code below -1 for a category that the fitted data did not have.

    The same value has the same code in every process, so that two new rows with one unknown
    category are equal.
    """
    digest = hashlib.blake2b(f"{type(value).__name__}:{value!r}".encode(), digest_size=8).digest()
    # 52 bits: exact as a float64 too, which is how some measures keep codes
    return -2 - (int.from_bytes(digest, "little") >> 12)
