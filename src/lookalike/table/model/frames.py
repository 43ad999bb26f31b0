"""A table as a data frame of whatever library the user has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.frames import make_frame
from lookalike._runtime.text import plain

if TYPE_CHECKING:
    from lookalike.table.model.table import Column, Table

PLAIN = ("series", "histogram", "vector", "sequence", "set")  # kinds whose cells are lists


def frame_of(table: Table, backend: str) -> Any:
    """Return the cells of a table as a data frame.

    Parameters
    ----------
    table : Table
    backend : {"pandas", "polars", "pyarrow"}
    """
    columns = {column.name: _cells(column, backend) for column in table.columns + table.aside}
    if columns or backend != "pandas":
        return make_frame(columns, backend)
    import pandas as pd

    return pd.DataFrame(index=range(len(table)))


def _cells(column: Column, backend: str) -> Any:
    kind = column.kind
    if kind.name == "number" and kind.source == "" and backend == "pandas":
        return column.values  # as they are: NaN is a gap in pandas
    cells = [column.cell(row) for row in range(len(column))]
    if kind.name in PLAIN:
        return [None if cell is None else _list(cell) for cell in cells]
    if kind.name in ("graph", "object") and backend != "pandas":
        types = {type(cell) for cell in cells if cell is not None}
        if len(types) > 1 or not types <= {str, int, float, bool}:
            return [None if cell is None else str(plain(cell)) for cell in cells]
    if kind.name in ("category", "order", "flag"):
        types = {type(cell) for cell in cells if cell is not None}
        if len(types) > 1 and backend != "pandas":  # 1 beside "one": a frame has one type
            return [None if cell is None else str(cell) for cell in cells]
    return cells


def _list(cell: Any) -> list[Any]:
    if isinstance(cell, np.ndarray):
        return list(cell.tolist())
    if isinstance(cell, frozenset | set):
        return list(plain(cell))
    return [list(plain(item)) if isinstance(item, frozenset) else item for item in cell]
