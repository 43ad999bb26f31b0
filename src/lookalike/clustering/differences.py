"""How the cells of some rows differ from those of the rest, column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lookalike._runtime.text import percent, plain, short
from lookalike.show.reasons import Style, style_of
from lookalike.table import Column

WORDS = 40  # characters of a level or an item
PURE = 0.95  # share of one level from which a cluster is said to have that level
MIXED = 0.8  # up to which it is said to have several
PART = 0.05  # share of all rows from which a cluster is looked at for that, and of it a level
ITEMS = ("set", "sequence", "text")  # cells that are taken apart


@dataclass(frozen=True)
class ColumnDifference:
    """How one column of a cluster differs from the rest of the table.

    Parameters
    ----------
    column, kind : str
    what : {"median", "mean", "share", "missing"}
        Whether medians are compared, means (of numbers whose medians are the same), shares of rows
        with ``value``, or shares of gaps.
    value : level, item or None
        The level that is more frequent inside, or the item of a set, sequence or text whose share
        differs most.
    inside, outside : number, level or share
        In the cluster, and in all other rows.
    size : float
        How large the difference is, from 0 to 1: for medians and means the rank-biserial
        correlation (Cliff's delta, without its sign), for levels half the sum of the differences of
        their shares (total variation), else the difference of the two shares. Where cells are
        missing, times the share of known cells, the smaller one of both sides.
    style : Style, optional
        How the column writes its numbers.
    """

    column: str
    kind: str
    what: str
    value: Any
    inside: Any
    outside: Any
    size: float
    style: Style | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as values that JSON can hold."""
        return {name: plain(value) for name, value in vars(self).items() if name != "style"}

    def __str__(self) -> str:
        if self.what in ("mean", "median"):
            inside, outside = (self._write(side) for side in (self.inside, self.outside))
            mean = "mean " if self.what == "mean" else ""
            return f"{self.column} {mean}{inside} (others {outside})"
        shares = f"{percent(self.inside)} (others {percent(self.outside)})"
        if self.what == "missing":
            return f"{self.column} missing {shares}"
        return f"{self.column} {short(self.value, WORDS)} {shares}"

    def _write(self, middle: Any) -> str:
        """Write a number as its column does, with one more digit where it lies between two."""
        if self.style is None:
            return short(middle)
        style = self.style
        if isinstance(middle, float) and 0 <= style.decimals < 2:
            sides = (self.inside, self.outside)
            between = max(map(abs, sides)) < 100 and any(
                round(m, style.decimals) != m for m in sides
            )
            style = replace(style, decimals=style.decimals + between)
        return style.write(middle)


def column_differences(column: Column, labels: np.ndarray, n_clusters: int) -> list[Any]:
    """Return for each cluster how the column differs from all other rows, or None.

    Parameters
    ----------
    column : Column
    labels : int array of n
        The cluster of each row, -1 for none.
    n_clusters : int

    Returns
    -------
    list of ColumnDifference or None, one per cluster
        None where nothing can be said: no rows on one side, or cells without medians and levels.
    """
    gaps = column.missing
    found: list[Any] = [None] * n_clusters
    if column.kind.name in ("number", "order"):
        found = _by_rank(column, labels, gaps, n_clusters)
    elif column.kind.name in ("category", "flag"):
        found = _by_level(column, labels, gaps, n_clusters)
    elif column.kind.name in ITEMS:
        found = _by_item(column, labels, gaps, n_clusters)
    for cluster in range(n_clusters):
        inside = labels == cluster
        if gaps.any() and inside.any() and not inside.all():
            shares = float(gaps[inside].mean()), float(gaps[~inside].mean())
            missing = ColumnDifference(
                column.name, column.kind.name, "missing", None, *shares, abs(shares[0] - shares[1])
            )
            values = found[cluster]
            if values is not None:  # a few known cells say little about all
                found[cluster] = replace(values, size=values.size * (1 - max(shares)))
            if missing.size > (0.0 if values is None else found[cluster].size):
                found[cluster] = missing
    return found


def divided_by(column: Column, labels: np.ndarray, n_clusters: int) -> dict[int, Any]:
    """Return the clusters that a column of levels divides, each with the level it has.

    Empty unless at least two clusters have a level each, not the same, while another cluster has
    several: then the column cut a part of the rows in two, and says nothing about the others.
    Very small clusters, and such that mostly have no cell here, are not looked at.
    """
    if column.kind.name not in ("category", "flag", "order"):
        return {}
    gaps = column.missing
    pure: dict[int, Any] = {}
    mixed = False
    for cluster in range(n_clusters):
        members = labels == cluster
        inside = np.flatnonzero(members & ~gaps)
        if members.sum() < PART * len(labels) or 2 * len(inside) < members.sum():
            continue
        _, first, counts = np.unique(column.values[inside], return_index=True, return_counts=True)
        share = counts.max() / len(inside)
        if share >= PURE:
            pure[cluster] = column.cell(int(inside[first[counts.argmax()]]))
        mixed = mixed or share <= MIXED
    return pure if mixed and len(set(pure.values())) > 1 else {}


def _by_rank(column: Column, labels: np.ndarray, gaps: np.ndarray, n_clusters: int) -> list[Any]:
    """Compare middles; sizes come from ranks, so no scale and no outlier matters."""
    from scipy.stats import rankdata

    known = np.flatnonzero(~gaps)
    ranks = rankdata(column.values[known])
    groups = labels[known]
    by_level: list[Any] = []  # made once, if it is needed
    style = style_of(column)
    found: list[Any] = []
    for cluster in range(n_clusters):
        inside = groups == cluster
        few = int(inside.sum())
        if few == 0 or few == len(known):
            found.append(None)
            continue
        gap = ranks[inside].mean() - ranks[~inside].mean()
        size = min(1.0, abs(float(2 * gap / len(known))))
        what, middles = _middles(column, known[inside], known[~inside])
        if middles[0] == middles[1] and column.kind.name == "order":
            by_level = by_level or _by_level(column, labels, gaps, n_clusters)
            found.append(by_level[cluster])
            continue
        found.append(
            ColumnDifference(
                column.name, column.kind.name, what, None, middles[0], middles[1], size, style
            )
        )
    return found


def _middles(column: Column, inside: np.ndarray, outside: np.ndarray) -> tuple[str, list[Any]]:
    """Return the medians of two groups of rows, or the means where these tell nothing."""
    if column.kind.name == "order" or column.kind.source:
        return "median", [_middle_cell(column, side) for side in (inside, outside)]
    medians = [float(np.median(column.values[side])) for side in (inside, outside)]
    if medians[0] != medians[1]:
        return "median", medians
    return "mean", [float(column.values[side].mean()) for side in (inside, outside)]


def _middle_cell(column: Column, at: np.ndarray) -> Any:
    """Return the cell in the middle, the lower one of two: levels and dates have no mean."""
    values = column.values[at]
    middle = (len(values) - 1) // 2
    return column.cell(int(at[np.argpartition(values, middle)[middle]]))


def _by_level(column: Column, labels: np.ndarray, gaps: np.ndarray, n_clusters: int) -> list[Any]:
    known = np.flatnonzero(~gaps)
    levels, first, codes = np.unique(column.values[known], return_index=True, return_inverse=True)
    whole = np.bincount(codes, minlength=len(levels))
    found: list[Any] = []
    for cluster in range(n_clusters):
        counts = np.bincount(codes[labels[known] == cluster], minlength=len(levels))
        few = int(counts.sum())
        if few == 0 or few == len(known):
            found.append(None)
            continue
        inside, outside = counts / few, (whole - counts) / (len(known) - few)
        top = int((inside - outside).argmax())
        if inside[top] < PART:  # codes of which everybody has another one set nothing apart
            found.append(None)
            continue
        found.append(
            ColumnDifference(
                column.name,
                column.kind.name,
                "share",
                column.cell(int(known[first[top]])),
                float(inside[top]),
                float(outside[top]),
                float(np.abs(inside - outside).sum() / 2),
            )
        )
    return found


def _by_item(column: Column, labels: np.ndarray, gaps: np.ndarray, n_clusters: int) -> list[Any]:
    """Compare how many rows have an item, or a word of a text."""
    counts: list[Counter[Any]] = [Counter() for _ in range(n_clusters + 1)]
    rows = np.zeros(n_clusters + 1, dtype=np.int64)  # the last place is noise
    for row in np.flatnonzero(~gaps):
        label = int(labels[row])
        counts[label].update(_items(column.values[row]))
        rows[label] += 1
    whole: Counter[Any] = sum(counts, Counter())
    found: list[Any] = []
    for cluster in range(n_clusters):
        few, rest = int(rows[cluster]), int(rows.sum() - rows[cluster])
        best = None
        if few and rest:
            own = counts[cluster]
            for item, many in whole.items():
                inside, outside = own[item] / few, (many - own[item]) / rest
                size = abs(inside - outside)
                # Ties go to the item that is more frequent inside, then by name.
                rank = (size, inside - outside)
                if best is None or rank > best[0] or (rank == best[0] and str(item) < best[1]):
                    best = rank, str(item), item, inside, outside
        if best is None:
            found.append(None)
            continue
        _, _, item, inside, outside = best
        found.append(
            ColumnDifference(
                column.name, column.kind.name, "share", item, inside, outside, best[0][0]
            )
        )
    return found


def _items(cell: Any) -> Iterable[Any]:
    """Return the different items of a cell; of a text, its words in lower case."""
    return set(cell.lower().split()) if isinstance(cell, str) else set(cell)
