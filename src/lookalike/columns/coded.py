"""What category, order and flag columns share: cells that are codes of levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput
from lookalike.table.model.table import Column, unknown_code


def codes_in(column: Column, levels: tuple[Any, ...]) -> np.ndarray:
    """Return the codes of a column in terms of the fitted levels.

    A table read on its own may number its levels otherwise; values that were not fitted keep a code
    below -1 that is the same in every call. Such a level of an order that was guessed is missing.
    """
    codes = _codes_in(column, levels)
    return np.maximum(codes, -1) if column.kind.takes_new_levels else codes


def _codes_in(column: Column, levels: tuple[Any, ...]) -> np.ndarray:
    codes = np.asarray(column.values, dtype=np.int64)
    own = tuple(column.kind.levels)
    if own == levels or not own or not levels:
        return codes
    if codes.max(initial=-1) >= len(own):
        found = f"code {int(codes.max())} of {len(own)} levels"
        hint = "Read the table again, or fit the measure again"
        raise InvalidInput(f"column {column.name!r}", "codes of its levels", found, hint)
    place = {level: code for code, level in enumerate(levels)}
    recode = np.array([place.get(v, unknown_code(v)) for v in own], dtype=np.int64)
    out = codes.copy()
    out[codes >= 0] = recode[codes[codes >= 0]]
    for code, value in column.unknown.items():
        if value in place:
            out[codes == code] = place[value]
    return out


def variance_of_codes(codes: np.ndarray, squared: np.ndarray | None = None) -> float:
    """Return half the mean squared distance over all ordered pairs of codes, in one pass.

    ``squared`` holds the squared distances between codes; None: unequal codes are 1 apart.
    """
    level, count = np.unique(codes, return_counts=True)
    n = len(codes)
    if squared is None:
        same = int((count.astype(object) ** 2).sum())
        return (n * n - same) / (2 * n * n)
    return float(count @ squared[np.ix_(level, level)] @ count) / (2 * n * n)
