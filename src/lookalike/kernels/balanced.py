"""Balanced trees of small samples: growing them, and finding leaves without walking.

A tree of height H is kept in heap order: node v has the children 2v + 1 and 2v + 2, and there are
2**H - 1 inner nodes. The leaf code of a row is the H answers along its path, 1 for right.
"""

import numpy as np

from lookalike.kernels import growing
from lookalike.kernels._jit import COMPILED, intrinsic, kernel

WORD_ROWS = 64  # rows handled together


@kernel
def split_evenly(columns, rows, low, high, a, values):
    """Sort rows low..high by column ``a``; whether the middle falls between two different values.

    ``values`` receives the sorted values. A missing value makes the column unfit.
    """
    m = high - low
    for i in range(m):
        x = columns[a, rows[low + i]]
        if np.isnan(x):
            return False
        values[i] = x
    # The middle is known once the values are sorted; rows are only moved if it will serve.
    # Half of the sample on either side: m is a power of two.
    ordered = values[:m]
    if m <= 32:
        growing.insertion_sort(ordered, m)
    else:
        ordered.sort()
    return ordered[m // 2 - 1] < ordered[m // 2]


@kernel
def most_even_cut(columns, rows, low, high, state, values):
    """Find the cut nearest to the middle over all columns, ties at random.

    Returns the column (-1 if nothing can be cut), the largest value on the left and the smallest
    on the right.
    """
    m = high - low
    best, column, below, above, ties = m, -1, 0.0, 0.0, 0
    for a in range(columns.shape[0]):
        fit = True
        for i in range(m):
            values[i] = columns[a, rows[low + i]]
            fit = fit and not np.isnan(values[i])
        if not fit:
            continue
        ordered = values[:m]
        ordered.sort()
        for i in range(1, m):
            if ordered[i - 1] < ordered[i]:
                off = abs(2 * i - m)
                if off < best:
                    best, ties = off, 0
                if off == best:
                    ties += 1
                    # Reservoir of one: each of several equally even cuts is kept with the same
                    # chance.
                    if growing.draw_below(state, ties) == 0:
                        column, below, above = a, ordered[i - 1], ordered[i]
    return column, below, above


@kernel
def grow_tree(columns, height, relax, either_side, state, work, feature, cut):
    """Grow one tree on the rows of ``work``; False if a node has no balanced column.

    ``work``: the rows of the sample, and memory for the columns as they are drawn, the range of
    rows of every node, and the values of a column in a node.
    ``either_side``: a node is closed on the left or on the right with equal chance. ``relax``: a
    stuck node is cut as near to the middle as possible, and is a leaf if nothing can be cut.
    """
    rows, order, starts, values = work
    d = columns.shape[0]
    inner = (1 << height) - 1
    for a in range(d):
        order[a] = a
    starts[0, 0], starts[0, 1] = 0, rows.shape[0]
    for v in range(inner):
        low, high = starts[v, 0], starts[v, 1]
        m = high - low
        feature[v], cut[v] = -1, 0.0
        middle = high
        if m > 1:
            found = -1
            below, above = 0.0, 0.0
            for i in range(d):
                j = i + growing.draw_below(state, d - i)
                order[i], order[j] = order[j], order[i]
                if split_evenly(columns, rows, low, high, order[i], values):
                    found = order[i]
                    below, above = values[m // 2 - 1], values[m // 2]
                    break
            if found < 0:
                if not relax:
                    return False
                found, below, above = most_even_cut(columns, rows, low, high, state, values)
            if found >= 0:
                feature[v] = found
                cut[v] = below
                middle = growing.partition_node(
                    columns[found], rows, low, high, below, False, np.nan
                )
                if either_side and growing.draw_bits(state) & 1:
                    # "less than above" as a threshold: the next number below it.
                    cut[v] = np.nextafter(above, -np.inf)
        if 2 * v + 2 < starts.shape[0]:
            starts[2 * v + 1, 0], starts[2 * v + 1, 1] = low, middle
            starts[2 * v + 2, 0], starts[2 * v + 2, 1] = middle, high
    return True


@kernel
def grow_balanced(columns, height, tries, relax, either_side, states, feature, cut, failed):
    """Grow one tree per state; ``failed`` counts the samples thrown away, -1 where none would do.

    With ``relax`` a tree whose every sample failed is grown on the last sample with relaxed cuts;
    ``failed`` is then ``tries``.
    """
    n = columns.shape[1]
    size = 1 << height
    everyone = np.arange(n)
    swaps = np.empty(size, np.int64)
    work = (
        np.empty(size, np.int64),
        np.empty(columns.shape[0], np.int64),
        np.zeros((2 * size - 1, 2), np.int64),
        np.empty(size, columns.dtype),
    )
    for t in range(states.shape[0]):
        state = states[t : t + 1]
        failed[t] = -1
        for attempt in range(tries):
            growing.draw_rows(state, n, everyone, work[0], swaps)
            # A failed sample is thrown away whole, so trees stay independent of which column
            # failed.
            if grow_tree(columns, height, False, either_side, state, work, feature[t], cut[t]):
                failed[t] = attempt
                break
        if failed[t] < 0 and relax:
            grow_tree(columns, height, True, either_side, state, work, feature[t], cut[t])
            failed[t] = tries
        elif failed[t] < 0:
            return


if COMPILED:

    def _row_address(target, builder, kind, array, row, word):
        """Build the address of a row of 64 numbers, as a vector."""
        from llvmlite import ir

        data = target.make_array(kind)(target, builder, array).data
        place = builder.gep(data, [builder.mul(row, ir.IntType(64)(WORD_ROWS))])
        return builder.bitcast(place, ir.VectorType(word, WORD_ROWS).as_pointer())

    @intrinsic
    def compare_with_cut(context, lanes, row, cut):
        """Return 64 answers to "is it greater than the cut", one bit per lane of a row."""
        from llvmlite import ir
        from numba import types

        def build(target, builder, signature, arguments):
            array, row, cut = arguments
            place = _row_address(target, builder, lanes, array, row, cut.type)
            x = builder.load(place, align=lanes.dtype.bitwidth // 8)
            nothing, index = ir.Constant(x.type, ir.Undefined), ir.IntType(32)
            one = builder.insert_element(nothing, cut, index(0))
            zeros = ir.Constant(ir.VectorType(index, WORD_ROWS), [0] * WORD_ROWS)
            c = builder.shuffle_vector(one, nothing, zeros)  # the cut in every lane
            return builder.bitcast(builder.fcmp_ordered(">", x, c), ir.IntType(64))

        return types.uint64(lanes, types.int64, lanes.dtype), build

    @intrinsic
    def append_bits(context, codes, row, bits):
        """Shift the codes of a row up by one and put one bit below each."""
        from llvmlite import ir
        from numba import types

        def build(target, builder, signature, arguments):
            array, row, bits = arguments
            width = codes.dtype.bitwidth
            place = _row_address(target, builder, codes, array, row, ir.IntType(width))
            now = builder.load(place, align=width // 8)
            truth = builder.bitcast(bits, ir.VectorType(ir.IntType(1), WORD_ROWS))
            below = builder.zext(truth, now.type)
            builder.store(builder.or_(builder.add(now, now), below), place, align=width // 8)
            return target.get_dummy_value()

        return types.void(codes, types.int64, types.uint64), build

    @kernel
    def encode_by_all_tests(values, feature, cut, height, out):
        """Write the leaf code of every row in every tree; values must not be missing.

        All tests of a tree are asked of 64 rows together, the answers to one being a word of 64
        bits; then, level by level, the answers along the paths are selected by masks. That asks
        more than a walk does, but no step waits for the one before.
        """
        n, d = values.shape
        trees = feature.shape[0]
        inner = (1 << height) - 1
        lanes = np.zeros((d, WORD_ROWS), values.dtype)
        answers = np.empty(inner + 1, np.uint64)
        paths = np.empty(height, np.uint64)
        codes = np.empty((WORD_ROWS, WORD_ROWS), out.dtype)
        for start in range(0, n, WORD_ROWS):
            m = min(WORD_ROWS, n - start)
            for i in range(m):
                for a in range(d):
                    lanes[a, i] = values[start + i, a]
            for first in range(0, trees, WORD_ROWS):
                some = min(WORD_ROWS, trees - first)
                for s in range(some):
                    t = first + s
                    for i in range(WORD_ROWS):
                        codes[s, i] = 0
                    for v in range(inner):
                        answers[v] = compare_with_cut(lanes, feature[t, v], cut[t, v])
                    paths[0] = answers[0]
                    append_bits(codes, s, answers[0])
                    for level in range(1, height):
                        # Halve the candidates of this level by each answer given above, last first.
                        width = 1 << level
                        base = width - 1
                        for step in range(level - 1, -1, -1):
                            width >>= 1
                            mask = paths[step]
                            for w in range(width):
                                zero, one = answers[base + 2 * w], answers[base + 2 * w + 1]
                                answers[base + w] = zero ^ ((zero ^ one) & mask)
                        paths[level] = answers[base]
                        append_bits(codes, s, answers[base])
                for i in range(m):
                    for s in range(some):
                        out[start + i, first + s] = codes[s, i]


@kernel
def encode_by_walking(values, feature, cut, height, out):
    """Write the leaf code of every row in every tree by walking down; for tall trees."""
    inner = (1 << height) - 1
    for t in range(feature.shape[0]):
        f, c = feature[t], cut[t]
        for i in range(values.shape[0]):
            v = 0
            for _ in range(height):
                v = 2 * v + 1 + (values[i, f[v]] > c[v])
            out[i, t] = v - inner


if not COMPILED:
    encode_by_all_tests = encode_by_walking
