"""Lower bounds of distances from one byte per cell: most rows are known not to be near by these.

Codes lie in tiles of 1,024 rows, a column of a tile in one piece. The bound of a row is a sum of
whole numbers over the columns: for numbers ``w * max(|u - v| - 1, 0)`` with u and v the codes of
the two cells, for categories w where the codes differ, for looked up columns what a table of the
query says of the code. Coordinates of a vector add up their squares by themselves; with the last of
them the root of that sum is added. Code 255 is a missing cell, which adds ``gap``. The sums are
kept in the narrow type of ``work``, which the caller chooses wide enough.
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.byte_terms import (
    equal_term,
    larger,
    number_term,
    plus,
    plus_at_most,
    root_term,
    share,
    smaller,
    square_term,
    unless_missing,
)

TILE = 1024
PART = 64  # rows of a tile whose smallest bound is remembered
STEPS = 254  # numbers are cut into so many steps: codes from 0 to 254
# How a column is compared; the second of each pair is for columns with missing cells.
SKIP, NUMBER, NUMBER_GAPS, EQUAL, EQUAL_GAPS, LOOKUP, LOOKUP_GAPS = range(7)
# A coordinate of a vector, and its last one.
SQUARE, SQUARE_GAPS, ROOT, ROOT_GAPS = range(7, 11)


@kernel
def _add_column(column, how, u, w, gap, sums):
    if how == NUMBER:
        for c in range(len(sums)):
            sums[c] = plus(sums[c], number_term(sums[c], u, column[c], w))
    elif how == NUMBER_GAPS:
        for c in range(len(sums)):
            term = number_term(sums[c], u, column[c], w)
            sums[c] = plus(sums[c], unless_missing(term, column[c], gap))
    elif how == EQUAL:
        for c in range(len(sums)):
            sums[c] = plus(sums[c], equal_term(sums[c], u, column[c], w))
    elif how == EQUAL_GAPS:
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
    elif how == NUMBER_GAPS:
        for c in range(len(sums)):
            term = number_term(sums[c], u, column[c], w)
            sums[c] = larger(sums[c], unless_missing(term, column[c], gap))


@kernel
def _take_off_weight(column, weight, nothing, sums):
    """Note in ``sums`` the weight of a column that is missing."""
    for c in range(len(sums)):
        sums[c] = plus(sums[c], unless_missing(nothing, column[c], weight))


@kernel
def row_bounds(tile, asked, q, work, lost, keys):
    """Write a lower bound for some rows of a tile, for one of the queries, into ``keys``.

    Parameters
    ----------
    tile : uint8 (columns, rows)
    asked : named tuple
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
    how, u, w, gap = asked.how[q], asked.u[q], asked.w[q], asked.gap[q]
    work[:] = asked.zero
    lost[:] = asked.zero
    for j in range(tile.shape[0]):
        if how[j] == SKIP:
            continue
        if how[j] >= SQUARE:
            _add_squares(tile[j], u[j], lost)
            if how[j] >= ROOT:
                factor = asked.factor[q, j]
                _add_root(tile[j], how[j], factor, w[j], gap[j], lost, asked.zero, work)
        elif how[j] >= LOOKUP:
            _add_looked_up(tile[j], asked.tables[q, asked.slot[j]], work)
        elif asked.largest:
            _take_larger(tile[j], how[j], u[j], w[j], gap[j], work)
        else:
            _add_column(tile[j], how[j], u[j], w[j], gap[j], work)
    base = asked.base[q]
    if not asked.shared:
        for c in range(len(keys)):
            keys[c] = np.float32(work[c]) + base
        return
    # The squares of the last vector are used up: ``lost`` is zero again.
    for j in range(tile.shape[0]):
        gaps = how[j] == NUMBER_GAPS or how[j] == EQUAL_GAPS or how[j] == LOOKUP_GAPS
        if (gaps or how[j] == ROOT_GAPS) and asked.weight[q, j] > asked.zero:
            _take_off_weight(tile[j], asked.weight[q, j], asked.zero, lost)
    whole = asked.whole[q]
    for c in range(len(keys)):
        keys[c] = share(work[c], lost[c], base, whole)


@kernel
def propose(tiles, n, allowed, asked, first, last, work, lost, keys, lowest, best, rows):
    """Find for each query the rows with the smallest bounds, and the smallest of every part.

    Parameters
    ----------
    tiles : uint8 (number of tiles, columns, TILE)
    n : int, number of rows; the rest of the last tile is not a row
    allowed : bool (n), or of length 0 if every row may be found
    asked : the queries, see ``row_bounds``
    first, last : int, which tiles to look at
    work, lost, keys : working space, TILE long
    lowest : float32 (queries, TILE // PART times the number of tiles), written for these tiles
    best : float32 (queries, k), inf at the start, ascending
    rows : int64 (queries, k), -1 at the start
    """
    k, parts = best.shape[1], TILE // PART
    bits, low_bits = keys.view(np.uint32), np.empty(1, np.uint32)
    for t in range(first, last):
        for q in range(best.shape[0]):
            row_bounds(tiles[t], asked, q, work, lost, keys)
            least, at_least = best[q], rows[q]
            for part in range(parts):
                # Bounds are not negative, so their bits are in the same order, and whole numbers
                # are quick.
                low_bits[0] = bits[part * PART]
                for c in range(part * PART, (part + 1) * PART):
                    low_bits[0] = smaller(low_bits[0], bits[c])
                low = low_bits.view(np.float32)[0]
                lowest[q, t * parts + part] = low
                if not low < least[k - 1]:
                    continue
                start = t * TILE
                for c in range(part * PART, min((part + 1) * PART, n - start)):
                    if keys[c] < least[k - 1] and (len(allowed) == 0 or allowed[start + c]):
                        at = k - 1
                        while at > 0 and keys[c] < least[at - 1]:
                            least[at], at_least[at] = least[at - 1], at_least[at - 1]
                            at -= 1
                        least[at], at_least[at] = keys[c], start + c


@kernel
def collect(
    tiles, n, allowed, asked, begin, end, limits, most, work, lost, keys, lowest, ends, rows
):
    """Write the rows whose bound is at most the limit of the query, query after query.

    Parameters
    ----------
    tiles, n, allowed, asked : as for ``propose``
    begin, end : int, which queries
    limits : float32 per query
    most : int, how many rows a query may have
    work, lost, keys : working space, PART long
    lowest : as ``propose`` has left it
    ends : int64 per query
        Where the rows of the query end; those of the first begin at 0. ``-1 - end`` for a query
        that has more than ``most`` rows, none of which are kept.
    rows : int64, room for the rows; at least ``most``

    Returns
    -------
    The first query that is not done because there was no room left for it; ``end`` if there is
    none.
    """
    count, parts = 0, TILE // PART
    for q in range(begin, end):
        start, limit, found = count, limits[q], 0
        for p in range(lowest.shape[1]):
            if lowest[q, p] > limit:
                continue
            t, at = p // parts, (p % parts) * PART
            row_bounds(tiles[t, :, at : at + PART], asked, q, work, lost, keys)
            at += t * TILE
            for c in range(min(PART, n - at)):
                if keys[c] <= limit and (len(allowed) == 0 or allowed[at + c]):
                    if found < most:
                        if count == len(rows):
                            return q
                        rows[count] = at + c
                        count += 1
                    found += 1
            if found > most:
                break
        if found > most:
            count = start
            ends[q] = -1 - count
        else:
            ends[q] = count
    return end
