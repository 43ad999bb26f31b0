"""The table a verb is about: rows with their ids, from a file, a frame, or an index."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from glob import has_magic
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lookalike._runtime.text import plural
from lookalike.errors import InvalidInput, LookalikeWarning, Param, missing_file, suggest
from lookalike.verbs.annotations import read_json

if TYPE_CHECKING:
    from lookalike.index import Index
    from lookalike.table import LazyTable, Schema, Table

SAVED = ".lookalike"
PARQUET = (".parquet", ".pq")
# Either file marks the folder of an index; the plan comes first, while it is being built.
INDEX_FILES = ("manifest.json", "plan.json")


@dataclass(frozen=True)
class NamedRows:
    """Rows of a table, with their ids.

    Parameters
    ----------
    table : Table
    ids : list
        Of each row its position in the whole table, or its id in the index or frame.
    name : str
        Of the table, for headings.
    index : Index or None
        The index that the rows came from.
    """

    table: Table
    ids: list[Any]
    name: str
    index: Index | None = None

    def take(self, positions: Any) -> NamedRows:
        """Return some of the rows, by their positions."""
        ids = [self.ids[row] for row in positions.tolist()]
        return replace(self, table=self.table[positions], ids=ids)

    def meeting(self, filter: Any) -> NamedRows:
        """Return the rows that meet a filter (see ``Index.search``), or conditions as text."""
        if not filter:
            return self
        import numpy as np

        from lookalike.index.filters import meets, read_conditions

        conditions = read_filter(filter, self.table)
        if isinstance(conditions, Mapping):
            mask = meets(self.table, read_conditions(conditions, column_names(self.table)))
        elif callable(conditions):
            rows = range(len(self.table))
            mask = np.array([bool(conditions(self.table.record(row))) for row in rows])
        else:
            wanted = set(conditions)
            mask = np.array([id in wanted for id in self.ids])
        if not mask.any():
            who, found = Param("filter"), f"none of {len(self.table):,}"
            raise InvalidInput(who, "rows that meet all conditions", found, "Remove a condition")
        return self.take(np.flatnonzero(mask))

    def without_label(self, label: Any) -> tuple[NamedRows, Any]:
        """Split off a column of known values; return the other columns, and its cells or None.

        A column of sets stays a list of sets: a row may have several labels. An array of labels is
        returned as it is.
        """
        if label is None or not isinstance(label, str):
            return self, label
        known = self.labelled(label)  # rows without a label can be neither learned nor scored
        table, who = known.table, Param("label", label)
        if len(table.every) == 1:
            alone = "it is the only column, and there is nothing to compare besides it"
            hint = "Name a table with more columns"
            raise InvalidInput(who, "other columns", "none", hint, problem=alone)
        # Sets are not split off as one class each: two rows may share a part of their labels.
        if table[label].kind.name == "set":
            labels = [cell or frozenset() for cell in table[label].values]
            return replace(known, table=table.drop(label)), labels
        from lookalike.table.model.targets import split_target

        rest, values = split_target(table, label, f"label {label!r}")
        return replace(known, table=rest), values

    def labelled(self, label: str) -> NamedRows:
        """Return the rows that have a label, with a warning if others have none.

        An empty set is a label.
        """
        import numpy as np

        names = column_names(self.table)
        if label not in names:
            hint = suggest(label, names)
            raise InvalidInput(Param("label"), "a column of the table", repr(label), hint)
        missing = np.asarray(self.table[label].missing)
        if self.table[label].kind.name == "set" or not missing.any():
            return self
        if missing.all():
            who, hint = Param("label", label), "Choose another column"
            raise InvalidInput(who, "a column with values", "missing cells only", hint)
        text = f"{plural(int(missing.sum()))} without {label!r} left out"
        warnings.warn(LookalikeWarning(text), stacklevel=3)
        return self.take(np.flatnonzero(~missing))

    def compared_by(self, columns: str | Sequence[str] | None) -> NamedRows:
        """Return the rows compared by some columns only."""
        return replace(self, table=select_columns(self.table, columns))


class TableSource:
    """The source of the rows of a verb; read when they are first needed.

    Parameters
    ----------
    given : path, frame, dict of columns, Table, or fitted Index
    name : str, optional
        Of the table, for headings; None: its path, or "table".
    """

    strict = False  # whether labels that several rows have are an error, not a warning
    whole = False  # whether the answer is about every row, so that a sample of them would be wrong
    more: Mapping[str, Any] = MappingProxyType({})  # options of Index.search beside those of verbs

    def __init__(self, given: Any, name: str | None = None) -> None:
        self.given = given
        self.is_path = isinstance(given, str | os.PathLike)
        self.name = name or (os.fspath(given) if self.is_path else "table")

    def check_exists(self) -> None:
        """Refuse a file that does not exist, before anything that reads files is imported."""
        if not self.is_path or has_magic(os.fspath(self.given)):
            return  # a pattern may name several files
        path = Path(self.given).expanduser()
        if not path.exists():
            raise missing_file(path)

    @property
    def is_index(self) -> bool:
        """Whether the rows are those of an index, saved or in memory."""
        if self.is_path:
            return is_saved_index(self.given)
        # Not isinstance: importing Index loads scikit-learn, which reading a table need not.
        return hasattr(self.given, "state_") and hasattr(self.given, "search")

    @cached_property
    def index(self) -> Index | None:
        """The index that the rows come from; None for a table."""
        if not self.is_index:
            return None
        return load_index(self.given) if self.is_path else self.given

    @cached_property
    def labels(self) -> tuple[Any, str | None]:
        """The table with the labels of a pandas frame as a column, and the name of this column."""
        from lookalike.table.model.names import with_labels

        return with_labels(self.given, who="table", strict=self.strict)

    @cached_property
    def parts(self) -> LazyTable | None:
        """The table in its Parquet files, of which rows are read in parts; None for any other."""
        if hasattr(self.given, "parts") and hasattr(self.given, "like"):
            return self.given
        if not self.is_path or self.is_index:
            return None
        path = Path(self.given).expanduser()
        if path.suffix.lower() not in PARQUET and not path.is_dir():
            return None
        return self.read(lazy=True)

    def beside(self, other: Any) -> TableSource:
        """Return the source of another table that is read as this one is."""
        return as_source(other)

    def read(self, lazy: bool = False) -> Any:
        """Read the table; lazily, as a ``LazyTable``, its rows stay in their Parquet files."""
        from lookalike.table import read_table
        from lookalike.table.model.kind import ROW_IDS

        if lazy:
            return read_table(self.given, lazy=True)
        given, name = self.labels
        # As objects: labels are ids, and a large integer read as a number would lose digits.
        return read_table(given, kinds=None if name is None else {name: ROW_IDS})

    def read_like(self, rows: Any, schema: Schema, who: str) -> Table:
        """Read further rows with the schema of the table: nothing is guessed again."""
        from lookalike.table import as_table

        return as_table(rows, schema, who=who)

    def rows(self, filter: Any = None) -> NamedRows:
        """Return the rows that meet a filter, all of them without one."""
        if self.index is not None:
            rows = NamedRows(self.index.table, self.index.ids, self.name, self.index)
            return rows.meeting(filter)
        table, (_, name) = self.read(), self.labels
        ids = list(range(len(table)))
        if name is not None:
            from lookalike.index.ids import take_ids

            # Ids name rows, and are not compared.
            ids = table[name].values.tolist()
            table = take_ids(table, name, "table")
        return NamedRows(table, ids, self.name).meeting(filter)


def as_source(table: Any) -> TableSource:
    """Return the source of the table that a verb was given; a surface may bring its own."""
    source = table if isinstance(table, TableSource) else TableSource(table)
    source.check_exists()
    return source


def is_saved_index(path: Any) -> bool:
    """Whether a path is a saved index, or the folder of one."""
    return os.fspath(path).lower().endswith(SAVED) or is_index_folder(path)


def is_index_folder(path: Any) -> bool:
    """Whether a path is the folder of an index, built or being built."""
    folder = Path(path).expanduser()
    return folder.is_dir() and any((folder / name).is_file() for name in INDEX_FILES)


def load_index(path: Any) -> Index:
    """Load a saved index, or open the folder of one."""
    from lookalike.index import Index
    from lookalike.saving.load import load

    if is_index_folder(path):
        return Index.open(path)
    index = load(path) if is_saved_index(path) else None
    if not isinstance(index, Index):
        hint = "Make one with: lookalike index build TABLE -o NAME.lookalike"
        found = "another file" if index is None else f"a saved {type(index).__name__}"
        raise InvalidInput(f"File {os.fspath(path)!r}", f"a saved index (NAME{SAVED})", found, hint)
    return index


def column_names(table: Table) -> list[str]:
    """Return the names of all columns, those set aside too."""
    return [column.name for column in table.every]


def select_columns(table: Table, columns: str | Sequence[str] | None) -> Table:
    """Return a table that is compared by some columns; a text may name several, with commas."""
    if columns is None:
        return table
    every = column_names(table)
    # The name of a column may hold a comma: then it is given alone.
    alone = isinstance(columns, str) and columns in every
    names = [name for name in ([str(columns)] if alone else split_names(columns)) if name]
    for name in names or [str(columns)]:
        if name not in every:
            hint = suggest(name, every)
            raise InvalidInput(Param("columns"), "columns of the table", repr(name), hint)
    return table.compare_by(names)


def split_names(names: Any) -> Any:
    """Return names of columns; a text may hold several, with commas.

    Examples
    --------
    >>> split_names("age, sex"), split_names(["age"])
    (['age', 'sex'], ['age'])
    """
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names


# -- filters as text -------------------------------------------------------------------------------


def read_filter(filter: Any, table: Table) -> Any:
    """Return a filter as ``Index.search`` takes it; conditions may be written as text.

    Examples
    --------
    >>> from lookalike.table import read_table
    >>> table = read_table({"year": [1990.0, 1999.5], "mpaa": ["PG", "R"]})
    >>> read_filter(["year>=1990", "year<2000", "mpaa=PG"], table)
    {'year': {'>=': 1990, '<': 2000}, 'mpaa': {'==': 'PG'}}
    """
    if isinstance(filter, Mapping):
        return _with_pairs(filter) or None
    words = [filter] if isinstance(filter, str) else filter
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return filter
    from lookalike.index.filters import read_texts

    objects = [word for word in words if word.lstrip().startswith("{")]
    kinds = {column.name: column.kind for column in table.every}
    found = read_texts([word for word in words if word not in objects], kinds)
    for given in (_with_pairs(read_json(word, "filter")) for word in objects):
        # One would replace the other, where both have to hold.
        if twice := [*(given.keys() & found.keys())]:
            hint = "Put all conditions on it into the object"
            raise InvalidInput(Param("filter"), "each column once", f"{twice[0]!r} twice", hint)
        found |= given
    return found or None


def _with_pairs(filter: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if _is_pair(value) else value for name, value in filter.items()}


def _is_pair(value: Any) -> bool:
    """Whether JSON has a list for the operator and value that are a pair in Python."""
    from lookalike.index.filters import OPERATORS

    # Another list is the cell of a set, none of whose items is an operator.
    two = isinstance(value, list) and len(value) == 2
    return two and isinstance(value[0], str) and value[0] in OPERATORS
