"""Similarities of rows in a forest: shared leaves, shared paths, common ancestors."""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import COMPILED, intrinsic, kernel
from lookalike.kernels.growing import group_rows
from lookalike.kernels.lists import offer
from lookalike.kernels.narrow import add_narrow, tally

# -- leaves in common: how often two rows of codes agree -------------------------------------------
#
# The inner loop uses the compiler's vector types: it compares 64 bytes of codes together, packs
# the answers into the bits of a word and counts the bits; numba counts in 64 bits per code, which
# is several times slower. Uncompiled runs use numpy. Both are exact.

# Rows of a tile: the codes of both sides stay in the second-level cache.
TILE_ROWS, TILE_COLUMNS = 16, 128

if COMPILED:

    def make_tile(rows, columns):
        """Make a function that counts agreements of a few rows with a few others."""

        @intrinsic
        def tile(context, a, i, b, j, out, oi, oj):
            from llvmlite import ir
            from numba import types
            from numba.core import cgutils

            width = a.dtype.bitwidth
            lanes = 512 // width
            word, long, bits = ir.IntType(width), ir.IntType(64), ir.IntType(lanes)
            vector = ir.VectorType(word, lanes)

            def build(target, builder, signature, arguments):
                first, second, target_array = (
                    target.make_array(signature.args[k])(target, builder, arguments[k])
                    for k in (0, 2, 4)
                )
                length = builder.extract_value(first.shape, 1)

                def begin(array, row, extra):
                    offset = builder.mul(builder.add(row, long(extra)), length)
                    return builder.gep(array.data, [offset])

                def load(pointer, offset, kind):
                    address = builder.bitcast(builder.gep(pointer, [offset]), kind.as_pointer())
                    return builder.load(address, align=width // 8)

                def count(pair, more):
                    now = builder.load(total[pair])
                    builder.store(
                        builder.add(now, builder.zext(more, long) if more.type != long else more),
                        total[pair],
                    )

                lefts = [begin(first, arguments[1], r) for r in range(rows)]
                rights = [begin(second, arguments[3], c) for c in range(columns)]
                pairs = [(r, c) for r in range(rows) for c in range(columns)]
                total = {p: cgutils.alloca_once_value(builder, long(0)) for p in pairs}
                vectors = builder.sdiv(length, long(lanes))
                with cgutils.for_range(builder, vectors) as step:
                    offset = builder.mul(step.index, long(lanes))
                    xs = [load(p, offset, vector) for p in lefts]
                    for c in range(columns):
                        y = load(rights[c], offset, vector)
                        for r in range(rows):
                            same = builder.bitcast(builder.icmp_unsigned("==", xs[r], y), bits)
                            count((r, c), builder.ctpop(same))
                rest = builder.sub(length, builder.mul(vectors, long(lanes)))
                some = builder.icmp_signed(">", rest, long(0))
                long_enough = builder.icmp_signed(">", vectors, long(0))
                with builder.if_then(builder.and_(some, long_enough)):
                    # One more vector that ends with the row; lanes counted before are cut off.
                    counted = builder.sub(long(lanes), rest)
                    counted = builder.trunc(counted, bits) if lanes < 64 else counted
                    fresh = builder.shl(ir.Constant(bits, -1), counted)
                    offset = builder.sub(length, long(lanes))
                    for r, c in pairs:
                        x, y = load(lefts[r], offset, vector), load(rights[c], offset, vector)
                        same = builder.bitcast(builder.icmp_unsigned("==", x, y), bits)
                        count((r, c), builder.ctpop(builder.and_(same, fresh)))
                with builder.if_then(builder.not_(long_enough)):
                    with cgutils.for_range(builder, length) as step:
                        for r, c in pairs:
                            x, y = (load(side, step.index, word) for side in (lefts[r], rights[c]))
                            count((r, c), builder.icmp_unsigned("==", x, y))
                stride = builder.extract_value(target_array.shape, 1)
                for r, c in pairs:
                    offset_out = builder.mul(builder.add(arguments[5], long(r)), stride)
                    offset_out = builder.add(offset_out, builder.add(arguments[6], long(c)))
                    address = builder.gep(target_array.data, [offset_out])
                    builder.store(builder.trunc(builder.load(total[r, c]), ir.IntType(32)), address)
                return target.get_dummy_value()

            return types.void(a, i, b, j, out, oi, oj), build

        return tile

    tile_4_2 = make_tile(4, 2)
    tile_1_1 = make_tile(1, 1)

    @kernel
    def count_tile(a, i0, i1, b, j0, j1, out):
        """Count the agreements of rows i0..i1 of ``a`` with rows j0..j1 of ``b`` into ``out``."""
        tall, wide = (i1 - i0) // 4 * 4, (j1 - j0) // 2 * 2
        for i in range(0, tall, 4):
            for j in range(0, wide, 2):
                tile_4_2(a, i0 + i, b, j0 + j, out, i, j)
            for j in range(wide, j1 - j0):
                for r in range(4):
                    tile_1_1(a, i0 + i + r, b, j0 + j, out, i + r, j)
        for i in range(tall, i1 - i0):
            for j in range(j1 - j0):
                tile_1_1(a, i0 + i, b, j0 + j, out, i, j)

else:

    def count_tile(a, i0, i1, b, j0, j1, out):
        """Count the agreements of rows i0..i1 of ``a`` with rows j0..j1 of ``b`` into ``out``."""
        same = a[i0:i1, None, :] == b[None, j0:j1, :]
        out[: i1 - i0, : j1 - j0] = same.sum(axis=2)


@kernel
def count_matches(a, b, divisor, out):
    """Write how often each row of ``a`` and each of ``b`` agree, over a divisor: 1 is exact."""
    n, m = a.shape[0], b.shape[0]
    counts = np.empty((TILE_ROWS, TILE_COLUMNS), np.uint32)
    for j0 in range(0, m, TILE_COLUMNS):
        j1 = min(m, j0 + TILE_COLUMNS)
        for i0 in range(0, n, TILE_ROWS):
            i1 = min(n, i0 + TILE_ROWS)
            count_tile(a, i0, i1, b, j0, j1, counts)
            for i in range(i1 - i0):
                for j in range(j1 - j0):
                    out[i0 + i, j0 + j] = counts[i, j] / divisor


@kernel
def nearest_by_matches(a, b, table, ids, exclude, distances, indices):
    """Work the rows of ``b`` into the lists of the rows of ``a``.

    ``table[c]`` is the distance of c agreements; it must not increase. Counts are compared before
    distances are looked up, so that most candidates cost one comparison of integers.
    """
    n, m = a.shape[0], b.shape[0]
    counts = np.empty((TILE_ROWS, TILE_COLUMNS), np.uint32)
    least = np.zeros(n, np.int64)  # fewer agreements than this cannot enter the list
    for i in range(n):
        while least[i] < table.shape[0] - 1 and table[least[i]] > distances[i, -1]:
            least[i] += 1
    for j0 in range(0, m, TILE_COLUMNS):
        j1 = min(m, j0 + TILE_COLUMNS)
        for i0 in range(0, n, TILE_ROWS):
            i1 = min(n, i0 + TILE_ROWS)
            count_tile(a, i0, i1, b, j0, j1, counts)
            for i in range(i1 - i0):
                query = i0 + i
                floor = least[query]
                for j in range(j1 - j0):
                    count = counts[i, j]
                    if count < floor:
                        continue
                    if ids[j0 + j] != exclude[query]:
                        offer(distances[query], indices[query], table[count], ids[j0 + j])
                        while floor < table.shape[0] - 1 and table[floor] > distances[query, -1]:
                            floor += 1
                least[query] = floor


# -- nearest rows by the draws of rows in leaves (RF-GAP) ------------------------------------------


class LeafMembers(NamedTuple):
    """The rows that each leaf of a forest was grown on.

    A member is ``256 * row + times``: the row and how often it was drawn are read together. Most
    leaves of a fully grown tree have one, which stands where the leaf is looked up: every other
    place in memory would cost as much again.

    Parameters
    ----------
    leaf_offsets : int64 (trees + 1,)
        Where the leaves of each tree begin.
    held : int32 or int64 (leaves,)
        The only member of a leaf, or -1 minus the place of its list.
    lists : of the same type
        The lists: the number of members, then the members in ascending order.
    drawn : float64 (leaves,)
        How many draws of rows fell into each leaf. Empty if these are all rows that were drawn,
        not those of a part of the table: then the members tell.
    """

    leaf_offsets: np.ndarray
    held: np.ndarray
    lists: np.ndarray
    drawn: np.ndarray


@kernel
def place_members(codes, bag, leaf_offsets, held):
    """Write what each leaf holds to ``held`` (zeros); return the lists."""
    # Tree by tree, so that the leaves that are written to fit the cache.
    for t in range(codes.shape[1]):
        for i in range(codes.shape[0]):
            held[leaf_offsets[t] + codes[i, t]] += bag[i, t] > 0
    size = 0
    for leaf in range(held.shape[0]):
        n_members = held[leaf]
        held[leaf] = 0 if n_members == 1 else -1 - size
        size += 0 if n_members == 1 else n_members + 1
    lists = np.zeros(size, held.dtype)
    for t in range(codes.shape[1]):
        for i in range(codes.shape[0]):
            if bag[i, t] > 0:
                leaf = leaf_offsets[t] + codes[i, t]
                member = 256 * i + np.int64(bag[i, t])
                if held[leaf] < 0:
                    at = -1 - held[leaf]
                    lists[at] += 1
                    lists[at + lists[at]] = member
                else:
                    held[leaf] = member
    return lists


@kernel
def nearest_members(codes, bag, order, members, low, high, ids, exclude, distances, indices):
    """Work the members ``low`` to ``high`` of the leaves of each query into its list.

    Rows in none of these leaves have similarity 0: they fill lists that would be too short.
    ``order`` says which query comes when: of queries that are near each other in one tree the
    leaves of the other trees are near each other in memory.
    """
    leaf_offsets, held, lists, drawn = members
    k, n_all = distances.shape[1], codes.shape[1]
    totals = np.zeros(high - low)
    touched = np.empty(high - low + 1, np.int64)
    leaves, found = np.empty(n_all + 1, np.int64), np.empty(n_all, np.int64)
    for i in order:
        count, n_trees = 0, 0
        # A second time only if no tree is left that was not grown on the row: then all count.
        for every in range(2):
            n_leaves = 0
            for t in range(n_all):
                leaves[n_leaves] = leaf_offsets[t] + codes[i, t]
                n_leaves += every == 1 or bag[i, t] == 0
            # In a loop of its own the processor waits for many places in memory together.
            for e in range(n_leaves):
                found[e] = held[leaves[e]]
            for e in range(n_leaves):
                member = found[e]
                known = drawn[leaves[e]] if drawn.shape[0] > 0 else 0.0
                if member >= 0:
                    n_trees += 1
                    share = 1.0 / max(known, float(member & 255))
                    j = (member >> 8) - low
                    if j >= 0 and j < high - low:
                        # Without a branch, which would be guessed wrong half of the time.
                        touched[count] = j
                        count += totals[j] == 0.0
                        totals[j] += share * (member & 255)
                    continue
                first = -member
                last = first + lists[first - 1]
                for m in range(first, last if drawn.shape[0] == 0 else first):
                    known += lists[m] & 255
                n_trees += known > 0.0
                share = 1.0 / max(known, 1.0)
                for m in range(first, last):
                    member = np.int64(lists[m])
                    j = (member >> 8) - low
                    # The same again: a function for it, even inlined, takes twice the time.
                    if j >= 0 and j < high - low:
                        touched[count] = j
                        count += totals[j] == 0.0
                        totals[j] += share * (member & 255)
            if n_trees > 0:
                break
        best, named = distances[i], indices[i]
        for e in range(count):
            j = touched[e]
            distance = max(1.0 - totals[j] / n_trees, 0.0)
            # Compared here first: most candidates are farther than the last of the list.
            if distance <= best[k - 1] and ids[low + j] != exclude[i]:
                offer(best, named, distance, ids[low + j])
        j = 0
        # Untouched rows are all at distance 1: the first of them suffice, as ties go by id.
        while j < high - low and best[k - 1] > 1.0:
            if totals[j] == 0.0 and ids[low + j] != exclude[i]:
                offer(best, named, 1.0, ids[low + j])
            j += 1
        for e in range(count):
            totals[touched[e]] = 0.0


# -- ratio similarity of rows with missing values or unequal weights -------------------------------
#
# A test that one of two rows cannot answer is left out of that pair, so both paths have to be
# counted for every pair; rows without missing values take the shorter way of ``ratio_one_sided``.


class RowBlock(NamedTuple):
    """The rows of one side: their leaves (rows, trees), and their bins, one line per input."""

    leaf: np.ndarray
    bins: np.ndarray


@kernel
def mark_shared(leaf, t, base, nodes, tests, on_path):
    """Note which of the tests that several nodes hold lie on the path of each row."""
    leaf_node, leaf_base, parent = nodes.leaf_node, nodes.leaf_offsets[t], nodes.parent
    slot, n_slots = tests.slot, tests.n_slots[t]
    m = leaf.shape[0]
    for s in range(n_slots):
        for y in range(m):
            on_path[s, y] = 0
    if n_slots == 0:
        return
    for y in range(m):
        v = leaf_node[leaf_base + leaf[y, t]]
        while v >= 0:
            s = slot[base + v]
            if s >= 0:
                on_path[s, y] = 1
            v = parent[base + v]


@kernel
def tally_paths(
    t, side, mine, block, theirs, cuts, splits, nodes, tests, on_path, unknown, scratch, out
):
    """Write for every row of ``side`` what its path in tree t tells about each row of a block.

    An entry holds four counts, see ``tally``. One pass down the tree serves all rows: what a test
    adds is counted once for all leaves below it, and a row that cannot answer it takes that off
    again. ``mine`` and ``theirs`` are the rows of the two sides in the order of their leaves, and
    where those of each leaf begin.
    """
    (met, level, asked), (order, start), (their_order, their_start) = scratch, mine, theirs
    feature, equal, base = splits.feature, splits.equal, splits.offsets[t]
    parent, depth, end, first, last = nodes.parent, nodes.depth, nodes.end, nodes.first, nodes.last
    m = out.shape[1]
    v, size = 0, splits.offsets[t + 1] - base
    while v < size:
        node = base + v
        begin, stop = start[first[node]], start[last[node]]
        if begin == stop:  # no row of this side ends below the node
            v = end[node]
            continue
        k = depth[node]
        if k > 0:
            up = base + parent[node]
            here, above = level[k], level[k - 1]
            f, cut, slot = feature[up], cuts[up], tests.slot[up]
            is_equal, went_left = equal[up] == 1, v == parent[node] + 1
            asked[k] = -1 if tests.repeat[up] else f
            # Copied number by number: a slice assignment takes the compiler seconds.
            if tests.repeat[up]:
                for y in range(m):
                    here[y] = above[y]
            else:
                for y in range(m):
                    met[y] = on_path[slot, y] if slot >= 0 else 0
                if slot < 0:  # a test held by one node lies on the paths through that node
                    for e in range(their_start[first[up]], their_start[last[up]]):
                        met[their_order[e]] = 1
                column = block.bins[f]
                # No branches in these loops, so that they run in vectors.
                if is_equal:
                    for y in range(m):
                        b = column[y]
                        here[y] = tally(above[y], b != unknown, (b == cut) == went_left, met[y])
                else:
                    for y in range(m):
                        b = column[y]
                        here[y] = tally(above[y], b != unknown, (b <= cut) == went_left, met[y])
        for e in range(begin, stop if feature[node] < 0 else begin):
            x = order[e]
            row, last_level = out[x], level[k]
            for y in range(m):
                row[y] = last_level[y]
            for d in range(1, k + 1):
                if asked[d] >= 0 and side.bins[asked[d], x] == unknown:
                    one, other = level[d], level[d - 1]
                    for y in range(m):
                        row[y] -= one[y] - other[y]
        v += 1


@kernel
def ratio_with_missing(
    one, other, splits, cuts, nodes, tests, sizes, unknown, weights, once, counter, out
):
    """Write the ratio similarity for any weights and rows with missing values.

    NaN where no tree can tell.

    A test that either row cannot answer is left out of that pair; a tree left without tests is left
    out of the mean. ``weights`` are those of the two differences. ``cuts`` and ``sizes``: as for
    ``ratio_one_sided``. ``counter`` is an empty array of the type that ``tally`` counts in.
    """
    alpha, beta = weights
    n, m = one.leaf.shape[0], other.leaf.shape[0]
    kind, bits = counter.dtype, 2 * counter.itemsize
    mask = (1 << bits) - 1
    levels = sizes[0] + 1
    path_x, path_y = np.zeros((sizes[3], n), np.uint8), np.zeros((sizes[3], m), np.uint8)
    rows_x = np.zeros(n, np.int64), np.zeros(sizes[2] + 1, np.int64)
    rows_y = np.zeros(m, np.int64), np.zeros(sizes[2] + 1, np.int64)
    every_x, every_y, asked = np.arange(n), np.arange(m), np.zeros(levels, np.int32)
    scratch_x = np.zeros(m, np.uint8), np.zeros((levels, m), kind), asked
    scratch_y = np.zeros(n, np.uint8), np.zeros((levels, n), kind), asked
    tally_x, tally_y, turned = np.zeros((n, m), kind), np.zeros((m, n), kind), np.zeros(m, kind)
    counted = np.zeros((n, m), np.int32)
    out[:] = 0.0
    for t in range(splits.offsets.shape[0] - 1):
        base = splits.offsets[t]
        if splits.offsets[t + 1] - base == 1:  # a tree of one leaf holds all rows for the same
            for x in range(n):
                for y in range(m):
                    out[x, y] += 1.0
                    counted[x, y] += 1
            continue
        n_leaves = nodes.leaf_offsets[t + 1] - nodes.leaf_offsets[t]
        mark_shared(one.leaf, t, base, nodes, tests, path_x)
        mark_shared(other.leaf, t, base, nodes, tests, path_y)
        group_rows(every_x, n, one.leaf[:, t], n_leaves, rows_x[0], rows_x[1])
        group_rows(every_y, m, other.leaf[:, t], n_leaves, rows_y[0], rows_y[1])
        tally_paths(
            t, one, rows_x, other, rows_y, cuts, splits, nodes, tests, path_y, unknown, scratch_x,
            tally_x,
        )  # fmt: skip
        tally_paths(
            t, other, rows_y, one, rows_x, cuts, splits, nodes, tests, path_x, unknown, scratch_y,
            tally_y,
        )  # fmt: skip
        for x in range(n):
            mine, row, trees = tally_x[x], out[x], counted[x]
            for y in range(m):
                turned[y] = tally_y[y, x]
            for y in range(m):
                of_x, of_y = np.int64(mine[y]), np.int64(turned[y])
                agreed_x, agreed_y = float(of_x >> bits & mask), float(of_y >> bits & mask)
                common = agreed_x + agreed_y - float(of_x >> 2 * bits & mask)
                only_x, only_y = float(of_x & mask) - agreed_x, float(of_y & mask) - agreed_y
                # The two differences are added to each other first: swapping rows swaps them.
                total = common + (alpha * only_x + beta * only_y)
                if once:
                    total -= 0.5 * (alpha + beta) * float(of_x >> 3 * bits & mask)
                row[y] += common / total if total > 0.0 else 0.0
            for y in range(m):
                trees[y] += ((mine[y] | turned[y]) & mask) > 0
    for x in range(n):
        for y in range(m):
            out[x, y] = out[x, y] / counted[x, y] if counted[x, y] > 0 else np.nan


# -- ratio similarity with a weight of each test's answer ------------------------------------------


@kernel
def weigh_path(mine, x, t, theirs, y, splits, nodes, tests, met, unknown, surprise, sums):
    """Add up the weights along the path of row x of ``mine`` against row y of ``theirs``.

    Written to ``sums``: answers that both rows know, those on which they agree, and among the tests
    that lie on both paths (``met``, by the node of the last test of its content) those agreed and
    those apart. ``surprise`` has the weight of a left and of a right answer of each node.
    """
    base, parent = splits.offsets[t], nodes.parent
    sums[:] = 0.0
    v = nodes.leaf_node[nodes.leaf_offsets[t] + mine.leaf[x, t]]
    while parent[base + v] >= 0:
        child, v = v, parent[base + v]
        node = base + v
        f, cut = splits.feature[node], splits.cut[node]
        b = theirs.bins[f, y]
        if tests.repeat[node] or mine.bins[f, x] == unknown or b == unknown:
            continue
        went_left = child == v + 1
        same = (b == cut if splits.equal[node] == 1 else b <= cut) == went_left
        weight = surprise[node, 0 if went_left else 1]
        s, leaf = tests.slot[node], theirs.leaf[y, t]
        on_both = met[s] == 1 if s >= 0 else nodes.first[node] <= leaf < nodes.last[node]
        sums[0] += weight
        if same:
            sums[1] += weight
        if on_both:
            sums[2 if same else 3] += weight


@kernel
def ratio_by_weight(
    one, other, splits, nodes, tests, most_slots, unknown, weights, once, surprise, out
):
    """Write the ratio similarity whose tests count by their answers; NaN where no tree can tell.

    As ``ratio_with_missing``, with ``surprise``: see ``weigh_path``.
    """
    alpha, beta = weights
    n, m = one.leaf.shape[0], other.leaf.shape[0]
    path_x, path_y = np.zeros((most_slots, n), np.uint8), np.zeros((most_slots, m), np.uint8)
    of_x, of_y = np.zeros(4), np.zeros(4)
    counted = np.zeros((n, m), np.int32)
    out[:] = 0.0
    for t in range(splits.offsets.shape[0] - 1):
        base = splits.offsets[t]
        alone = splits.offsets[t + 1] - base == 1
        mark_shared(one.leaf, t, base, nodes, tests, path_x)
        mark_shared(other.leaf, t, base, nodes, tests, path_y)
        for x in range(n):
            for y in range(m):
                weigh_path(
                    one, x, t, other, y, splits, nodes, tests, path_y[:, y], unknown, surprise, of_x
                )
                weigh_path(
                    other, y, t, one, x, splits, nodes, tests, path_x[:, x], unknown, surprise, of_y
                )
                # Each path adds in its own order: halves make both orders of two rows alike.
                common = (of_x[1] + of_y[1]) - 0.5 * (of_x[2] + of_y[2])
                total = common + (alpha * (of_x[0] - of_x[1]) + beta * (of_y[0] - of_y[1]))
                if once:
                    total -= 0.5 * (alpha * of_x[3] + beta * of_y[3])
                if alone or of_x[0] + of_y[0] > 0.0:
                    counted[x, y] += 1
                    out[x, y] += common / total if total > 0.0 else (1.0 if alone else 0.0)
    for x in range(n):
        for y in range(m):
            out[x, y] = out[x, y] / counted[x, y] if counted[x, y] > 0 else np.nan


# -- ratio similarity of rows without missing values -----------------------------------------------
#
# For a tree, ``G(a, y)`` is the number of distinct tests on the path to leaf ``a`` that row ``y``
# answers as the path does, ``C`` the number of those that also lie on the path of ``y``, and ``h``
# the number of distinct tests on a path. With equal weights the similarity is
#
#     (G(x, y) + G(y, x) - C) / (h(x) + h(y) - C) = F(x, y) + F(y, x),
#     F = (G - C / 2) / (h + h - C),
#
# and F depends on x through its leaf only. So one pass down the tree gives F of all leaves against
# a block of rows, and a test is asked of a row once, not once per pair.


@kernel
def ratio_one_sided(places, side, splits, cuts, nodes, tests, sizes, once, counter, one_sided, out):
    """Add F(x, y) of every tree to ``out``, for rows without missing values.

    The rows x come as ``places``: the leaf of each row in each tree, numbered among those of the
    tree in which a row x ends; the same number for every leaf of the forest; and for every node
    whether it lies on the path of any row x. ``side`` is the RowBlock of the rows y.
    ``cuts`` are those of ``splits`` in the type of the bins. ``sizes``: greatest depth, nodes,
    leaves and slots of a tree. ``counter`` is an empty array whose type counts tests: it must hold
    the greatest depth. ``once`` counts a test on both paths with two outcomes once instead of
    twice: the denominator is then h + h minus the tests on both paths. ``one_sided``, with a line
    for each of the most leaves of a tree in which rows x end, is scratch.
    """
    place, number, wanted = places
    leaf_y, bins_y = side.leaf, side.bins
    feature, offsets, equal = splits.feature, splits.offsets, splits.equal
    parent, depth, end, leaf = nodes.parent, nodes.depth, nodes.end, nodes.leaf
    repeat, slot, height = tests.repeat, tests.slot, tests.height
    m, levels = out.shape[1], sizes[0] + 1
    # By depth and row: tests on the path of x that y agrees with, those of them that lie on both
    # paths, all tests on both paths, whether y passes through the node, and its answer there.
    agreed, both = np.zeros((levels, m), counter.dtype), np.zeros((levels, m), counter.dtype)
    shared = np.zeros((levels, m), counter.dtype)
    along, answer = np.ones((levels, m), np.uint8), np.zeros((levels, m), np.uint8)
    same, on_path, tests_y = np.zeros(m, np.uint8), np.zeros((sizes[3], m), np.uint8), np.zeros(m)
    for t in range(place.shape[1]):
        base, leaf_base = offsets[t], nodes.leaf_offsets[t]
        mark_shared(leaf_y, t, base, nodes, tests, on_path)
        for y in range(m):
            tests_y[y] = height[base + nodes.leaf_node[leaf_base + leaf_y[y, t]]]
        v, size = 0, offsets[t + 1] - base
        while v < size:
            node = base + v
            # No row x ends below this node: its subtree is skipped.
            if not wanted[node]:
                v = end[node]
                continue
            k = depth[node]
            if k > 0:
                up = base + parent[node]
                went = np.uint8(1 if v == parent[node] + 1 else 0)
                # One array is written per loop: with more of them the compiler cannot rule out
                # that they overlap, and gives up on vectors.
                for y in range(m):
                    same[y] = answer[k - 1, y] == went
                for y in range(m):
                    along[k, y] = along[k - 1, y] & same[y]
                # A test that the path has met before is not counted again.
                new = np.uint8(1 - repeat[up])
                # A test held by one node lies on both paths if y passes through that node.
                met = on_path[slot[up]] if slot[up] >= 0 else along[k - 1]
                for y in range(m):
                    agreed[k, y] = add_narrow(agreed[k - 1, y], (same[y] & new) == 1)
                for y in range(m):
                    both[k, y] = add_narrow(both[k - 1, y], (same[y] & met[y] & new) == 1)
                if once:
                    for y in range(m):
                        shared[k, y] = add_narrow(shared[k - 1, y], (met[y] & new) == 1)
            f = feature[node]
            if f >= 0:
                c = cuts[node]  # of the type of the bins, so that nothing is widened
                if equal[node]:
                    for y in range(m):
                        answer[k, y] = bins_y[f, y] == c
                else:
                    for y in range(m):
                        answer[k, y] = bins_y[f, y] <= c
            else:
                mine = float(height[node])
                terms = one_sided[number[leaf_base + leaf[node]]]
                gone = shared[k] if once else both[k]
                if mine > 0.0:
                    for y in range(m):
                        total = mine + tests_y[y] - float(gone[y])
                        terms[y] = (float(agreed[k, y]) - 0.5 * float(both[k, y])) / total
                else:
                    for y in range(m):
                        terms[y] = 0.5
            v += 1
        for x in range(place.shape[0]):
            terms, row = one_sided[place[x, t]], out[x]
            for y in range(m):
                row[y] += terms[y]


# -- similarities that depend on the lowest common ancestor of two leaves --------------------------


@kernel
def ancestor_sums(leaf_x, leaf_y, nodes, offsets, widest, value, mode, out):
    """Add, for every tree, what the lowest common ancestor of the two leaves is worth.

    ``mode`` 0: its ``value``. 1: its value over the value of the deeper leaf, equal depths: the
    mean of both ratios. 2: its value over the larger of the two leaves' values. A tree of one leaf
    counts 1 in the modes that are shares.
    """
    parent, depth, first, last = nodes.parent, nodes.depth, nodes.first, nodes.last
    leaf_node, leaf_offsets = nodes.leaf_node, nodes.leaf_offsets
    n, m = leaf_x.shape[0], leaf_y.shape[0]
    start_x, order_x = np.zeros(widest + 1, np.int64), np.zeros(n, np.int64)
    start_y, order_y = np.zeros(widest + 1, np.int64), np.zeros(m, np.int64)
    # Rows are grouped by leaf: what an ancestor is worth is found once for all rows of a leaf.
    every_x, every_y = np.arange(n), np.arange(m)
    worth, leaf_value, leaf_depth = np.zeros(m), np.zeros(m), np.zeros(m)
    for t in range(offsets.shape[0] - 1):
        base, leaf_base = offsets[t], leaf_offsets[t]
        n_leaves = leaf_offsets[t + 1] - leaf_base
        group_rows(every_x, n, leaf_x[:, t], n_leaves, order_x, start_x)
        group_rows(every_y, m, leaf_y[:, t], n_leaves, order_y, start_y)
        for y in range(m):
            node = base + leaf_node[leaf_base + leaf_y[y, t]]
            leaf_value[y] = value[node]
            leaf_depth[y] = depth[node]
        for a in range(n_leaves):
            if start_x[a] == start_x[a + 1]:
                continue
            v = leaf_node[leaf_base + a]
            mine, deep = value[base + v], float(depth[base + v])
            # Rows are sorted by leaf, so those below a node are one run; each ancestor adds the
            # part of its run that its child did not have.
            low, high = start_y[a], start_y[a + 1]
            for i in range(low, high):
                worth[order_y[i]] = mine
            while parent[base + v] >= 0:
                v = parent[base + v]
                here = value[base + v]
                wide_low, wide_high = start_y[first[base + v]], start_y[last[base + v]]
                for i in range(wide_low, low):
                    worth[order_y[i]] = here
                for i in range(high, wide_high):
                    worth[order_y[i]] = here
                low, high = wide_low, wide_high
            if mode > 0:
                for y in range(m):
                    other, other_deep = leaf_value[y], leaf_depth[y]
                    if deep == 0.0:
                        worth[y] = 1.0
                    elif mode == 2:
                        worth[y] /= max(mine, other)
                    elif deep > other_deep:
                        worth[y] /= mine
                    elif deep < other_deep:
                        worth[y] /= other
                    else:
                        worth[y] = (worth[y] / mine + worth[y] / other) / 2.0
            for i in range(start_x[a], start_x[a + 1]):
                x = order_x[i]
                for y in range(m):
                    out[x, y] += worth[y]
