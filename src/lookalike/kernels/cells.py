"""Growing and walking similarity trees, whose tests compare a cell with two cells of fitted rows.

A test on column f is a pair of rows p and q and a threshold: a row x is projected to
``d(q, x) - d(p, x)`` and goes left if that is at most the threshold. Columns are numbers,
categories or matrices of distances.
"""

import math
from typing import NamedTuple

import numpy as np

from lookalike.kernels import growing
from lookalike.kernels._jit import kernel

# -- the named tuples of arrays that the kernels take ----------------------------------------------

NUMBER, SQUARED, VALUE, CATEGORY, TABLE, TABLE_SQUARED, UNCACHED = range(7)
GINI, ENTROPY, VARIANCE = range(3)


class CellColumns(NamedTuple):
    """The cells of all columns.

    Parameters
    ----------
    kinds : int64 (columns,)
        One of NUMBER, ..., UNCACHED.
    values : float64 (columns, rows)
        Numbers, codes of categories, or places in a matrix of distances; NaN where missing.
    ranks : int32 (columns, rows)
        The same as integers in the order of the values.
    flat : float64
        Matrices of distances, one after another: ``flat[base[f] + width[f] * i + j]`` is the
        distance of cells i and j of column f.
    base, width : int64 (columns,)
    """

    kinds: np.ndarray
    values: np.ndarray
    ranks: np.ndarray
    flat: np.ndarray
    base: np.ndarray
    width: np.ndarray


class CellColumn(NamedTuple):
    """One of the columns of ``CellColumns``."""

    kind: int
    values: np.ndarray
    ranks: np.ndarray
    flat: np.ndarray
    base: int
    width: int


class Targets(NamedTuple):
    """What a tree learns: a class or an amount per row, its weight, and how often it was drawn."""

    label: np.ndarray
    amount: np.ndarray
    weight: np.ndarray
    times: np.ndarray
    n_classes: int


class SplitRules(NamedTuple):
    """What is asked of a tree and of its tests, in numbers.

    Parameters
    ----------
    max_columns, max_pairs : int
        Columns tried per node, pairs of cells tried per column.
    max_depth, min_split, min_leaf : int
        Greatest depth, fewest entries of a node that is split, fewest entries of a side.
    criterion : int
        GINI, ENTROPY or VARIANCE.
    by_class, balanced, midpoint, random : int
        Whether p comes from the least varied class, whether even cuts win ties, whether thresholds
        lie halfway between two projections, and whether they are drawn.
    isolate : int
        1 or 2 for isolation trees, which have no target: q is any row that differs from p (1), or
        the one farthest from it (2), and the first column that can be cut is taken. Amounts of
        which no two are equal keep nodes from being pure.
    floor : float
        The least weight of a side.
    """

    max_columns: int
    max_pairs: int
    max_depth: int
    min_split: int
    min_leaf: int
    criterion: int
    by_class: int
    balanced: int
    midpoint: int
    random: int
    isolate: int
    floor: float


class NodeRows(NamedTuple):
    """The rows of a node, ``rows[low:high]``, and its impurity."""

    rows: np.ndarray
    low: int
    high: int
    impurity: float


class Scratch(NamedTuple):
    """Memory that the tests of a tree share, and the best test so far.

    That is ``score``, its score and threshold, and ``test``: (column, p, q, imbalance, default
    side). The column is -1 before the first; the side of missing values is 1 for left.
    """

    present: np.ndarray
    grouped: np.ndarray
    ends: np.ndarray
    gaps: np.ndarray
    keys: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    tally: np.ndarray
    item: np.ndarray
    proj: np.ndarray
    left: np.ndarray
    right: np.ndarray
    score: np.ndarray
    test: np.ndarray


class CellTree(NamedTuple):
    """The nodes of a tree, written as it grows.

    ``first`` and ``second`` are the rows p and q, -1 where a number is tested by itself; ``value``
    holds the class weights of every node, or the mean of its target.
    """

    feature: np.ndarray
    first: np.ndarray
    second: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    default: np.ndarray
    entries: np.ndarray
    weights: np.ndarray
    impurities: np.ndarray
    value: np.ndarray


@kernel
def column_of(cells, f):
    """Return one column."""
    return CellColumn(
        cells.kinds[f], cells.values[f], cells.ranks[f], cells.flat, cells.base[f], cells.width[f]
    )


# Made by numpy: numba would compile each kind of array for most of a tenth of a second.


def make_scratch(n_rows: int, n_classes: int, n_codes: int = 0) -> Scratch:
    """Return memory for trees of so many rows, classes, and different cells of a column."""
    present, grouped, keys, spare, item = np.empty((5, n_rows), np.int64)
    gaps, proj = np.empty((2, n_rows))
    ends, counts = np.empty(n_classes + 1, np.int64), np.empty(256, np.int64)
    tally = np.zeros(max(n_rows, n_codes), np.int64)
    left, right = np.empty((2, n_classes))
    return Scratch(
        present, grouped, ends, gaps, keys, spare, counts, tally, item, proj, left, right,
        np.empty(2), np.full(5, -1),
    )  # fmt: skip


def make_tree(most: int, n_classes: int) -> CellTree:
    """Return arrays for so many nodes, all of which are leaves."""
    feature, first, second, left, right = np.full((5, most), -1, np.int32)
    return CellTree(
        feature, first, second, np.zeros(most), left, right, np.ones(most, np.uint8),
        np.zeros(most, np.int64), np.zeros(most), np.zeros(most), np.zeros((most, n_classes)),
    )  # fmt: skip


# -- one candidate test: which cells to compare with, and where to cut -----------------------------
#
# Rows that were drawn several times count ``times[row]``.

MAX_ROWS_ALL_PAIRS = 32  # rows; up to here all pairs are compared for a variance
TIE_TOLERANCE = 1e-12  # impurities closer than this are equal


@kernel
def project(kind, x, p, q, flat, base, width):
    """Return the projection of a cell between two others; NaN where it is undefined."""
    if x != x:  # NaN; numba's ``isnan`` is a function of arrays, which takes longer to compile
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
def cell_distance(kind, x, p, flat, base, width):
    """Return the distance of two cells; NaN where one is missing."""
    if x != x or p != p:
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
    # A row that was drawn several times is one entry each time. A linear search, as the sum above
    # has read all rows anyway.
    left = growing.draw_below(state, total)
    i = 0
    while left >= times[rows[i]]:
        left -= times[rows[i]]
        i += 1
    return rows[i]


@kernel
def variance_of_numbers(x, rows, start, stop, times):
    """Return the population variance of some rows, exactly 0 if all are equal."""
    # Deviations from the first value, not from 0: a large common offset would cost digits.
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
def variance_of_codes(codes, rows, start, stop, times, tally):
    """Return the variance of categories: half the share of pairs that differ.

    ``tally`` is 0 for every code, before and after.
    """
    total, same = 0, 0
    for i in range(start, stop):
        tally[codes[rows[i]]] += times[rows[i]]
        total += times[rows[i]]
    for i in range(start, stop):
        code = codes[rows[i]]
        same += tally[code] * tally[code]
        tally[code] = 0
    # Half of 1 - sum of squared shares: the mean squared distance of two entries over 2, as for
    # numbers, where unequal categories are at distance 1. Integers up to here, so exact.
    return (total * total - same) / (2.0 * total * total)


@kernel
def variance_of_cells(column, rows, start, stop, times, state):
    """Return half the mean squared distance, of all pairs or, of many rows, to one drawn row."""
    x, flat, base, width = column.values, column.flat, column.base, column.width
    square, count = 0.0, 0
    # All pairs cost O(m^2): beyond the limit the distances to one drawn row estimate the same.
    exact = stop - start <= MAX_ROWS_ALL_PAIRS
    pivot = -1 if exact else draw_entry(state, rows[start:], stop - start, times)
    for i in range(start, stop if exact else start + 1):
        a = rows[i] if exact else pivot
        often = times[a] if exact else 1
        for j in range(start, stop):
            b = rows[j]
            d = flat[base + width * int(x[a]) + int(x[b])]
            if d == d:
                square += often * times[b] * d * d
                count += often * times[b]
    # Halved either way: over all rows that may be drawn, the estimate has the exact value as mean.
    return square / (2.0 * count) if count > 0 else 0.0


@kernel
def varies(column, rows, m, times, state):
    """Whether any two of the first m rows differ; of many objects, from one drawn at random."""
    x = column.values
    if column.kind >= TABLE:
        return variance_of_cells(column, rows, 0, m, times, state) > 0.0
    for i in range(1, m):
        if x[rows[i]] != x[rows[0]]:
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
            spread = variance_of_numbers(column.values, grouped, start, stop, targets.times)
        elif column.kind == CATEGORY:
            tally = scratch.tally
            spread = variance_of_codes(column.ranks, grouped, start, stop, targets.times, tally)
        else:
            spread = variance_of_cells(column, grouped, start, stop, targets.times, state)
        # A relative tolerance: variances of one class in two orders of rows differ in their last
        # bits, and the first class must win either way.
        if first < 0 or spread < least * (1.0 - TIE_TOLERANCE):
            first, least = c, spread
    return first


@kernel
def sort_by_projection(column, rows, m, p, q, scratch):
    """Write the rows and their projections in ascending order; return how many are defined."""
    kind, x, codes, flat, base, width = column
    keys, item, proj = scratch.keys, scratch.item, scratch.proj
    if kind >= TABLE:
        k = 0
        for i in range(m):
            here = project(kind, x[rows[i]], x[p], x[q], flat, base, width)
            if here == here:
                item[k], proj[k] = rows[i], here
                k += 1
        # Rows come in ascending order, which those of one projection keep.
        growing.sort_values(proj, item, k, scratch.gaps, scratch.spare)
        return k
    # Only cells between p and q differ in their projection, so only these are sorted; of categories
    # none, as they project to three values. A number's projection falls from p to q, so ranks give
    # the order.
    falls = kind < VALUE and codes[p] < codes[q]
    floor, ceiling = np.int64(-1), np.int64(1) << 31
    if kind == NUMBER:
        floor, ceiling = min(codes[p], codes[q]), max(codes[p], codes[q])
    inside, low, high = 0, 0, m
    for i in range(m):
        r = rows[i]
        code = codes[r]
        if floor < code < ceiling and (kind != CATEGORY or (code != codes[p] and code != codes[q])):
            keys[inside] = (np.int64(code) << growing.RANK_SHIFT) | r
            inside += 1
        elif code == codes[p] if kind == CATEGORY else (code <= floor) == falls:
            high -= 1
            item[high] = r
        else:
            item[low] = r
            low += 1
    found = keys
    if kind != CATEGORY:
        found = growing.sort_keys(keys, inside, growing.RANK_SHIFT, scratch.spare, scratch.counts)
    for i in range(inside):
        item[low + i] = found[inside - 1 - i if falls else i] & 0xFFFFFFFF
    for i in range(m):
        # Beyond p and q all projections are equal.
        at = q if i < low else p if i >= high else item[i]
        proj[i] = project(kind, x[at], x[p], x[q], flat, base, width)
    return m


@kernel
def describe_node(tree, at, rows, low, high, depth, targets, rules):
    """Write the facts of a node; return its rows, and whether a test is to be looked for.

    ``tree.value[at]`` becomes the weight of each class, or the mean of the target.
    """
    label, target, weight, times = targets.label, targets.amount, targets.weight, targets.times
    totals, impurity = tree.value[at], 0.0
    for c in range(targets.n_classes):
        totals[c] = 0.0
    n, w, pure = 0, 0.0, True
    first = rows[low]
    for i in range(low, high):
        r = rows[i]
        n += times[r]
        w += weight[r]
        if rules.criterion == VARIANCE:
            totals[0] += weight[r] * (target[r] - target[first])
            pure = pure and target[r] == target[first]
        else:
            totals[label[r]] += weight[r]
            pure = pure and label[r] == label[first]
    if rules.criterion == VARIANCE:
        mean = target[first] + totals[0] / w
        totals[0] = mean
        square = 0.0
        for i in range(low, high):
            off = target[rows[i]] - mean
            square += weight[rows[i]] * off * off
        impurity = 0.0 if pure else square / w
    else:
        impurity = class_impurity(totals, targets.n_classes, w, rules.criterion)
    tree.entries[at], tree.weights[at], tree.impurities[at] = n, w, impurity
    enough = n >= rules.min_split and n >= 2 * rules.min_leaf and not w < 2 * rules.floor
    splits = enough and not pure and depth < rules.max_depth
    return NodeRows(rows, low, high, impurity), splits


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
    # Rounding may leave a pure node just below 0.
    return max(score, 0.0)


@kernel
def best_cut(k, targets, rules, tie, step, only, scratch):
    """Return the best (score, surplus, place) of a cut between different projections, and a weight.

    The first k items of ``scratch`` are in the order of their projections. Projections within
    ``step`` of each other are one. The score is the mean impurity of the two sides, by weight;
    scores within ``tie`` are equal, and then the more even cut wins if ``balanced``. Place i cuts
    behind item i; -1: there is no cut. The surplus is by how many entries the right side is larger,
    and the weight that of all k items. ``only`` is the one place that is looked at; -1: all.
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
    best, surplus, place = np.inf, np.int64(0), -1
    n_left, w_left = 0, 0.0
    # One pass from left to right: an item leaves the right side and joins the left one, so a cut
    # costs O(1), for entropy O(classes).
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
        if i != only and only >= 0:
            continue
        w_right = w_all - w_left
        if min(w_left, w_right) < rules.floor or min(w_left, w_right) <= 0.0:
            continue
        if criterion == GINI:
            score = 1.0 - (squares_left / w_left + squares_right / w_right) / w_all
        elif criterion == ENTROPY:
            score = w_left * class_impurity(left, n_classes, w_left, criterion)
            score = (score + w_right * class_impurity(right, n_classes, w_right, criterion)) / w_all
        else:
            score = squares_left - sum_left * sum_left / w_left
            score = (score + squares_right - sum_right * sum_right / w_right) / w_all
        more = n_all - 2 * n_left
        if score < best - tie:
            best, surplus, place = score, more, i
        elif balanced and score <= best + tie and abs(more) < abs(surplus):
            best, surplus, place = min(best, score), more, i
    return best, surplus, place, w_all


# -- growing one tree ------------------------------------------------------------------------------


@kernel
def try_cut(f, p, q, kind, node, k, targets, rules, state, scratch):
    """Find the best cut of a test's projections; take it over if none before was better.

    The first k items of ``scratch`` are in the order of their projections. Rows whose projection is
    unknown count with the impurity they have among themselves, so that a column known for a handful
    of rows does not look better than one known for all.
    """
    proj, found, test = scratch.proj, scratch.score, scratch.test
    if k < 2:  # as where all rows are infinitely far from both cells
        return
    # A variance has the square of the target's unit; Gini and entropy have none.
    tie = TIE_TOLERANCE * node.impurity if rules.criterion == VARIANCE else TIE_TOLERANCE
    step, only, drawn = 0.0, -1, 0.0
    if kind >= TABLE and not rules.isolate and abs(proj[k - 1] - proj[0]) < np.inf:
        # Differences of distances such as 1/3 differ in their last bits where they are equal.
        step = TIE_TOLERANCE * (proj[k - 1] - proj[0])
    if rules.random and proj[0] < proj[k - 1]:
        drawn = growing.draw_between(state, proj[0], proj[k - 1])
        while proj[only + 1] <= drawn:
            only += 1
    score, surplus, place, w_known = best_cut(k, targets, rules, tie, step, only, scratch)
    if place < 0:
        return
    threshold = proj[place] if only < 0 else drawn
    if rules.midpoint and only < 0:
        middle = proj[place] / 2.0 + proj[place + 1] / 2.0
        if proj[place] <= middle < proj[place + 1]:
            threshold = middle
    if step > 0.0:
        # A new row that projects to the same place may be off by its last bits as well, and must
        # go the same way. Between a quarter and half of the step, so the next row stays on its
        # side; a power of two, so that equal thresholds of two nodes stay equal.
        little = step / math.frexp(step)[0] / 4.0
        threshold = min(threshold + little, proj[place + 1] - little)
    if k < node.high - node.low:
        # Weighted by what is known and unknown, so that scores of columns with more and fewer
        # missing cells compare.
        score = _with_unknown(node, k, targets, rules.criterion, w_known, score, scratch)
    # A tie goes to the more even cut; the lower of the two scores stays, so that a chain of ties
    # cannot drift upwards.
    better = test[0] < 0 or score < found[0] - tie
    even = rules.balanced and score <= found[0] + tie and abs(surplus) < test[3]
    if score != np.inf and (better or even):
        found[0], found[1] = score if better else min(score, found[0]), threshold
        test[0], test[1], test[2], test[3], test[4] = f, p, q, abs(surplus), surplus <= 0


@kernel
def _with_unknown(node, k, targets, criterion, w_known, score, scratch):
    """Return the score of a cut once the rows that it says nothing about count as well."""
    rows, low, high, item, left = node.rows, node.low, node.high, scratch.item, scratch.left
    label, target, weight = targets.label, targets.amount, targets.weight
    n_classes = targets.n_classes
    w_all = 0.0
    for i in range(low, high):
        w_all += weight[rows[i]]
    w = w_all - w_known
    if w <= 0.0:
        return score
    if criterion == VARIANCE:
        mean_all, mean_known = 0.0, 0.0
        for i in range(low, high):
            mean_all += weight[rows[i]] * target[rows[i]]
        for i in range(k):
            mean_known += weight[item[i]] * target[item[i]]
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
        left[label[rows[i]]] += weight[rows[i]]
    for i in range(k):
        left[label[item[i]]] -= weight[item[i]]
    return (w_known * score + w * class_impurity(left, n_classes, w, criterion)) / w_all


@kernel
def draw_second(rows, m, p, spread, rules, targets, state, scratch):
    """Draw q among rows of another class (or of a target further off than spread) away from p.

    ``scratch.gaps[i]`` is the distance of row i to p. Returns -1 if there is no such row.
    """
    gaps, chosen, label, target = scratch.gaps, scratch.keys, targets.label, targets.amount
    # Where no target is further off than the spread, any other target will do: a limit of 0.
    for limit in (spread, 0.0):
        k, largest = 0, 0.0
        for i in range(m):
            if rules.criterion == VARIANCE:
                other = abs(target[rows[i]] - target[p]) > limit
            else:
                other = label[rows[i]] != label[p]
            # A farther row empties the list of candidates; equally far ones are drawn from.
            if rules.isolate == 2 and gaps[i] > largest:
                largest, k = gaps[i], 0
            if other and gaps[i] > 0.0 and gaps[i] >= largest:
                chosen[k] = rows[i]
                k += 1
        if k > 0:
            return draw_entry(state, chosen, k, targets.times)
    return -1


@kernel
def try_column(f, column, node, targets, rules, state, scratch):
    """Try the tests of one column; return whether its cells vary in this node at all.

    Of an isolation tree, return whether the column can be cut.
    """
    kind, x, present = column.kind, column.values, scratch.present
    m = 0
    for i in range(node.low, node.high):
        if x[node.rows[i]] == x[node.rows[i]]:  # not NaN
            present[m] = node.rows[i]
            m += 1
    if m < 2 or not varies(column, present, m, targets.times, state):
        return False
    # Any two amounts are further apart than a negative spread.
    spread = -1.0 if rules.isolate else math.sqrt(node.impurity)
    members, size = present, m  # which p is drawn from
    if kind != VALUE and rules.by_class and rules.criterion != VARIANCE:
        growing.group_rows(
            present, m, targets.label, targets.n_classes, scratch.grouped, scratch.ends
        )
        first = least_varied(column, targets, state, scratch)
        members = scratch.grouped[scratch.ends[first] :]
        size = scratch.ends[first + 1] - scratch.ends[first]
    for _ in range(1 if kind == VALUE else rules.max_pairs):
        p, q = -1, -1
        if kind != VALUE:
            p = draw_entry(state, members, size, targets.times)
            for i in range(m):
                scratch.gaps[i] = cell_distance(
                    kind, x[present[i]], x[p], column.flat, column.base, column.width
                )
            q = draw_second(present, m, p, spread, rules, targets, state, scratch)
            if q < 0:
                continue
            if not rules.by_class:
                p, q = q, p
        k = sort_by_projection(column, present, m, p, q, scratch)
        try_cut(f, p, q, kind, node, k, targets, rules, state, scratch)
    return not rules.isolate or scratch.test[0] >= 0


@kernel
def split_node(stack, tree, at, column, rows, low, high, depth, scratch):
    """Write the best test of a node, part its rows, and put its children on the stack.

    Both sides keep their order, as the lazy grower's do: both then add up weights in the same
    order.
    """
    kind, x, _, flat, base, width = column
    test, threshold, spare = scratch.test, scratch.score[1], scratch.spare
    tree.feature[at], tree.first[at], tree.second[at] = test[0], test[1], test[2]
    tree.threshold[at], tree.default[at] = threshold, test[4]
    p, q = (x[test[1]], x[test[2]]) if test[1] >= 0 else (0.0, 0.0)
    middle, rights = low, 0
    # Every row is written to both sides, and the side where it belongs moves on: the processor
    # would guess half of the jumps wrong.
    for i in range(low, high):
        r = rows[i]
        here = project(kind, x[r], p, q, flat, base, width)
        goes = np.int64((here <= threshold) | ((here != here) & (test[4] == 1)))
        rows[middle], spare[rights] = r, r
        middle += goes
        rights += 1 - goes
    for i in range(rights):
        rows[middle + i] = spare[i]
    growing.stack_children(stack, at, low, middle, high, depth)


@kernel
def grow_similarity(cells, targets, rows, rules, pool, state, stack, pause, scratch, tree):
    """Grow a tree whose nodes are written in preorder; columns are drawn from ``pool``.

    Returns after ``pause`` rows; the nodes that wait are on the stack.
    """
    test, seen = scratch.test, 0
    while stack.count[growing.WAITING] > 0 and seen < pause:
        at, low, high, depth = growing.next_node(stack, tree.left, tree.right)
        seen += high - low
        node, splits = describe_node(tree, at, rows, low, high, depth, targets, rules)
        test[0] = -1
        drawn, tried = 0, 0
        while splits and drawn < pool.shape[0] and tried < rules.max_columns:
            f = growing.draw_next(state, pool, drawn)
            tried += try_column(f, column_of(cells, f), node, targets, rules, state, scratch)
            drawn += 1
        if test[0] >= 0:
            column = column_of(cells, test[0])
            split_node(stack, tree, at, column, rows, low, high, depth, scratch)


# -- rows of a table: the projections of all tests, and the leaves ---------------------------------
#
# ``values[f, i]`` is the number or category of row i on column f, or, for objects, its position in
# a block of distances to the kept cells (``flat``, as above); ``p`` and ``q`` are numbers,
# categories, or positions among the kept cells.


class CellBlock(NamedTuple):
    """A block of rows: as ``CellColumns``, without the ranks."""

    kinds: np.ndarray
    values: np.ndarray
    flat: np.ndarray
    base: np.ndarray
    width: np.ndarray


@kernel
def project_rows(block, feature, p, q, out):
    """Write the projection of every row by every test; NaN where it is undefined."""
    kinds, values, flat, base, width = block
    for i in range(values.shape[1]):
        for k in range(feature.shape[0]):
            f = feature[k]
            out[i, k] = project(kinds[f], values[f, i], p[k], q[k], flat, base[f], width[f])


# Rows go down together: each node parts all rows that have arrived. A row alone waits for every
# test before it knows the next one, and the processor mispredicts the side half of the time. Rows
# of a node do not wait for each other: each is exchanged with the first of those that go right, and
# only then it is decided whether that place moves on.


class CellTrees(NamedTuple):
    """Similarity trees as rows go down them; one entry per node, except for ``offsets``."""

    feature: np.ndarray
    p: np.ndarray
    q: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    default: np.ndarray
    offsets: np.ndarray


@kernel
def find_leaves(block, trees, rows, waiting, out):
    """Write the node in which each row ends, counted within each tree, a line per tree.

    ``waiting`` has a line (node, first row, one past the last) for every node that may wait: one
    more than the deepest tree has levels.
    """
    kinds, values, flat, base, width = block
    feature, p, q, threshold, right, default, offsets = trees
    for t in range(out.shape[0]):
        start = offsets[t]
        for i in range(out.shape[1]):
            rows[i] = i
        waiting[0, 0], waiting[0, 1], waiting[0, 2] = start, 0, out.shape[1]
        top = 1
        while top > 0:
            top -= 1
            v, low, high = waiting[top, 0], waiting[top, 1], waiting[top, 2]
            f, border = feature[v], low
            if f < 0:
                for i in range(low, high):
                    out[t, rows[i]] = v - start
                continue
            kind, column, missing = kinds[f], values[f], default[v] == 1
            for i in range(low, high):
                row = rows[i]
                here = project(kind, column[row], p[v], q[v], flat, base[f], width[f])
                goes = (here <= threshold[v]) | (missing & (here != here))
                rows[i] = rows[border]
                rows[border] = row
                border += np.int64(goes)
            if border > low:
                waiting[top, 0], waiting[top, 1], waiting[top, 2] = v + 1, low, border
                top += 1
            if high > border:
                waiting[top, 0], waiting[top, 1], waiting[top, 2] = start + right[v], border, high
                top += 1
