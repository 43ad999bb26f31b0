"""Growing a similarity tree where the distances of some columns are computed as they are asked for.

The same steps and the same random numbers as ``kernels.cell_grow``, node by node in Python:
only columns whose matrix of distances would not fit are worth it. Each object column compares one
cell with all members of a node at once.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from lookalike.forests.cell_columns import Cellar
from lookalike.kernels.draw import draw_below
from lookalike.kernels.cell_grow import (
    BY_CLASS,
    COLUMNS,
    CRITERION,
    DEPTH,
    LEAF,
    PAIRS,
    SPLIT,
    draw_second,
    judge_cut,
    keep_better,
    part_rows,
    try_column,
)
from lookalike.kernels.sort import sort_values
from lookalike.kernels.cell_split import (
    EXACT,
    OUTSIDE,
    TABLE_SQUARED,
    TIE,
    VALUE,
    VARIANCE,
    draw_entry,
    node_facts,
)

__all__ = ["grow_objects"]

UNKNOWN = -1.0  # no distance is negative


class _Memory:
    """Distances that one tree has asked for, the oldest forgotten first."""

    def __init__(self, cellar: Cellar, most: int) -> None:
        self.cellar = cellar
        self.most = max(2, most // max(1, len(cellar)))
        self.rows: OrderedDict[tuple[int, int], np.ndarray] = OrderedDict()

    def row(self, f: int, row: int, rows: np.ndarray) -> np.ndarray:
        """Return the distances of a row to others."""
        key = (f, int(self.cellar.same[f][self.cellar.source[f, row]]))
        known = self.rows.get(key)
        if known is None:
            known = self.rows[key] = np.full(len(self.cellar), UNKNOWN)
            if len(self.rows) > self.most:
                self.rows.popitem(last=False)
        self.rows.move_to_end(key)
        lacking = rows[known[rows] == UNKNOWN]
        if len(lacking):
            known[lacking] = self.cellar.distances(f, row, lacking)
        return np.asarray(known[rows])

    def block(self, f: int, rows: np.ndarray) -> np.ndarray:
        """Return the distances of a few rows to each other."""
        return self.cellar.block(f, rows)


def grow_objects(
    cellar: Cellar,
    label: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    times: np.ndarray,
    rows: np.ndarray,
    n_classes: int,
    limits: np.ndarray,
    share: float,
    state: np.ndarray,
    most: int,
    node: tuple[np.ndarray, ...],
) -> int:
    """Grow a tree; return the number of nodes. See ``kernels.cell_grow.grow_similarity``.

    Parameters
    ----------
    cellar, label, target, weight, times, rows, n_classes, limits, share, state
        As for the kernel.
    most : int
        Distances that the tree may remember.
    node : arrays that the nodes are written to
    """
    feature, first, second, threshold, left, right, default, entries, weights, impurities, value = (
        node
    )
    d, m_all = len(cellar.columns), len(rows)
    pool = np.arange(d)
    found, test = np.empty(2), np.empty(5, np.int64)
    whole = [np.empty(m_all, np.int64) for _ in range(6)]
    present, grouped, chosen, keys, spare, item = whole
    ends, counts = np.empty(n_classes + 1, np.int64), np.empty(256, np.int64)
    gaps, proj = np.empty(m_all), np.empty(m_all)
    lefts, rights = np.empty(n_classes), np.empty(n_classes)
    memory = _Memory(cellar, most)
    floor = 0.0
    for r in rows:  # in the order of the kernel, to the last bit
        floor += share * weight[r]
    stack = [(0, m_all, 0, -1, False)]
    made = 0
    while stack:
        low, high, depth, parent, is_right = stack.pop()
        if parent >= 0:
            (right if is_right else left)[parent] = made
        at = made
        made += 1
        feature[at], first[at], second[at], threshold[at] = -1, -1, -1, 0.0
        left[at], right[at], default[at] = -1, -1, 1
        n, w, spread, pure = node_facts(
            rows, low, high, label, target, weight, times, n_classes, limits[CRITERION], value[at]
        )
        entries[at], weights[at], impurities[at] = n, w, spread
        if (
            pure
            or depth >= limits[DEPTH]
            or n < limits[SPLIT]
            or n < 2 * limits[LEAF]
            or w < 2 * floor
        ):
            continue
        test[0] = -1
        tried = 0
        for drawn in range(d):
            if tried >= limits[COLUMNS]:
                break
            other = drawn + draw_below(state, d - drawn)
            pool[drawn], pool[other] = pool[other], pool[drawn]
            f = int(pool[drawn])
            if cellar.kinds[f] == OUTSIDE:
                tried += _try_objects(
                    memory, f, rows, low, high, label, target, weight, times, n_classes,
                    limits, spread, floor, state, found, test, chosen, counts, lefts, rights,
                )  # fmt: skip
                continue
            tried += try_column(
                f, cellar.kinds[f], cellar.values[f], cellar.ranks[f], rows, low, high, label,
                target, weight, times, n_classes, limits, spread, floor, cellar.flat,
                cellar.base[f], cellar.width[f], state, found, test, present, grouped, ends,
                gaps, chosen, keys, spare, counts, item, proj, lefts, rights,
            )  # fmt: skip
        if test[0] < 0:
            continue
        feature[at], first[at], second[at] = test[0], test[1], test[2]
        threshold[at], default[at] = found[1], test[4]
        middle = _part(memory, test, found[1], rows, low, high)
        stack.append((middle, high, depth + 1, at, True))
        stack.append((low, middle, depth + 1, at, False))
    return made


def _projections(memory: _Memory, f: int, p: int, q: int, rows: np.ndarray) -> np.ndarray:
    to_p, to_q = memory.row(f, p, rows), memory.row(f, q, rows)
    with np.errstate(invalid="ignore"):  # both infinitely far: the projection is unknown
        if memory.cellar.columns[f].kind == TABLE_SQUARED:
            return np.asarray(to_q * to_q - to_p * to_p)
        return np.asarray(to_q - to_p)


def _part(
    memory: _Memory, test: np.ndarray, threshold: float, rows: np.ndarray, low: int, high: int
) -> int:
    cellar, f = memory.cellar, int(test[0])
    if cellar.kinds[f] != OUTSIDE:
        x = cellar.values[f]
        p, q = (x[test[1]], x[test[2]]) if cellar.kinds[f] != VALUE else (0.0, 0.0)
        return int(
            part_rows(
                cellar.kinds[f],
                x,
                p,
                q,
                threshold,
                test[4],
                rows,
                low,
                high,
                cellar.flat,
                cellar.base[f],
                cellar.width[f],
            )
        )
    here = rows[low:high].copy()
    goes = np.full(len(here), bool(test[4]))
    known = np.flatnonzero(~np.isnan(cellar.values[f][here]))
    values = _projections(memory, f, int(test[1]), int(test[2]), here[known])
    told = ~np.isnan(values)
    goes[known[told]] = values[told] <= threshold
    middle = low + int(goes.sum())
    rows[low:middle], rows[middle:high] = here[goes], here[~goes]
    return middle


def _varies(memory: _Memory, f: int, rows: np.ndarray, times: np.ndarray, state: Any) -> bool:
    if len(rows) <= EXACT:
        return bool((memory.block(f, rows) > 0).any())
    pivot = draw_entry(state, rows, len(rows), times)
    return bool((memory.row(f, int(pivot), rows) > 0).any())


def _spread(memory: _Memory, f: int, rows: np.ndarray, times: np.ndarray, state: Any) -> float:
    """Return half the mean squared distance of some rows; summed in the order of the kernel."""
    square, count = 0.0, 0
    if len(rows) <= EXACT:
        block = memory.block(f, rows)
        t = times[rows]
        pairs = zip(block.ravel(), np.outer(t, t).ravel(), strict=True)
        for distance, often in pairs:
            if not np.isnan(distance):
                square += often * distance * distance
                count += often
        return square / (2.0 * count) if count else 0.0
    pivot = draw_entry(state, rows, len(rows), times)
    for distance, often in zip(memory.row(f, int(pivot), rows), times[rows], strict=True):
        if not np.isnan(distance):
            square += often * distance * distance
            count += often
    return square / count if count else 0.0


def _try_objects(
    memory: _Memory, f: int, rows: np.ndarray, low: int, high: int, label: np.ndarray,
    target: np.ndarray, weight: np.ndarray, times: np.ndarray, n_classes: int, limits: np.ndarray,
    spread: float, floor: float, state: np.ndarray, found: np.ndarray, test: np.ndarray,
    chosen: np.ndarray, counts: np.ndarray, lefts: np.ndarray, rights: np.ndarray,
) -> bool:  # fmt: skip
    """Try the tests of one column of objects; return whether its cells vary in this node."""
    here = rows[low:high]
    here = here[~np.isnan(memory.cellar.values[f][here])]
    if len(here) < 2 or not _varies(memory, f, here, times, state):
        return False
    by_target = bool(limits[CRITERION] == VARIANCE)
    tie = TIE * spread if by_target else TIE
    members = here
    if limits[BY_CLASS] and not by_target:
        least = np.inf
        for c in range(n_classes):
            group = here[label[here] == c]
            if not len(group):
                continue
            varied = _spread(memory, f, group, times, state)
            if members is here or varied < least * (1.0 - TIE):
                members, least = group, varied
    for _ in range(limits[PAIRS]):
        p = int(draw_entry(state, members, len(members), times))
        gaps = memory.row(f, p, here)
        q = int(
            draw_second(
                here,
                len(here),
                p,
                gaps,
                label,
                target,
                label[p],
                np.sqrt(spread),
                by_target,
                times,
                state,
                chosen,
            )
        )
        if q < 0:
            continue
        a, b = (p, q) if limits[BY_CLASS] else (q, p)
        proj = _projections(memory, f, a, b, here)
        told = ~np.isnan(proj)
        item, proj = here[told], proj[told]
        sort_values(proj, item, len(item), counts)
        score, imbalance, threshold, default = judge_cut(
            OUTSIDE, rows, low, high, item, proj, len(item), label, target, weight, times,
            n_classes, limits, spread, floor, lefts, rights,
        )  # fmt: skip
        keep_better(f, a, b, score, imbalance, threshold, default, limits, tie, found, test)
    return True
