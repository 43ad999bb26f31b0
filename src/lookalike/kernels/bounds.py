"""Lower bounds of distances from one byte per cell, which rule out most rows of a search.

Codes lie in tiles of 1,024 rows, a column of a tile contiguous. The bound of a row is a sum of
integers over the columns: for numbers ``w * max(|u - v| - 1, 0)`` with u and v the codes of the two
cells, for categories w where the codes differ, for looked up columns what a table of the query says
of the code. Coordinates of a vector add up their squares by themselves; with the last of them the
root of that sum is added. Code 255 is a missing cell, which adds ``gap``. The sums are kept in the
narrow type of ``work``, which the caller chooses wide enough.
"""

import numpy as np

from lookalike.kernels._jit import instruction, kernel
from lookalike.kernels.narrow import build_difference

# -- what one cell adds, in narrow integers --------------------------------------------------------
#
# numba alone would widen every sum to 64 bits and turn every choice into a branch, and either
# keeps most of the vector unit idle. Each term has a plain Python fallback for when nothing is
# compiled.

MISSING = 255  # the code of a missing cell


def _widened(builder, value, kind):
    return builder.zext(value, kind) if value.type != kind else value


def _larger(builder, one, other):
    return builder.select(builder.icmp_unsigned("<", one, other), other, one)


def _steps_apart(builder, like, u, v):
    """Build max(|u - v| - 1, 0) without leaving the unsigned numbers."""
    gap = build_difference(builder, u, _widened(builder, v, like.type))
    return builder.sub(_larger(builder, gap, like.type(1)), like.type(1))


@instruction(lambda builder, like, u, v, w: builder.mul(w, _steps_apart(builder, like, u, v)))
def number_term(like, u, v, w):
    """Return w * max(|u - v| - 1, 0) in the type of ``like``."""
    return type(like)(int(w) * max(abs(int(u) - int(v)) - 1, 0))


def _square_term(builder, like, u, v):
    gap = _steps_apart(builder, like, u, v)
    return builder.mul(gap, gap)


@instruction(_square_term)
def square_term(like, u, v):
    """Return max(|u - v| - 1, 0) squared, in the type of ``like``."""
    return type(like)(max(abs(int(u) - int(v)) - 1, 0) ** 2)


def _root_term(builder, squares, factor, most):
    real = factor.type
    root = builder.module.declare_intrinsic("llvm.sqrt", [real])
    term = builder.fmul(factor, builder.call(root, [builder.uitofp(squares, real)]))
    cap = builder.uitofp(most, real)
    term = builder.select(builder.fcmp_ordered("<", term, cap), term, cap)
    return builder.fptoui(term, most.type)


@instruction(_root_term, returns=2)
def root_term(squares, factor, most):
    """Return factor * sqrt(squares), at most ``most``, rounded down in the type of that."""
    return type(most)(min(factor * np.sqrt(np.float32(squares)), np.float32(most)))


def _equal_term(builder, like, u, v, w):
    differs = builder.icmp_unsigned("!=", u, _widened(builder, v, like.type))
    return builder.select(differs, w, like.type(0))


@instruction(_equal_term)
def equal_term(like, u, v, w):
    """Return w where u and v differ, else 0, in the type of ``like``."""
    return w if int(u) != int(v) else type(like)(0)


def _unless_missing(builder, term, v, filler):
    return builder.select(builder.icmp_unsigned("==", v, v.type(MISSING)), filler, term)


@instruction(_unless_missing)
def unless_missing(term, v, filler):
    """Return the filler where v is the code of a missing cell, else the term."""
    return filler if int(v) == MISSING else term


def _share(builder, total, lost, base, whole):
    real = base.type
    above = builder.fadd(builder.uitofp(total, real), base)
    left = builder.fsub(whole, builder.uitofp(lost, real))
    some = builder.fcmp_ordered(">", left, real(0.0))
    return builder.select(some, builder.fdiv(above, left), real(float("inf")))


@instruction(_share, returns="float32")
def share(total, lost, base, whole):
    """Return (base + total) / (whole - lost) as float32, infinite where nothing is left."""
    left = whole - np.float32(lost)
    return (np.float32(total) + base) / left if left > 0 else np.float32(np.inf)


@instruction(lambda builder, one, other: builder.add(one, other))
def plus(one, other):
    """Return the sum in the type of both; the caller rules out overflow."""
    return type(one)(int(one) + int(other))


def _plus_at_most(builder, one, other):
    total = builder.add(one, other)
    return builder.select(builder.icmp_unsigned("<", total, one), one.type(-1), total)


@instruction(_plus_at_most)
def plus_at_most(one, other):
    """Return the sum in the type of both, or the largest number of that type."""
    return type(one)(min(int(one) + int(other), int(np.iinfo(type(one)).max)))


@instruction(_larger)
def larger(one, other):
    """Return the larger of two numbers of one type."""
    return max(one, other)


def _smaller(builder, one, other):
    return builder.select(builder.icmp_unsigned("<", one, other), one, other)


@instruction(_smaller)
def smaller(one, other):
    """Return the smaller of two numbers of one type."""
    return min(one, other)


# -- sums over the columns of a tile ---------------------------------------------------------------

TILE_ROWS = 1024
PART_ROWS = 64  # rows of a tile whose smallest bound is remembered
STEPS = 254  # numbers are cut into so many steps: codes from 0 to 254
# How a column is compared; the second of each pair is for columns with missing cells.
SKIP, NUMBER, NUMBER_MISSING, EQUAL, EQUAL_MISSING, LOOKUP, LOOKUP_MISSING = range(7)
# A coordinate of a vector, and its last one.
SQUARE, SQUARE_MISSING, ROOT, ROOT_MISSING = range(7, 11)


@kernel
def _add_column(column, how, u, w, gap, sums):
    if how == NUMBER:
        for c in range(len(sums)):
            sums[c] = plus(sums[c], number_term(sums[c], u, column[c], w))
    elif how == NUMBER_MISSING:
        for c in range(len(sums)):
            term = number_term(sums[c], u, column[c], w)
            sums[c] = plus(sums[c], unless_missing(term, column[c], gap))
    elif how == EQUAL:
        for c in range(len(sums)):
            sums[c] = plus(sums[c], equal_term(sums[c], u, column[c], w))
    elif how == EQUAL_MISSING:
        for c in range(len(sums)):
            term = equal_term(sums[c], u, column[c], w)
            sums[c] = plus(sums[c], unless_missing(term, column[c], gap))


@kernel
def _add_looked_up(column, table, sums):
    for c in range(len(sums)):
        sums[c] = plus(sums[c], table[column[c]])


@kernel
def _add_squares(column, u, squares):
    for c in range(len(squares)):
        squares[c] = plus_at_most(squares[c], square_term(squares[c], u, column[c]))


@kernel
def _add_root(column, how, factor, w, gap, squares, nothing, sums):
    """Add the root of the squares, and begin new ones."""
    if how == ROOT:
        for c in range(len(sums)):
            sums[c] = plus(sums[c], root_term(squares[c], factor, w))
    else:
        for c in range(len(sums)):
            term = root_term(squares[c], factor, w)
            sums[c] = plus(sums[c], unless_missing(term, column[c], gap))
    squares[:] = nothing


@kernel
def _take_larger(column, how, u, w, gap, sums):
    if how == NUMBER:
        for c in range(len(sums)):
            sums[c] = larger(sums[c], number_term(sums[c], u, column[c], w))
    elif how == NUMBER_MISSING:
        for c in range(len(sums)):
            term = number_term(sums[c], u, column[c], w)
            sums[c] = larger(sums[c], unless_missing(term, column[c], gap))


@kernel
def _add_missing_weight(column, weight, nothing, sums):
    """Note in ``sums`` the weight of a column that is missing."""
    for c in range(len(sums)):
        sums[c] = plus(sums[c], unless_missing(nothing, column[c], weight))


@kernel
def row_bounds(tile, queries, q, work, lost, keys):
    """Write a lower bound for some rows of a tile, for one of the queries, into ``keys``.

    Parameters
    ----------
    tile : uint8 (columns, rows)
    queries : named tuple
        ``how`` int64 (queries, columns); ``u``, ``w``, ``gap``, ``weight`` of the same shape, in
        the type of work; ``tables`` (queries, slots, 256) in that type, and ``slot`` int64 per
        column; ``zero`` in that type; ``factor`` float32 (queries, columns), what a step of a
        vector is worth; ``base``, ``whole`` float32 per query;
        ``shared`` bool: divide by the weight of the columns that are there; ``largest`` bool:
        take the largest column instead of the sum.
    q : int, which query
    work, lost : arrays in a narrow type, one entry per row, working space
    keys : float32 (rows)
    """
    how, u, w, gap = queries.how[q], queries.u[q], queries.w[q], queries.gap[q]
    # Every term is at most the true difference in steps, so the sum is a lower bound: a row above
    # the limit cannot be among the nearest, whatever its exact distance (decision 13).
    work[:] = queries.zero
    lost[:] = queries.zero
    for j in range(tile.shape[0]):
        if how[j] == SKIP:
            continue
        if how[j] >= SQUARE:
            _add_squares(tile[j], u[j], lost)
            if how[j] >= ROOT:
                factor = queries.factor[q, j]
                _add_root(tile[j], how[j], factor, w[j], gap[j], lost, queries.zero, work)
        elif how[j] >= LOOKUP:
            _add_looked_up(tile[j], queries.tables[q, queries.slot[j]], work)
        elif queries.largest:
            _take_larger(tile[j], how[j], u[j], w[j], gap[j], work)
        else:
            _add_column(tile[j], how[j], u[j], w[j], gap[j], work)
    base = queries.base[q]
    if not queries.shared:
        for c in range(len(keys)):
            keys[c] = np.float32(work[c]) + base
        return
    # The squares of the last vector are used up: ``lost`` is zero again.
    for j in range(tile.shape[0]):
        gaps = how[j] == NUMBER_MISSING or how[j] == EQUAL_MISSING or how[j] == LOOKUP_MISSING
        if (gaps or how[j] == ROOT_MISSING) and queries.weight[q, j] > queries.zero:
            _add_missing_weight(tile[j], queries.weight[q, j], queries.zero, lost)
    whole = queries.whole[q]
    # Divided by at least the weight that was compared: a larger divisor only lowers the bound.
    for c in range(len(keys)):
        keys[c] = share(work[c], lost[c], base, whole)


@kernel
def propose(tiles, n, allowed, queries, first, last, work, lost, keys, lowest, best, rows):
    """Find for each query the rows with the smallest bounds, and the smallest of every part.

    Parameters
    ----------
    tiles : uint8 (number of tiles, columns, TILE_ROWS)
    n : int, number of rows; the rest of the last tile is not a row
    allowed : bool (n), or of length 0 if every row may be found
    queries : see ``row_bounds``
    first, last : int, which tiles to look at
    work, lost, keys : working space, TILE_ROWS long
    lowest : float32 (queries, parts of all tiles), written for these tiles
    best : float32 (queries, k), inf at the start, ascending
    rows : int64 (queries, k), -1 at the start
    """
    k, parts = best.shape[1], TILE_ROWS // PART_ROWS
    bits, low_bits = keys.view(np.uint32), np.empty(1, np.uint32)
    for t in range(first, last):
        for q in range(best.shape[0]):
            row_bounds(tiles[t], queries, q, work, lost, keys)
            least, at_least = best[q], rows[q]
            for part in range(parts):
                # Bounds are not negative, so their bits are in the same order, and integers
                # are quick.
                low_bits[0] = bits[part * PART_ROWS]
                for c in range(part * PART_ROWS, (part + 1) * PART_ROWS):
                    low_bits[0] = smaller(low_bits[0], bits[c])
                low = low_bits.view(np.float32)[0]
                lowest[q, t * parts + part] = low
                if not low < least[k - 1]:
                    continue
                start = t * TILE_ROWS
                for c in range(part * PART_ROWS, min((part + 1) * PART_ROWS, n - start)):
                    if keys[c] < least[k - 1] and (len(allowed) == 0 or allowed[start + c]):
                        slot = k - 1
                        while slot > 0 and keys[c] < least[slot - 1]:
                            least[slot], at_least[slot] = least[slot - 1], at_least[slot - 1]
                            slot -= 1
                        least[slot], at_least[slot] = keys[c], start + c


@kernel
def collect(
    tiles, n, allowed, queries, begin, end, limits, most, work, lost, keys, lowest, ends, rows
):
    """Write the rows whose bound is at most the limit of the query, query after query.

    Parameters
    ----------
    tiles, n, allowed, queries : as for ``propose``
    begin, end : int, which queries
    limits : float32 per query
    most : int, how many rows a query may have
    work, lost, keys : working space, PART_ROWS long
    lowest : as ``propose`` has left it
    ends : int64 per query
        Where the rows of the query end; those of the first begin at 0. ``-1 - end`` for a query
        that has more than ``most`` rows, none of which are kept.
    rows : int64, memory for the rows; at least ``most``

    Returns
    -------
    The first query that is not done because ``rows`` was full; ``end`` if all are.
    """
    count, parts = 0, TILE_ROWS // PART_ROWS
    for q in range(begin, end):
        start, limit, n_within = count, limits[q], 0
        # Most parts of a tile are ruled out by their smallest bound, which the first pass has left.
        for p in range(lowest.shape[1]):
            if lowest[q, p] > limit:
                continue
            t, first_row = p // parts, (p % parts) * PART_ROWS
            row_bounds(tiles[t, :, first_row : first_row + PART_ROWS], queries, q, work, lost, keys)
            first_row += t * TILE_ROWS
            for c in range(min(PART_ROWS, n - first_row)):
                if keys[c] <= limit and (len(allowed) == 0 or allowed[first_row + c]):
                    if n_within < most:
                        if count == len(rows):
                            return q
                        rows[count] = first_row + c
                        count += 1
                    n_within += 1
            if n_within > most:
                break
        if n_within > most:
            count = start
            # Too many rows for bounds to help: the caller looks at everything instead.
            ends[q] = -1 - count
        else:
            ends[q] = count
    return end
