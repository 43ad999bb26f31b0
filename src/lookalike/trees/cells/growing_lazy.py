"""Growing a similarity tree where the distances of some columns are computed as they are asked for.

The same steps and the same random numbers as ``kernels.cells``, node by node in Python: only
columns whose matrix of distances would not fit are worth it. Each object column compares one cell
with all members of a node at once.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from lookalike._runtime.threads import check_stopped
from lookalike.kernels.cells import (
    EXACT,
    OUTSIDE,
    TABLE_SQUARED,
    TIE,
    VARIANCE,
    BestTest,
    CellTree,
    NodeRows,
    Scratch,
    SplitRules,
    Targets,
    close_node,
    column_of,
    describe_node,
    draw_entry,
    draw_second,
    judge_cut,
    keep_better,
    least_weight,
    make_best,
    make_scratch,
    open_node,
    part_rows,
    try_column,
)
from lookalike.kernels.growing import MADE, WAITING, draw_next, sort_values, stack_root
from lookalike.trees.cells.cache import CellCache

UNKNOWN = -1.0  # no distance is negative


class DistanceMemory:
    """Distances that one tree has asked for, the oldest forgotten first."""

    def __init__(self, cache: CellCache, most: int) -> None:
        self.cache = cache
        self.most = max(2, most // max(1, len(cache)))
        self.rows: OrderedDict[tuple[int, int], np.ndarray] = OrderedDict()

    def row(self, f: int, row: int, rows: np.ndarray) -> np.ndarray:
        """Return the distances of a row to others."""
        key = (f, int(self.cache.same[f][self.cache.source[f, row]]))
        known = self.rows.get(key)
        if known is None:
            known = self.rows[key] = np.full(len(self.cache), UNKNOWN)
            if len(self.rows) > self.most:
                self.rows.popitem(last=False)
        self.rows.move_to_end(key)
        lacking = rows[known[rows] == UNKNOWN]
        if len(lacking):
            known[lacking] = self.cache.distances(f, row, lacking)
        return np.asarray(known[rows])

    def block(self, f: int, rows: np.ndarray) -> np.ndarray:
        """Return the distances of a few rows to each other."""
        return self.cache.block(f, rows)


def grow_lazily(
    cache: CellCache,
    targets: Targets,
    rows: np.ndarray,
    rules: SplitRules,
    share: float,
    state: np.ndarray,
    most: int,
    tree: CellTree,
) -> int:
    """Grow a tree; return the number of nodes. See ``kernels.cells.grow_similarity``.

    Parameters
    ----------
    cache, targets, rows, rules, share, state
        As for the kernel.
    most : int
        Distances that the tree may remember.
    tree : CellTree
        Where the nodes are written.
    """
    floor = least_weight(share, targets.weight, rows)
    pool = np.arange(len(cache.columns))
    best, scratch = make_best(), make_scratch(len(rows), targets.n_classes)
    memory = DistanceMemory(cache, most)
    stack = stack_root(len(rows))

    def tries(f: int, node: NodeRows) -> bool:
        if cache.arrays.kinds[f] == OUTSIDE:
            return _try_objects(memory, f, node, targets, rules, state, best, scratch)
        column = column_of(cache.arrays, f)
        return bool(try_column(f, column, node, targets, rules, state, best, scratch))

    while stack.count[WAITING]:
        check_stopped()
        at, low, high, depth = open_node(stack, tree)
        node, splits = describe_node(tree, at, rows, low, high, depth, targets, rules, floor)
        best.test[0] = -1
        drawn = tried = 0
        while splits and drawn < len(pool) and tried < rules.max_columns:
            tried += tries(int(draw_next(state, pool, drawn)), node)
            drawn += 1
        if best.test[0] >= 0:
            middle = _part(memory, best, rows, low, high)
            close_node(stack, tree, at, best, low, middle, high, depth)
    return int(stack.count[MADE])


def _projections(memory: DistanceMemory, f: int, p: int, q: int, rows: np.ndarray) -> np.ndarray:
    to_p, to_q = memory.row(f, p, rows), memory.row(f, q, rows)
    with np.errstate(invalid="ignore"):  # both infinitely far: the projection is unknown
        if memory.cache.columns[f].kind == TABLE_SQUARED:
            return np.asarray(to_q * to_q - to_p * to_p)
        return np.asarray(to_q - to_p)


def _part(memory: DistanceMemory, best: BestTest, rows: np.ndarray, low: int, high: int) -> int:
    """Bring the rows that go left to the front, as ``part_rows`` does for the other columns."""
    arrays, (f, p, q, _, default), threshold = memory.cache.arrays, best.test, best.score[1]
    if arrays.kinds[f] != OUTSIDE:
        column = column_of(arrays, f)
        return int(part_rows(column, p, q, threshold, default, rows, low, high))
    here = rows[low:high].copy()
    goes = np.full(len(here), bool(default))
    known = np.flatnonzero(~np.isnan(arrays.values[f][here]))
    values = _projections(memory, int(f), int(p), int(q), here[known])
    is_known = ~np.isnan(values)
    goes[known[is_known]] = values[is_known] <= threshold
    middle = low + int(goes.sum())
    rows[low:middle], rows[middle:high] = here[goes], here[~goes]
    return middle


def _varies(
    memory: DistanceMemory, f: int, rows: np.ndarray, times: np.ndarray, state: Any
) -> bool:
    if len(rows) <= EXACT:
        return bool((memory.block(f, rows) > 0).any())
    pivot = draw_entry(state, rows, len(rows), times)
    return bool((memory.row(f, int(pivot), rows) > 0).any())


def _spread(
    memory: DistanceMemory, f: int, rows: np.ndarray, times: np.ndarray, state: Any
) -> float:
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
    memory: DistanceMemory,
    f: int,
    node: NodeRows,
    targets: Targets,
    rules: SplitRules,
    state: np.ndarray,
    best: BestTest,
    scratch: Scratch,
) -> bool:
    """Try the tests of one column of objects; return whether its cells vary in this node."""
    label, times = targets.label, targets.times
    here = node.rows[node.low : node.high]
    here = here[~np.isnan(memory.cache.arrays.values[f][here])]
    if len(here) < 2 or not _varies(memory, f, here, times, state):
        return False
    by_target = bool(rules.criterion == VARIANCE)
    tie = TIE * node.impurity if by_target else TIE
    members = here
    if rules.by_class and not by_target:
        least = np.inf
        for c in range(targets.n_classes):
            group = here[label[here] == c]
            if not len(group):
                continue
            varied = _spread(memory, f, group, times, state)
            if members is here or varied < least * (1.0 - TIE):
                members, least = group, varied
    for _ in range(rules.max_pairs):
        p = int(draw_entry(state, members, len(members), times))
        scratch.gaps[: len(here)] = memory.row(f, p, here)
        spread = np.sqrt(node.impurity)
        q = int(draw_second(here, len(here), p, spread, by_target, targets, state, scratch))
        if q < 0:
            continue
        a, b = (p, q) if rules.by_class else (q, p)
        proj = _projections(memory, f, a, b, here)
        known = ~np.isnan(proj)
        k = int(known.sum())
        scratch.item[:k], scratch.proj[:k] = here[known], proj[known]
        sort_values(scratch.proj, scratch.item, k, scratch.counts)
        cut = judge_cut(OUTSIDE, node, k, targets, rules, scratch)
        keep_better(f, a, b, cut, rules, tie, best)
    return True
