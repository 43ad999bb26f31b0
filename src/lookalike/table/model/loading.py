"""What must hold of the cells of a column that comes from a file."""

from __future__ import annotations

import numpy as np

from lookalike.saving.fields import require
from lookalike.table.model.kind import Kind

CODED = ("category", "order", "flag")  # kept as whole numbers, -1 where missing
MATRIX = ("histogram", "vector")  # kept as one matrix, a row of NaN where missing

CELLS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "set": (frozenset,),
    "sequence": (tuple,),
    "series": (np.ndarray,),
}


def check_cells(values: np.ndarray, kind: Kind, where: str) -> None:
    """Refuse a loaded column whose cells are not what its kind says."""
    if kind.name == "number":
        require(values.dtype.kind == "f" and values.ndim == 1, where, "numbers", str(values.dtype))
    elif kind.name in CODED:
        require(values.dtype.kind == "i" and values.ndim == 1, where, "codes", str(values.dtype))
        most = len(kind.levels) if kind.levels or kind.name != "flag" else 2
        require(values.max(initial=-1) < most, where, f"codes below {most}", "others")
    elif values.dtype != object:
        matrix = kind.name in MATRIX and values.ndim == 2
        require(matrix, where, f"cells of kind {kind.name}", str(values.dtype))
    else:
        allowed = CELLS.get(kind.name, (np.ndarray, list, tuple) if kind.name in MATRIX else ())
        if kind.name == "series":
            fine = all(
                cell is None
                or (isinstance(cell, np.ndarray) and cell.ndim == 1 and cell.dtype == np.float64)
                for cell in values
            )
            require(fine, where, "one-dimensional arrays of float64", "others")
        elif kind.name != "object":
            types = set(map(type, values)) - {*allowed, type(None)}
            if kind.name == "graph":
                types = {one for one in types if one.__name__ != "Graph"}
            shown = ", ".join(sorted(one.__name__ for one in types))
            require(not types, where, f"cells of kind {kind.name}", shown)
            if kind.name in ("set", "sequence"):
                require(_can_be_looked_up(values), where, "items that can be looked up", "others")


def _can_be_looked_up(values: np.ndarray) -> bool:
    """Whether the items of every cell can be counted: a list inside a sequence cannot."""
    try:
        for cell in values:
            hash(cell)
    except TypeError:
        return False
    return True
