"""One candidate test of a similarity tree: whom to compare with, and where to cut.

Rows that were drawn several times count ``times[row]``. See ``cell_types`` for what a test is.
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.cell_types import (
    CATEGORY,
    ENTROPY,
    GINI,
    NUMBER,
    SQUARED,
    TABLE,
    VALUE,
    VARIANCE,
)
from lookalike.kernels.draw import draw_below
from lookalike.kernels.sort import RANK, sort_keys, sort_values

EXACT = 32  # rows; up to here all pairs are compared for a variance
TIE = 1e-12  # impurities closer than this are equal


@kernel
def project(kind, x, p, q, flat, base, width):
    """Return the projection of a cell between two others; NaN where it cannot be told."""
    if np.isnan(x):
        return np.nan
    if kind == NUMBER:
        # Beyond p and q the projection is constant; computed literally it would only be nearly so.
        x = min(max(x, min(p, q)), max(p, q))
        return abs(q - x) - abs(p - x)
    if kind == SQUARED:
        return (q - p) * ((q - x) + (p - x))
    if kind == VALUE:
        return x
    if kind == CATEGORY:
        return (1.0 if x != q else 0.0) - (1.0 if x != p else 0.0)
    to_p = flat[base + width * int(p) + int(x)]
    to_q = flat[base + width * int(q) + int(x)]
    if kind == TABLE:
        return to_q - to_p
    return to_q * to_q - to_p * to_p


@kernel
def gap(kind, x, p, flat, base, width):
    """Return the distance of two cells; NaN where one is missing."""
    if np.isnan(x) or np.isnan(p):
        return np.nan
    if kind <= VALUE:
        return abs(x - p)
    if kind == CATEGORY:
        return 1.0 if x != p else 0.0
    return flat[base + width * int(p) + int(x)]


@kernel
def draw_entry(state, rows, m, times):
    """Return one of the first m rows, each as likely as it has entries."""
    total = 0
    for i in range(m):
        total += times[rows[i]]
    left = draw_below(state, total)
    i = 0
    while left >= times[rows[i]]:
        left -= times[rows[i]]
        i += 1
    return rows[i]


@kernel
def group_by_class(rows, m, label, n_classes, grouped, ends):
    """Write the rows class after class; class c has ``grouped[ends[c]:ends[c + 1]]``."""
    for c in range(n_classes + 1):
        ends[c] = 0
    for i in range(m):
        ends[label[rows[i]] + 1] += 1
    for c in range(n_classes):
        ends[c + 1] += ends[c]
    for i in range(m):
        c = label[rows[i]]
        grouped[ends[c]] = rows[i]
        ends[c] += 1
    for c in range(n_classes, 0, -1):
        ends[c] = ends[c - 1]
    ends[0] = 0


@kernel
def spread_of_numbers(x, rows, start, stop, times):
    """Return the population variance of some rows, exactly 0 if all are equal."""
    first = x[rows[start]]
    total, count, same = 0.0, 0, True
    for i in range(start, stop):
        r = rows[i]
        total += times[r] * (x[r] - first)
        count += times[r]
        same = same and x[r] == first
    if same:
        return 0.0
    mean = total / count
    square = 0.0
    for i in range(start, stop):
        r = rows[i]
        off = x[r] - first - mean
        square += times[r] * off * off
    return square / count


@kernel
def spread_of_codes(codes, rows, start, stop, times, keys, spare, counts):
    """Return the variance of categories: half the share of pairs that differ."""
    m = stop - start
    for i in range(m):
        r = rows[start + i]
        keys[i] = (np.int64(codes[r]) << RANK) | r
    found = sort_keys(keys, m, RANK, spare, counts)
    total, same, run, before = 0, 0, 0, -1
    for i in range(m):
        code = found[i] >> RANK
        if code != before:
            same += run * run
            run, before = 0, code
        t = times[found[i] & 0xFFFFFFFF]
        run += t
        total += t
    same += run * run
    return (total * total - same) / (2.0 * total * total)


@kernel
def spread_of_cells(column, rows, start, stop, times, state):
    """Return half the mean squared distance, of all pairs or, of many rows, to one drawn row."""
    x, flat, base, width = column.values, column.flat, column.base, column.width
    square, count = 0.0, 0
    if stop - start <= EXACT:
        for i in range(start, stop):
            a = rows[i]
            for j in range(start, stop):
                b = rows[j]
                d = flat[base + width * int(x[a]) + int(x[b])]
                if not np.isnan(d):
                    square += times[a] * times[b] * d * d
                    count += times[a] * times[b]
        return square / (2.0 * count) if count > 0 else 0.0
    pivot = int(x[draw_entry(state, rows[start:], stop - start, times)])
    for i in range(start, stop):
        r = rows[i]
        d = flat[base + width * pivot + int(x[r])]
        if not np.isnan(d):
            square += times[r] * d * d
            count += times[r]
    return square / count if count > 0 else 0.0


@kernel
def varies(column, rows, m, times, state):
    """Whether any two of the first m rows differ; of many objects, from one drawn at random."""
    x, flat, base, width = column.values, column.flat, column.base, column.width
    if column.kind < TABLE:
        for i in range(1, m):
            if x[rows[i]] != x[rows[0]]:
                return True
        return False
    if m <= EXACT:
        for i in range(m):
            for j in range(m):
                if flat[base + width * int(x[rows[i]]) + int(x[rows[j]])] > 0.0:
                    return True
        return False
    pivot = int(x[draw_entry(state, rows, m, times)])
    for i in range(m):
        if flat[base + width * pivot + int(x[rows[i]])] > 0.0:
            return True
    return False


@kernel
def least_varied(column, targets, state, scratch):
    """Return the class whose members vary least; ties: the first. Rows come grouped by class."""
    grouped, ends = scratch.grouped, scratch.ends
    first, least = -1, np.inf
    for c in range(targets.n_classes):
        start, stop = ends[c], ends[c + 1]
        if stop == start:
            continue
        if column.kind < CATEGORY:
            spread = spread_of_numbers(column.values, grouped, start, stop, targets.times)
        elif column.kind == CATEGORY:
            spread = spread_of_codes(
                column.ranks, grouped, start, stop, targets.times, scratch.keys, scratch.spare,
                scratch.counts,
            )  # fmt: skip
        else:
            spread = spread_of_cells(column, grouped, start, stop, targets.times, state)
        if first < 0 or spread < least * (1.0 - TIE):
            first, least = c, spread
    return first


@kernel
def line_up(column, rows, m, p, q, scratch):
    """Write the rows and their projections in ascending order; return how many can be told."""
    kind, x, codes = column.kind, column.values, column.ranks
    flat, base, width = column.flat, column.base, column.width
    keys, item, proj = scratch.keys, scratch.item, scratch.proj
    if kind >= TABLE:
        k = 0
        for i in range(m):
            here = project(kind, x[rows[i]], x[p], x[q], flat, base, width)
            if not np.isnan(here):
                item[k], proj[k] = rows[i], here
                k += 1
        sort_values(proj, item, k, scratch.counts)
        return k
    if kind == CATEGORY:
        low, high = 0, m
        for i in range(m):
            if x[rows[i]] == x[q]:
                item[low], proj[low] = rows[i], -1.0
                low += 1
            elif x[rows[i]] == x[p]:
                high -= 1
                item[high], proj[high] = rows[i], 1.0
        for i in range(m):
            if x[rows[i]] != x[q] and x[rows[i]] != x[p]:
                item[low], proj[low] = rows[i], 0.0
                low += 1
        return m
    # A number's projection falls from p to q, so ranks give the order; ends need no sorting.
    falls = kind != VALUE and codes[p] < codes[q]
    floor, ceiling = np.int64(-1), np.int64(1) << 31
    if kind == NUMBER:
        floor, ceiling = min(codes[p], codes[q]), max(codes[p], codes[q])
    inside, low, high = 0, 0, m
    for i in range(m):
        r = rows[i]
        code = codes[r]
        if floor < code < ceiling:
            keys[inside] = (np.int64(code) << RANK) | r
            inside += 1
        elif (code <= floor) == falls:
            high -= 1
            item[high] = r
        else:
            item[low] = r
            low += 1
    found = sort_keys(keys, inside, RANK, scratch.spare, scratch.counts)
    for i in range(inside):
        item[low + i] = found[inside - 1 - i if falls else i] & 0xFFFFFFFF
    if kind == NUMBER:
        bottom = project(kind, x[q], x[p], x[q], flat, base, width)
        for i in range(low):
            proj[i] = bottom
        top = project(kind, x[p], x[p], x[q], flat, base, width)
        for i in range(high, m):
            proj[i] = top
    for i in range(low, low + inside):
        proj[i] = project(kind, x[item[i]], x[p], x[q], flat, base, width)
    return m


@kernel
def node_facts(rows, low, high, targets, criterion, totals):
    """Return entries, weight and impurity of a node, and whether it is pure.

    ``totals`` becomes the weight of each class, or the mean of the target.
    """
    label, target, weight, times = targets.label, targets.amount, targets.weight, targets.times
    n_classes = targets.n_classes
    for c in range(n_classes):
        totals[c] = 0.0
    n, w, pure = 0, 0.0, True
    first = rows[low]
    for i in range(low, high):
        r = rows[i]
        n += times[r]
        w += weight[r]
        if criterion == VARIANCE:
            totals[0] += weight[r] * (target[r] - target[first])
            pure = pure and target[r] == target[first]
        else:
            totals[label[r]] += weight[r]
            pure = pure and label[r] == label[first]
    if criterion == VARIANCE:
        mean = target[first] + totals[0] / w
        totals[0] = mean
        square = 0.0
        for i in range(low, high):
            off = target[rows[i]] - mean
            square += weight[rows[i]] * off * off
        return n, w, 0.0 if pure else square / w, pure
    return n, w, class_impurity(totals, n_classes, w, criterion), pure


@kernel
def class_impurity(totals, n_classes, weight, criterion):
    """Return the Gini impurity, or the entropy in bits, of class weights."""
    if weight <= 0.0:
        return 0.0
    score = 1.0 if criterion == GINI else 0.0
    for c in range(n_classes):
        share = totals[c] / weight
        if criterion == GINI:
            score -= share * share
        elif share > 0.0:
            score -= share * np.log2(share)
    return max(score, 0.0)


@kernel
def best_cut(k, targets, rules, tie, step, floor, scratch):
    """Return the best (score, imbalance, place) of a cut between different projections.

    The first k items of ``scratch`` are in the order of their projections. Projections within
    ``step`` of each other are one, and each side weighs at least ``floor``. The score is the mean
    impurity of the two sides, by weight; scores within ``tie`` are equal, and then the more even
    cut wins if ``balanced``. Place i cuts behind item i; -1: there is no cut.
    """
    item, proj, left, right = scratch.item, scratch.proj, scratch.left, scratch.right
    label, target, weight, times = targets.label, targets.amount, targets.weight, targets.times
    n_classes, criterion, min_leaf = targets.n_classes, rules.criterion, rules.min_leaf
    balanced = rules.balanced
    for c in range(n_classes):
        left[c], right[c] = 0.0, 0.0
    n_all, w_all, mean = 0, 0.0, 0.0
    for i in range(k):
        r = item[i]
        n_all += times[r]
        w_all += weight[r]
        if criterion == VARIANCE:
            mean += weight[r] * (target[r] - target[item[0]])
        else:
            right[label[r]] += weight[r]
    squares_left, squares_right, sum_left, sum_right = 0.0, 0.0, 0.0, 0.0
    if criterion == GINI:
        for c in range(n_classes):
            squares_right += right[c] * right[c]
    elif criterion == VARIANCE:
        mean = target[item[0]] + mean / w_all  # sums of what is near 0 keep their digits
        for i in range(k):
            off = target[item[i]] - mean
            sum_right += weight[item[i]] * off
            squares_right += weight[item[i]] * off * off
    best, imbalance, place = np.inf, np.int64(0), -1
    n_left, w_left = 0, 0.0
    for i in range(k - 1):
        r = item[i]
        w = weight[r]
        n_left += times[r]
        w_left += w
        if criterion == VARIANCE:
            off = target[r] - mean
            sum_left += w * off
            sum_right -= w * off
            squares_left += w * off * off
            squares_right -= w * off * off
        else:
            c = label[r]
            if criterion == GINI:  # (a + w)^2 - a^2: many classes cost no more than two
                squares_left += w * (2.0 * left[c] + w)
                squares_right -= w * (2.0 * right[c] - w)
            left[c] += w
            right[c] -= w
        if proj[i + 1] - proj[i] <= step or n_left < min_leaf or n_all - n_left < min_leaf:
            continue
        w_right = w_all - w_left
        if w_left < floor or w_right < floor or w_left <= 0.0 or w_right <= 0.0:
            continue
        if criterion == GINI:
            score = 1.0 - (squares_left / w_left + squares_right / w_right) / w_all
        elif criterion == ENTROPY:
            score = w_left * class_impurity(left, n_classes, w_left, criterion)
            score = (score + w_right * class_impurity(right, n_classes, w_right, criterion)) / w_all
        else:
            score = squares_left - sum_left * sum_left / w_left
            score = (score + squares_right - sum_right * sum_right / w_right) / w_all
        uneven = abs(n_all - 2 * n_left)
        if score < best - tie:
            best, imbalance, place = score, uneven, i
        elif balanced and score <= best + tie and uneven < imbalance:
            best, imbalance, place = min(best, score), uneven, i
    return best, imbalance, place
