"""Growing one isolation tree whose cuts are random projections between two random cells."""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.cell_grow import close_node, open_node, part_rows, present_rows
from lookalike.kernels.cell_split import gap, project, varies
from lookalike.kernels.cell_types import VALUE, column_of, make_best
from lookalike.kernels.draw import draw_below, draw_next, draw_unit
from lookalike.kernels.nodes import MADE, WAITING, stack_root


@kernel
def draw_different(column, rows, m, state, far, chosen):
    """Draw two rows that differ: any two, or one and the row farthest from it; -1 if none does."""
    x = column.values
    p = rows[draw_below(state, m)]
    k, largest = 0, 0.0
    for i in range(m):
        d = gap(column.kind, x[rows[i]], x[p], column.flat, column.base, column.width)
        if d > largest and far:
            largest, k = d, 0
        if d > 0.0 and (d == largest or not far):
            chosen[k] = rows[i]
            k += 1
    return p, chosen[draw_below(state, k)] if k > 0 else -1


@kernel
def cut_randomly(f, column, rows, m, p, q, state, best):
    """Cut uniformly between the smallest and the largest projection; return whether it can be."""
    kind, x, flat, base, width = (
        column.kind, column.values, column.flat, column.base, column.width,
    )  # fmt: skip
    a, b = (x[p], x[q]) if kind != VALUE else (0.0, 0.0)
    least, largest = np.inf, -np.inf
    for i in range(m):
        here = project(kind, x[rows[i]], a, b, flat, base, width)
        if not np.isnan(here):
            least, largest = min(least, here), max(largest, here)
    if not least < largest:
        return False
    u = draw_unit(state)
    # Weighted ends instead of a difference: a range may exceed the largest number.
    cut = (1.0 - u) * least + u * largest
    if not least <= cut < largest:
        cut = least
    lefts, known = 0, 0
    for i in range(m):
        here = project(kind, x[rows[i]], a, b, flat, base, width)
        if not np.isnan(here):
            known += 1
            lefts += here <= cut
    best.score[1] = cut
    best.test[0], best.test[1], best.test[2] = f, p, q
    best.test[4] = 2 * lefts >= known
    return True


@kernel
def isolate(cells, rows, max_depth, far, state, tree):
    """Grow a tree on rows, each once; return the number of nodes, written in preorder.

    A node takes the first column, in random order, on which a cut can be made.
    """
    pool = np.arange(cells.kinds.shape[0])
    present, chosen = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0], np.int64)
    once = np.ones(cells.values.shape[1], np.int64)
    best, stack = make_best(), stack_root(rows.shape[0])
    while stack.count[WAITING] > 0:
        node, low, high, depth = open_node(stack, tree)
        if high - low < 2 or depth >= max_depth:
            continue
        for drawn in range(pool.shape[0]):
            f = draw_next(state, pool, drawn)
            column = column_of(cells, f)
            m = present_rows(column.values, rows, low, high, present)
            if m < 2 or not varies(column, present, m, once, state):
                continue
            p, q = -1, -1
            if column.kind != VALUE:
                p, q = draw_different(column, present, m, state, far, chosen)
                if q < 0:
                    continue
            if cut_randomly(f, column, present, m, p, q, state, best):
                middle = part_rows(column, p, q, best.score[1], best.test[4], rows, low, high)
                close_node(stack, tree, node, best, low, middle, high, depth)
                break
    return stack.count[MADE]
