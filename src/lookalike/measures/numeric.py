"""The numbers of a table as one matrix, for measures that take nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.errors import ColumnsLeftOut, InvalidInput, name_some
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Fields, Text, TupleOf, require
from lookalike.table import LazyTable, Schema, Table
from lookalike.table.model.table import MATRIX
from lookalike.table.model.tally import Tally

NUMERIC = ("number", "vector", "histogram")


@saveable
@dataclass(frozen=True)
class Layout:
    """Which columns a matrix is made of: their names, and the column each entry belongs to."""

    FIELDS: ClassVar[Fields] = {
        "names": TupleOf(Text()),
        "owner": TupleOf(Text()),
        "left_out": TupleOf(Text()),
    }

    names: tuple[str, ...]
    owner: tuple[str, ...]
    left_out: tuple[str, ...]


def plan(table: Table, who: str) -> Layout:
    """Choose the number columns, and say which columns are left out."""
    used = [column for column in table if column.kind.name in NUMERIC]
    left_out = tuple(c.name for c in table if c.kind.name not in NUMERIC)
    if not used:
        kinds = ", ".join(f"{c.name!r} ({c.kind.name})" for c in table.columns[:4])
        raise InvalidInput(
            who, "at least one number column", kinds or "none", "Use Gower for such columns"
        )
    if left_out:
        warnings.warn(
            f"{who} compares numbers only and leaves out {name_some(left_out)}; "
            "Gower takes every kind of column.",
            ColumnsLeftOut,
            stacklevel=4,
        )
    owner: list[str] = []
    for column in used:
        owner += [column.name] * (column.values.shape[1] if column.values.ndim == 2 else 1)
    return Layout(tuple(c.name for c in used), tuple(owner), left_out)


def numbers(table: Table, layout: Layout, who: str) -> np.ndarray:
    """Return the matrix of a layout, C-contiguous; gaps and infinities are an error."""
    columns = [table[name] for name in layout.names]
    single = all(column.values.dtype == np.float32 for column in columns)
    out = np.empty((len(table), len(layout.owner)), dtype=np.float32 if single else np.float64)
    at = 0
    for column in columns:
        width = column.values.shape[1] if column.values.ndim == 2 else 1
        out[:, at : at + width] = column.values.reshape(len(table), width)
        at += width
    with np.errstate(over="ignore", invalid="ignore"):
        total = out.sum(dtype=np.float64)
    if not np.isfinite(total):  # cheap first look; a sum may also overflow
        bad = ~np.isfinite(out)
        if bad.any():
            row, j = (int(i[0]) for i in np.nonzero(bad))
            gap = bool(np.isnan(out[row, j]))
            what = "missing values (NaN)" if gap else "infinite values (inf)"
            hint = "Drop or fill these rows, or use Gower, which takes gaps as they are"
            raise InvalidInput(
                who,
                "numbers without gaps or infinities",
                f"{int(bad.sum()):,} {what}, the first in row {row}, column {layout.owner[j]!r}",
                hint if gap else "Replace the infinities or drop these rows",
            )
    return out


def matrix_tallies(table: LazyTable, layout: Layout, who: str) -> Iterator[Tally]:
    """Yield the distinct values of every entry of the matrix of a table in files.

    A column at a time; gaps and infinities are an error, as in ``numbers``.
    """
    for name in layout.names:
        tallies = [Tally() for owner in layout.owner if owner == name]
        if table.like[name].values.ndim == 1:
            tallies = [table.tally(name)]
        else:
            for part in table.column(name):
                for tally, entry in zip(tallies, part.values.T, strict=True):
                    tally.add(entry)
        for tally in tallies:
            if tally.missing or tally.infinite >= 0:
                _refuse_column(table, name, who)
            yield tally


def _refuse_column(table: LazyTable, name: str, who: str) -> None:
    """Name the first row that has no finite number."""
    first = 0
    for part in table.column(name):
        bad = ~np.isfinite(part.values.reshape(len(part), -1)).all(axis=1)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            found = f"one without in row {first + row}, column {name!r}"
            hint = "Drop or fill these rows, or use Gower, which takes gaps as they are"
            raise InvalidInput(who, "numbers without gaps or infinities", found, hint)
        first += len(part)


def check_owners(schema: Schema, names: Iterable[str], owner: tuple[str, ...], where: str) -> None:
    """Refuse a loaded layout whose columns are not those of the table, entry by entry."""
    expected: list[str] = []
    for name in names:
        kind = schema.kinds.get(name)
        require(kind is not None, where, "columns of the table", repr(name[:40]))
        assert kind is not None
        width = kind.width if kind.name in MATRIX else 1
        require(len(expected) + width <= len(owner), where, "an owner for every entry", "fewer")
        expected += [name] * width
    require(tuple(expected) == owner, where, "the columns of the table in their order", "others")
