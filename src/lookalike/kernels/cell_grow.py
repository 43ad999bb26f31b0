"""Growing one similarity tree on columns that are numbers, categories or matrices of distances.

What is asked for comes as ``limits``: columns tried per node, pairs per column, greatest depth,
fewest entries of a node that is split, fewest entries of a side, the criterion, and three switches:
whether p comes from the least varied class, whether even cuts win ties, and whether thresholds lie
halfway between two projections. The best test so far is kept in ``found`` (score, threshold) and
``test`` (column, p, q, imbalance, place of missing values: 1 for left).
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.draw import draw_below
from lookalike.kernels.cell_split import (
    TABLE,
    TIE,
    VALUE,
    VARIANCE,
    best_cut,
    class_impurity,
    draw_entry,
    gap,
    group_by_class,
    least_varied,
    line_up,
    node_facts,
    project,
    varies,
)

COLUMNS, PAIRS, DEPTH, SPLIT, LEAF, CRITERION, BY_CLASS, BALANCED, MIDPOINT = range(9)


@kernel
def draw_times(state, n, times):
    """Draw n of n rows with replacement and count how often each came."""
    for _ in range(n):
        times[draw_below(state, n)] += 1


@kernel
def present_rows(x, rows, low, high, present):
    """Write the rows of a node whose cell is there; return how many."""
    m = 0
    for i in range(low, high):
        if not np.isnan(x[rows[i]]):
            present[m] = rows[i]
            m += 1
    return m


@kernel
def judge_cut(
    kind,
    rows,
    low,
    high,
    item,
    proj,
    k,
    label,
    target,
    weight,
    times,
    n_classes,
    limits,
    spread,
    floor,
    left,
    right,
):
    """Return (score, imbalance, threshold, default side) of the best cut; score inf: none.

    Rows whose projection is unknown count with the impurity they have among themselves, so that a
    column known for a handful of rows does not look better than one known for all.
    """
    criterion = limits[CRITERION]
    tie = TIE * spread if criterion == VARIANCE else TIE
    step = 0.0
    if kind >= TABLE and k > 0 and np.isfinite(proj[k - 1] - proj[0]):
        # Differences of distances such as 1/3 differ in their last bits where they are equal.
        step = TIE * (proj[k - 1] - proj[0])
    score, imbalance, place = best_cut(
        item, proj, k, label, target, weight, times, n_classes, criterion, limits[LEAF],
        limits[BALANCED], tie, step, floor, left, right,
    )  # fmt: skip
    if place < 0:
        return np.inf, np.int64(0), 0.0, np.int64(1)
    threshold = proj[place]
    if limits[MIDPOINT]:
        middle = proj[place] / 2.0 + proj[place + 1] / 2.0
        if proj[place] <= middle < proj[place + 1]:
            threshold = middle
    n_left, n_known, w_known = 0, 0, 0.0
    for i in range(k):
        n_known += times[item[i]]
        w_known += weight[item[i]]
        if i <= place:
            n_left += times[item[i]]
    if k < high - low:
        score = _with_unknown(
            rows,
            low,
            high,
            item,
            k,
            label,
            target,
            weight,
            n_classes,
            criterion,
            w_known,
            score,
            left,
        )
    return score, imbalance, threshold, np.int64(2 * n_left >= n_known)


@kernel
def _with_unknown(
    rows, low, high, item, k, label, target, weight, n_classes, criterion, w_known, score, left
):
    w_all = 0.0
    if criterion == VARIANCE:
        mean_all, mean_known = 0.0, 0.0
        for i in range(low, high):
            w_all += weight[rows[i]]
            mean_all += weight[rows[i]] * target[rows[i]]
        for i in range(k):
            mean_known += weight[item[i]] * target[item[i]]
        w = w_all - w_known
        if w <= 0.0:
            return score
        mean = (mean_all - mean_known) / w
        square = 0.0
        for i in range(low, high):
            square += weight[rows[i]] * (target[rows[i]] - mean) ** 2
        for i in range(k):
            square -= weight[item[i]] * (target[item[i]] - mean) ** 2
        return (w_known * score + max(square, 0.0)) / w_all
    for c in range(n_classes):
        left[c] = 0.0
    for i in range(low, high):
        w_all += weight[rows[i]]
        left[label[rows[i]]] += weight[rows[i]]
    for i in range(k):
        left[label[item[i]]] -= weight[item[i]]
    w = w_all - w_known
    if w <= 0.0:
        return score
    return (w_known * score + w * class_impurity(left, n_classes, w, criterion)) / w_all


@kernel
def keep_better(f, p, q, score, imbalance, threshold, default, limits, tie, found, test):
    """Take over a test if it is better than the best so far."""
    if score == np.inf:
        return
    even = limits[BALANCED] and score <= found[0] + tie and imbalance < test[3]
    if test[0] < 0 or score < found[0] - tie or even:
        found[0] = min(score, found[0]) if even else score
        found[1] = threshold
        test[0], test[1], test[2], test[3], test[4] = f, p, q, imbalance, default


@kernel
def draw_second(rows, m, p, gaps, label, target, first, spread, by_target, times, state, chosen):
    """Draw q among rows of another class (or of a target further off than spread) away from p.

    ``gaps[i]`` is the distance of row i to p. Returns -1 if there is no such row.
    """
    k = 0
    if by_target:
        for i in range(m):
            if gaps[i] > 0.0 and abs(target[rows[i]] - target[p]) > spread:
                chosen[k] = rows[i]
                k += 1
        if k == 0:
            for i in range(m):
                if gaps[i] > 0.0 and target[rows[i]] != target[p]:
                    chosen[k] = rows[i]
                    k += 1
    else:
        for i in range(m):
            if gaps[i] > 0.0 and label[rows[i]] != first:
                chosen[k] = rows[i]
                k += 1
    return draw_entry(state, chosen, k, times) if k > 0 else -1


@kernel
def try_column(
    f, kind, x, codes, rows, low, high, label, target, weight, times, n_classes, limits, spread,
    floor, flat, base, width, state, found, test,
    present, grouped, ends, gaps, chosen, keys, spare, counts, item, proj, left, right,
):  # fmt: skip
    """Try the tests of one column; return whether its cells vary in this node at all."""
    m = present_rows(x, rows, low, high, present)
    if m < 2 or not varies(kind, x, present, m, times, flat, base, width, state):
        return False
    by_target = limits[CRITERION] == VARIANCE
    tie = TIE * spread if by_target else TIE
    if kind == VALUE:
        k = line_up(
            kind, x, codes, present, m, 0, 0, flat, base, width, keys, spare, counts, item, proj
        )
        score, imbalance, threshold, default = judge_cut(
            kind,
            rows,
            low,
            high,
            item,
            proj,
            k,
            label,
            target,
            weight,
            times,
            n_classes,
            limits,
            spread,
            floor,
            left,
            right,
        )
        keep_better(f, -1, -1, score, imbalance, threshold, default, limits, tie, found, test)
        return True
    first = -1
    if limits[BY_CLASS] and not by_target:
        group_by_class(present, m, label, n_classes, grouped, ends)
        first = least_varied(
            kind,
            x,
            codes,
            grouped,
            ends,
            n_classes,
            times,
            flat,
            base,
            width,
            state,
            keys,
            spare,
            counts,
        )
    for _ in range(limits[PAIRS]):
        if first >= 0:
            p = draw_entry(state, grouped[ends[first] :], ends[first + 1] - ends[first], times)
        else:
            p = draw_entry(state, present, m, times)
        for i in range(m):
            gaps[i] = gap(kind, x[present[i]], x[p], flat, base, width)
        q = draw_second(
            present,
            m,
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
        if q < 0:
            continue
        a, b = (p, q) if limits[BY_CLASS] else (q, p)
        k = line_up(
            kind, x, codes, present, m, a, b, flat, base, width, keys, spare, counts, item, proj
        )
        score, imbalance, threshold, default = judge_cut(
            kind,
            rows,
            low,
            high,
            item,
            proj,
            k,
            label,
            target,
            weight,
            times,
            n_classes,
            limits,
            spread,
            floor,
            left,
            right,
        )
        keep_better(f, a, b, score, imbalance, threshold, default, limits, tie, found, test)
    return True


@kernel
def part_rows(kind, x, p, q, threshold, default, rows, low, high, flat, base, width):
    """Bring the rows that go left to the front, in their order; return where the others begin."""
    i = low
    spare = np.empty(high - low, np.int64)
    k = 0
    for at in range(low, high):
        r = rows[at]
        here = project(kind, x[r], p, q, flat, base, width)
        goes = default == 1 if np.isnan(here) else here <= threshold
        if goes:
            rows[i] = r
            i += 1
        else:
            spare[k] = r
            k += 1
    for j in range(k):
        rows[i + j] = spare[j]
    return i


@kernel
def grow_similarity(
    kinds, values, ranks, flat, base, width, label, target, weight, times, rows, n_classes,
    limits, share, state, feature, first, second, threshold, left, right, default, entries, weights,
    impurities, value,
):  # fmt: skip
    """Grow a tree; return the number of nodes, written in preorder.

    ``first`` and ``second`` are the rows p and q, -1 where a number is tested by itself; ``value``
    holds the class weights of every node, or the mean of its target. ``share`` of all weight is the
    least that a side of a test may have.
    """
    m_all = rows.shape[0]
    d = kinds.shape[0]
    floor = 0.0
    for i in range(m_all):
        floor += share * weight[rows[i]]
    pool = np.arange(d)
    found, test = np.empty(2), np.empty(5, np.int64)
    present, grouped, chosen = (
        np.empty(m_all, np.int64),
        np.empty(m_all, np.int64),
        np.empty(m_all, np.int64),
    )
    ends, counts = np.empty(n_classes + 1, np.int64), np.empty(256, np.int64)
    keys, spare, item = (
        np.empty(m_all, np.int64),
        np.empty(m_all, np.int64),
        np.empty(m_all, np.int64),
    )
    gaps, proj = np.empty(m_all), np.empty(m_all)
    lefts, rights = np.empty(n_classes), np.empty(n_classes)
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
        left[node], right[node], default[node] = -1, -1, 1
        n, w, spread, pure = node_facts(
            rows, low, high, label, target, weight, times, n_classes, limits[CRITERION], value[node]
        )
        entries[node], weights[node], impurities[node] = n, w, spread
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
            f = pool[drawn]
            tried += try_column(
                f, kinds[f], values[f], ranks[f], rows, low, high, label, target, weight, times,
                n_classes, limits, spread, floor, flat, base[f], width[f], state, found, test,
                present, grouped, ends, gaps, chosen, keys, spare, counts, item, proj, lefts,
                rights,
            )  # fmt: skip
        if test[0] < 0:
            continue
        f = test[0]
        p = values[f, test[1]] if test[1] >= 0 else 0.0
        q = values[f, test[2]] if test[1] >= 0 else 0.0
        feature[node], first[node], second[node] = f, test[1], test[2]
        threshold[node], default[node] = found[1], test[4]
        middle = part_rows(
            kinds[f], values[f], p, q, found[1], test[4], rows, low, high, flat, base[f], width[f]
        )
        stack[top, 0], stack[top, 1], stack[top, 2] = middle, high, depth + 1
        stack[top, 3], stack[top, 4] = node, 1
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2] = low, middle, depth + 1
        stack[top, 3], stack[top, 4] = node, 0
        top += 1
    return made
