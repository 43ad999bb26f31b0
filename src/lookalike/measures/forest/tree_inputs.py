"""The columns that trees can test, as one matrix with gaps."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike.errors import ColumnsLeftOut, InvalidInput, name_some
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Fields, Flag, Text, TupleOf
from lookalike.table import Table

ORDERED = ("number", "order", "flag", "vector", "histogram")


@saveable
@dataclass(frozen=True)
class TreeInputs:
    """Which columns trees test: their names, the column behind each input, which are categories."""

    FIELDS: ClassVar[Fields] = {
        "names": TupleOf(Text()),
        "owner": TupleOf(Text(), "inputs"),
        "category": TupleOf(Flag(), "inputs"),
        "left_out": TupleOf(Text()),
    }

    names: tuple[str, ...]
    owner: tuple[str, ...]
    category: tuple[bool, ...]
    left_out: tuple[str, ...]


def plan_inputs(table: Table, who: str, categories: bool) -> TreeInputs:
    """Choose the columns that tests can ask about, and say which are left out.

    Parameters
    ----------
    table : Table
    who : str
        Named in errors and warnings.
    categories : bool
        Whether the trees can tell one category from the rest.
    """
    takes = (*ORDERED, "category") if categories else ORDERED
    used = [column for column in table if column.kind.name in takes]
    left_out = tuple(column.name for column in table if column.kind.name not in takes)
    if not used:
        kinds = ", ".join(f"{c.name!r} ({c.kind.name})" for c in table.columns[:4])
        wanted = "at least one column of numbers, ordered levels or flags"
        wanted += " or categories" if categories else ""
        raise InvalidInput(who, wanted, kinds or "none", "Use Gower for such columns")
    if left_out:
        warnings.warn(
            f"{who} leaves out {name_some(left_out)}, which its trees cannot test; "
            "Gower takes every kind of column.",
            ColumnsLeftOut,
            stacklevel=4,
        )
    owner: list[str] = []
    category: list[bool] = []
    for column in used:
        if len(table) and column.missing.all():
            raise InvalidInput(
                who,
                "a value in every column",
                f"{column.name!r} without any (all NaN)",
                "Drop the column",
            )
        width = column.values.shape[1] if column.values.ndim == 2 else 1
        owner += [column.name] * width
        category += [column.kind.name == "category"] * width
    names = tuple(column.name for column in used)
    return TreeInputs(names, tuple(owner), tuple(category), left_out)


def read_inputs(table: Table, inputs: TreeInputs) -> np.ndarray:
    """Return the matrix that trees test: NaN where missing, codes where categories."""
    columns = [table[name] for name in inputs.names]
    single = all(column.values.dtype == np.float32 for column in columns)
    out = np.empty((len(table), len(inputs.owner)), np.float32 if single else np.float64)
    at = 0
    for column in columns:
        values = column.values
        width = values.shape[1] if values.ndim == 2 else 1
        out[:, at : at + width] = values.reshape(len(table), width)
        if values.dtype.kind == "i":
            # A level that was not there when fitting cannot be placed in an order; a category that
            # was not there is one, different from all others.
            unplaced = values == -1 if column.kind.name == "category" else values < 0
            out[unplaced, at] = np.nan
        at += width
    out += 0.0  # -0.0 equals 0.0
    return out


def check_columns(forest: Any, n_inputs: int, owner: tuple[str, ...], who: str) -> None:
    """Refuse a forest that was fitted on other columns than the table has."""
    if len(owner) != n_inputs:
        raise InvalidInput(
            who,
            f"the {n_inputs} columns that the forest was fitted on",
            f"{len(owner)}: " + ", ".join(owner[:8]),
            "Fit the measure on the forest's own columns",
        )
    for expected, found in zip(getattr(forest, "feature_names_in_", ()), owner, strict=False):
        if str(expected) != found:
            raise InvalidInput(
                who,
                "the columns that the forest was fitted on, in their order",
                f"{found!r} in place of {str(expected)!r}",
                "Fit the measure on the forest's own columns",
            )
