"""A set's size beside the printed one: what every paper's table of data sets holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.result import Value


def size_row(name: str, x: Any, y: np.ndarray, printed: tuple[int, int, int]) -> dict[str, Any]:
    """Return rows, columns and classes of a set, each beside the printed count.

    Parameters
    ----------
    name : str, of the set
    x : array of shape (n_rows, n_columns)
    y : array of n_rows classes
    printed : rows, columns and classes as printed
    """
    found = (*x.shape, len(np.unique(y)))
    row: dict[str, Any] = {"set": name}
    for title, ours, theirs in zip(("rows", "columns", "classes"), found, printed, strict=True):
        row[title] = Value(ours, theirs, 0, digits=0)
    return row
