"""What a map is colored by: few groups with names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.text import short
from lookalike.show.html.markup import COLORS
from lookalike.table.model.targets import holds_classes

BINS = 5  # groups of a target of numbers


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows in groups.

    Parameters
    ----------
    codes : int array of n
        The group of each row, as a place in ``names``.
    names : tuple of str
    title : str
        What the groups are, in words.
    notes : tuple of str
        What makes each group; empty: nothing is known.
    """

    codes: np.ndarray
    names: tuple[str, ...]
    title: str
    notes: tuple[str, ...] = ()


def group_rows(values: np.ndarray, title: str) -> Groups:
    """Put rows into at most as many groups as there are colors.

    Classes are groups, the rare ones together as "other"; numbers are cut at their quintiles; of a
    set the item counts that is the most common in the table.

    Parameters
    ----------
    values : array of n
        Classes, numbers, sets, or numbers of clusters (-1: none).
    title : str
    """
    if len(values) and isinstance(values[0], set | frozenset):
        counts = Counter(item for cell in values for item in cell)
        firsts = [max(cell, key=lambda v: (counts[v], str(v)), default=None) for cell in values]
        return _by_class(firsts, f"{title} (of several the most common)")
    if title != "cluster" and not holds_classes(values):
        return _by_size(np.asarray(values, dtype=np.float64), title)
    cells = list(values.tolist())
    if title == "cluster":
        cells = [None if cell < 0 else f"cluster {cell}" for cell in cells]
    return _by_class(cells, title)


def _by_class(cells: list[Any], title: str) -> Groups:
    counts = Counter(cells)
    ranked = sorted(counts, key=lambda cell: (-counts[cell], str(cell)))
    few = len(ranked) <= len(COLORS)
    kept = ranked if few else ranked[: len(COLORS) - 1]
    if title == "cluster":
        kept = sorted(kept, key=lambda cell: (cell is None, str(cell)))
    names = ["none" if cell is None else short(cell, 20) for cell in kept]
    code = {cell: at for at, cell in enumerate(kept)}
    codes = np.array([code.get(cell, len(kept)) for cell in cells], dtype=np.int64)
    rest = () if few else (f"{len(ranked) - len(kept)} others",)
    return Groups(codes, (*names, *rest), title)


def _by_size(values: np.ndarray, title: str) -> Groups:
    inner = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    codes = np.searchsorted(inner, values, side="right")
    used = np.unique(codes)
    names = []
    for code in used.tolist():
        some = values[codes == code]
        names.append(f"{short(float(some.min()))} to {short(float(some.max()))}")
    return Groups(np.searchsorted(used, codes), tuple(names), title)
