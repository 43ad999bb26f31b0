"""How often two rows of codes agree, counted with whole vectors.

The inner loop is written for the compiler's vector types: it compares 64 bytes of codes at once,
packs the answers into the bits of a word and counts the bits, which plain loops do not reach
because numba counts in 64 bits per code. Uncompiled runs use numpy. Both are exact.
"""

import numpy as np

from lookalike.kernels._jit import COMPILED, intrinsic, kernel
from lookalike.kernels.topk import before, insert

TALL, WIDE = 16, 128  # rows of a tile: the codes of both sides stay in the second-level cache

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
                    at = builder.mul(builder.add(row, long(extra)), length)
                    return builder.gep(array.data, [at])

                def load(pointer, offset, kind):
                    at = builder.bitcast(builder.gep(pointer, [offset]), kind.as_pointer())
                    return builder.load(at, align=width // 8)

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
                    at = builder.mul(builder.add(arguments[5], long(r)), stride)
                    at = builder.add(at, builder.add(arguments[6], long(c)))
                    place = builder.gep(target_array.data, [at])
                    builder.store(builder.trunc(builder.load(total[r, c]), ir.IntType(32)), place)
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
def divide_matches(a, b, divisor, out):
    """Write the number of agreements over a divisor; exact for a divisor of 1."""
    n, m = a.shape[0], b.shape[0]
    counts = np.empty((TALL, WIDE), np.uint32)
    for j0 in range(0, m, WIDE):
        j1 = min(m, j0 + WIDE)
        for i0 in range(0, n, TALL):
            i1 = min(n, i0 + TALL)
            count_tile(a, i0, i1, b, j0, j1, counts)
            for i in range(i1 - i0):
                for j in range(j1 - j0):
                    out[i0 + i, j0 + j] = counts[i, j] / divisor


@kernel
def count_matches(a, b, out):
    """Write the number of agreements of every row of ``a`` with every row of ``b``."""
    divide_matches(a, b, 1, out)


@kernel
def share_matches(a, b, out):
    """Write the share of agreements of every row of ``a`` with every row of ``b``."""
    divide_matches(a, b, a.shape[1], out)


@kernel
def nearest_by_matches(a, b, table, ids, exclude, distances, indices):
    """Work the rows of ``b`` into the lists of the rows of ``a``.

    ``table[c]`` is the distance of c agreements; it must not increase. Counts are compared before
    distances are looked up, so that most candidates cost one comparison of whole numbers.
    """
    n, m, k = a.shape[0], b.shape[0], distances.shape[1]
    counts = np.empty((TALL, WIDE), np.uint32)
    least = np.zeros(n, np.int64)  # fewer agreements than this cannot enter the list
    for i in range(n):
        while least[i] < table.shape[0] - 1 and table[least[i]] > distances[i, k - 1]:
            least[i] += 1
    for j0 in range(0, m, WIDE):
        j1 = min(m, j0 + WIDE)
        for i0 in range(0, n, TALL):
            i1 = min(n, i0 + TALL)
            count_tile(a, i0, i1, b, j0, j1, counts)
            for i in range(i1 - i0):
                at = i0 + i
                floor = least[at]
                for j in range(j1 - j0):
                    count = counts[i, j]
                    if count < floor:
                        continue
                    d = table[count]
                    index = ids[j0 + j]
                    if index != exclude[at] and before(
                        d, index, distances[at, k - 1], indices[at, k - 1]
                    ):
                        insert(distances[at], indices[at], d, index)
                        while floor < table.shape[0] - 1 and table[floor] > distances[at, k - 1]:
                            floor += 1
                least[at] = floor
