"""Lower bounds of distances from one byte per cell: most rows are known not to be near by these.

Codes lie in tiles of 1,024 rows, a column of a tile in one piece. The bound of a row is a sum of
whole numbers over the columns: for numbers ``w * max(|u - v| - 1, 0)`` with u and v the codes of
the two cells, for categories w where the codes differ. Code 255 is a missing cell, which adds
``gap``. The sums are kept in the narrow type of ``work``, which the caller chooses wide enough;
numba alone would widen them to 64 bits and lose most of the vector unit.
"""

import numpy as np

from lookalike.kernels._jit import COMPILED, kernel

TILE = 1024
MISSING = 255
STEPS = 254  # numbers are cut into so many steps: codes from 0 to 254
SKIP, NUMBER, NUMBER_GAPS, EQUAL, EQUAL_GAPS = range(5)  # how a column is compared

if COMPILED:
    from numba.extending import intrinsic

    def _widened(builder, value, kind):
        return builder.zext(value, kind) if value.type != kind else value

    def _larger(builder, one, other):
        return builder.select(builder.icmp_unsigned("<", one, other), other, one)

    def _gap(builder, u, v, kind):
        """Build max(|u - v| - 1, 0) without leaving the unsigned numbers."""
        less = builder.icmp_unsigned("<", u, v)
        gap = builder.sub(builder.select(less, v, u), builder.select(less, u, v))
        return builder.sub(_larger(builder, gap, kind(1)), kind(1))

    @intrinsic
    def number_term(context, like, u, v, w):
        """Return w * max(|u - v| - 1, 0) in the type of ``like``."""

        def build(target, builder, signature, arguments):
            like, u, v, w = arguments
            v = _widened(builder, v, like.type)
            return builder.mul(w, _gap(builder, u, v, like.type))

        return like(like, u, v, w), build

    @intrinsic
    def equal_term(context, like, u, v, w):
        """Return w where u and v differ, else 0, in the type of ``like``."""

        def build(target, builder, signature, arguments):
            like, u, v, w = arguments
            v = _widened(builder, v, like.type)
            return builder.select(builder.icmp_unsigned("!=", u, v), w, like.type(0))

        return like(like, u, v, w), build

    @intrinsic
    def unless_missing(context, term, v, filler):
        """Return the filler where v is the code of a missing cell, else the term."""

        def build(target, builder, signature, arguments):
            term, v, filler = arguments
            missing = builder.icmp_unsigned("==", v, v.type(MISSING))
            return builder.select(missing, filler, term)

        return term(term, v, filler), build

    @intrinsic
    def plus(context, one, other):
        """Return the sum in the type of both; the caller rules out overflow."""

        def build(target, builder, signature, arguments):
            return builder.add(*arguments)

        return one(one, other), build

    @intrinsic
    def smaller(context, one, other):
        """Return the smaller of two numbers of one type."""

        def build(target, builder, signature, arguments):
            one, other = arguments
            return builder.select(builder.icmp_unsigned("<", one, other), one, other)

        return one(one, other), build

    @intrinsic
    def larger(context, one, other):
        """Return the larger of two numbers of one type."""

        def build(target, builder, signature, arguments):
            return _larger(builder, *arguments)

        return one(one, other), build

else:

    def number_term(like, u, v, w):
        """Return w * max(|u - v| - 1, 0) in the type of ``like``."""
        return type(like)(int(w) * max(abs(int(u) - int(v)) - 1, 0))

    def equal_term(like, u, v, w):
        """Return w where u and v differ, else 0, in the type of ``like``."""
        return w if int(u) != int(v) else type(like)(0)

    def unless_missing(term, v, filler):
        """Return the filler where v is the code of a missing cell, else the term."""
        return filler if int(v) == MISSING else term

    def plus(one, other):
        """Return the sum in the type of both; the caller rules out overflow."""
        return type(one)(int(one) + int(other))

    def smaller(one, other):
        """Return the smaller of two numbers of one type."""
        return min(one, other)

    def larger(one, other):
        """Return the larger of two numbers of one type."""
        return max(one, other)


@kernel
def _add_column(column, how, u, w, gap, sums):
    if how == NUMBER:
        for c in range(TILE):
            sums[c] = plus(sums[c], number_term(sums[c], u, column[c], w))
    elif how == NUMBER_GAPS:
        for c in range(TILE):
            term = number_term(sums[c], u, column[c], w)
            sums[c] = plus(sums[c], unless_missing(term, column[c], gap))
    elif how == EQUAL:
        for c in range(TILE):
            sums[c] = plus(sums[c], equal_term(sums[c], u, column[c], w))
    elif how == EQUAL_GAPS:
        for c in range(TILE):
            term = equal_term(sums[c], u, column[c], w)
            sums[c] = plus(sums[c], unless_missing(term, column[c], gap))


@kernel
def _take_larger(column, how, u, w, gap, sums):
    if how == NUMBER:
        for c in range(TILE):
            sums[c] = larger(sums[c], number_term(sums[c], u, column[c], w))
    elif how == NUMBER_GAPS:
        for c in range(TILE):
            term = number_term(sums[c], u, column[c], w)
            sums[c] = larger(sums[c], unless_missing(term, column[c], gap))


@kernel
def _take_off_weight(column, weight, nothing, sums):
    """Note in ``sums`` the weight of a column that is missing."""
    for c in range(TILE):
        sums[c] = plus(sums[c], unless_missing(nothing, column[c], weight))


@kernel
def tile_bounds(tile, asked, q, work, lost, keys):
    """Write a lower bound for every row of one tile, for one of the queries, into ``keys``.

    Parameters
    ----------
    tile : uint8 (columns, TILE)
    asked : named tuple
        ``how`` int64 (queries, columns); ``u``, ``w``, ``gap``, ``weight`` of the same shape, in
        the type of work; ``zero`` in that type; ``base``, ``whole`` float32 per query;
        ``shared`` bool: divide by the weight of the columns that are there; ``largest`` bool:
        take the largest column instead of the sum.
    q : int, which query
    work, lost : arrays of TILE in a narrow type, working space
    keys : float32 (TILE)
    """
    how, u, w, gap = asked.how[q], asked.u[q], asked.w[q], asked.gap[q]
    work[:] = asked.zero
    for j in range(tile.shape[0]):
        if how[j] == SKIP:
            continue
        if asked.largest:
            _take_larger(tile[j], how[j], u[j], w[j], gap[j], work)
        else:
            _add_column(tile[j], how[j], u[j], w[j], gap[j], work)
    base = asked.base[q]
    if not asked.shared:
        for c in range(TILE):
            keys[c] = np.float32(work[c]) + base
        return
    lost[:] = asked.zero
    for j in range(tile.shape[0]):
        if how[j] == NUMBER_GAPS or how[j] == EQUAL_GAPS:
            _take_off_weight(tile[j], asked.weight[q, j], asked.zero, lost)
    whole = asked.whole[q]
    for c in range(TILE):
        left = whole - np.float32(lost[c])
        keys[c] = (np.float32(work[c]) + base) / left if left > 0 else np.float32(np.inf)


@kernel
def propose(tiles, n, allowed, asked, first, last, work, lost, keys, lowest, best, rows):
    """Find for each query the rows with the smallest bounds, and the smallest of every tile.

    Parameters
    ----------
    tiles : uint8 (number of tiles, columns, TILE)
    n : int, number of rows; the rest of the last tile is not a row
    allowed : bool (n), or of length 0 if every row may be found
    asked : the queries, see ``tile_bounds``
    first, last : int, which tiles to look at
    work, lost, keys : working space
    lowest : float32 (queries, number of tiles), written for these tiles
    best : float32 (queries, k), inf at the start, ascending
    rows : int64 (queries, k), -1 at the start
    """
    k = best.shape[1]
    bits, low_bits = keys.view(np.uint32), np.empty(1, np.uint32)
    for t in range(first, last):
        for q in range(best.shape[0]):
            tile_bounds(tiles[t], asked, q, work, lost, keys)
            # Bounds are not negative, so their bits are in the same order, and whole numbers are
            # quick.
            low_bits[0] = bits[0]
            for c in range(TILE):
                low_bits[0] = smaller(low_bits[0], bits[c])
            low = low_bits.view(np.float32)[0]
            lowest[q, t] = low
            least, at_least = best[q], rows[q]
            if not low < least[k - 1]:
                continue
            for c in range(min(TILE, n - t * TILE)):
                if keys[c] < least[k - 1] and (len(allowed) == 0 or allowed[t * TILE + c]):
                    at = k - 1
                    while at > 0 and keys[c] < least[at - 1]:
                        least[at], at_least[at] = least[at - 1], at_least[at - 1]
                        at -= 1
                    least[at], at_least[at] = keys[c], t * TILE + c


@kernel
def collect(tiles, n, allowed, asked, q, first, last, limit, work, lost, keys, lowest, rows):
    """Write the rows whose bound for one query is at most the limit; return how many there are.

    More than ``rows`` has room for are counted but not written.
    """
    count = 0
    for t in range(first, last):
        if lowest[t] > limit:
            continue
        tile_bounds(tiles[t], asked, q, work, lost, keys)
        for c in range(min(TILE, n - t * TILE)):
            if keys[c] <= limit and (len(allowed) == 0 or allowed[t * TILE + c]):
                if count < len(rows):
                    rows[count] = t * TILE + c
                count += 1
    return count
