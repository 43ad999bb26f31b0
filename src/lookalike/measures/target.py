"""The target that a table may carry: an array beside it, or one of its columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, message
from lookalike.table import Table

__all__ = ["split_target"]


def split_target(table: Table, y: Any, who: str) -> tuple[Table, np.ndarray | None]:
    """Return the table without its target, and the target as an array of n without gaps."""
    if y is None:
        return table, None
    if isinstance(y, str):
        column = table[y]
        if column.missing.any():
            raise _gaps(who, int(column.missing.sum()), int(np.flatnonzero(column.missing)[0]))
        rest = table.drop(y)
        kind = replace(column.kind, reason="the target")
        rest = Table(
            rest.columns, (*rest.aside, replace(column, kind=kind)), len(table), table.missing
        )
        if column.kind.name == "number":
            return rest, np.asarray(column.values)
        cells = [column.cell(i) for i in range(len(column))]
        return rest, np.asarray(cells)
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1 or len(target) != len(table):
        raise InvalidInput(
            message(
                who,
                f"one target value for each of the {len(table)} rows",
                f"an array of shape {target.shape}",
                "Pass y as an array of n values or as the name of a column",
            )
        )
    gaps = np.zeros(len(target), dtype=bool)
    if target.dtype.kind == "f":
        gaps = np.isnan(target)
    elif target.dtype == object:
        gaps = np.fromiter((v is None or v != v for v in target), bool, len(target))
    if gaps.any():
        raise _gaps(who, int(gaps.sum()), int(np.flatnonzero(gaps)[0]))
    return table, target


def _gaps(who: str, count: int, first: int) -> InvalidInput:
    return InvalidInput(
        message(
            who,
            "a target without gaps",
            f"{count} missing values (NaN), the first in row {first}",
            "Drop these rows or fill them",
        )
    )
