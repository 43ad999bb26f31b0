"""Growing one isolation tree whose cuts are random projections between two random cells."""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.draw import draw_below, draw_unit
from lookalike.kernels.cell_grow import part_rows, present_rows
from lookalike.kernels.cell_split import VALUE, gap, project, varies


@kernel
def draw_pair(kind, x, rows, m, flat, base, width, state, far, chosen):
    """Draw two rows that differ: any two, or one and the row farthest from it; -1 if none does."""
    p = rows[draw_below(state, m)]
    k, largest = 0, 0.0
    for i in range(m):
        d = gap(kind, x[rows[i]], x[p], flat, base, width)
        if d > largest and far:
            largest, k = d, 0
        if d > 0.0 and (d == largest or not far):
            chosen[k] = rows[i]
            k += 1
    return p, chosen[draw_below(state, k)] if k > 0 else -1


@kernel
def isolate(
    kinds, values, flat, base, width, rows, max_depth, far, state,
    feature, first, second, threshold, left, right, default, entries,
):  # fmt: skip
    """Grow a tree on rows, each once; return the number of nodes, written in preorder.

    A node takes the first column, in random order, on which a cut can be made; the cut is uniform
    between the smallest and the largest projection.
    """
    m_all = rows.shape[0]
    d = kinds.shape[0]
    pool = np.arange(d)
    present, chosen = np.empty(m_all, np.int64), np.empty(m_all, np.int64)
    once = np.ones(values.shape[1], np.int64)
    stack = np.empty((m_all + 1, 5), np.int64)  # low, high, depth, parent, is it a right child
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, m_all, 0, -1, 0
    top, made = 1, 0
    while top > 0:
        top -= 1
        low, high, depth, parent = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if parent >= 0:
            if stack[top, 4]:
                right[parent] = made
            else:
                left[parent] = made
        node = made
        made += 1
        feature[node], first[node], second[node], threshold[node] = -1, -1, -1, 0.0
        left[node], right[node], default[node], entries[node] = -1, -1, 1, high - low
        if high - low < 2 or depth >= max_depth:
            continue
        for drawn in range(d):
            other = drawn + draw_below(state, d - drawn)
            pool[drawn], pool[other] = pool[other], pool[drawn]
            f = pool[drawn]
            kind, x = kinds[f], values[f]
            m = present_rows(x, rows, low, high, present)
            if m < 2 or not varies(kind, x, present, m, once, flat, base[f], width[f], state):
                continue
            p, q = -1, -1
            if kind != VALUE:
                p, q = draw_pair(kind, x, present, m, flat, base[f], width[f], state, far, chosen)
                if q < 0:
                    continue
            a, b = (x[p], x[q]) if kind != VALUE else (0.0, 0.0)
            least, largest = np.inf, -np.inf
            for i in range(m):
                here = project(kind, x[present[i]], a, b, flat, base[f], width[f])
                if not np.isnan(here):
                    least, largest = min(least, here), max(largest, here)
            if not least < largest:
                continue
            u = draw_unit(state)
            # Weighted ends instead of a difference: a range may exceed the largest number.
            cut = (1.0 - u) * least + u * largest
            if not least <= cut < largest:
                cut = least
            lefts, known = 0, 0
            for i in range(m):
                here = project(kind, x[present[i]], a, b, flat, base[f], width[f])
                if not np.isnan(here):
                    known += 1
                    lefts += here <= cut
            feature[node], first[node], second[node], threshold[node] = f, p, q, cut
            default[node] = 2 * lefts >= known
            middle = part_rows(
                kind, x, a, b, cut, default[node], rows, low, high, flat, base[f], width[f]
            )
            stack[top, 0], stack[top, 1], stack[top, 2] = middle, high, depth + 1
            stack[top, 3], stack[top, 4] = node, 1
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2] = low, middle, depth + 1
            stack[top, 3], stack[top, 4] = node, 0
            top += 1
            break
    return made
