"""Rows that no lower bound rules out, for many queries that are near each other.

Given a limit, a mean over the columns that two rows share is as good as a sum: a missing cell adds
the limit times the weight of its column, and the sum is compared with the limit times all weights.
So bounds need neither a division nor a count of what is missing, and sums may stop at the largest
number of a narrow type.

A box around the queries rules out most rows for all of them in one pass over the codes. The codes
of the others are copied, in steps of equal worth, and compared with each query: one byte per cell,
and no product.
"""

from lookalike.kernels._jit import instruction, kernel
from lookalike.kernels.bounds import (
    LOOKUP,
    NUMBER,
    SKIP,
    TILE_ROWS,
    equal_term,
    plus_at_most,
    smaller,
)
from lookalike.kernels.narrow import build_difference

STRIDE_ROWS = 128  # whose smallest bound is looked at first; most hold nothing of interest


def _minus(builder, one, other):
    """Build max(one - other, 0)."""
    less = builder.icmp_unsigned("<", one, other)
    return builder.select(less, one.type(0), builder.sub(one, other))


def _outside(builder, low, high, v):
    v = builder.zext(v, low.type) if v.type != low.type else v
    below, above = _minus(builder, low, v), _minus(builder, v, high)
    return builder.select(builder.icmp_unsigned("<", below, above), above, below)


@instruction(
    lambda builder, low, high, v, w: builder.mul(
        w, _minus(builder, _outside(builder, low, high, v), low.type(1))
    )
)
def number_outside(low, high, v, w):
    """Return w times the steps from v to an interval, one step less; 0 inside."""
    beyond = max(int(low) - int(v), int(v) - int(high), 0)
    return type(low)(int(w) * max(beyond - 1, 0))


def _equal_outside(builder, low, high, v, w):
    beyond = _outside(builder, low, high, v)
    return builder.select(builder.icmp_unsigned("==", beyond, low.type(0)), low.type(0), w)


@instruction(_equal_outside)
def equal_outside(low, high, v, w):
    """Return w where v is outside of an interval, else 0."""
    return type(low)(0) if int(low) <= int(v) <= int(high) else w


@instruction(lambda builder, u, v, step: _minus(builder, build_difference(builder, u, v), step))
def apart(u, v, step):
    """Return |u - v| - step, at least 0."""
    return type(u)(max(abs(int(u) - int(v)) - int(step), 0))


def _unless_equal(builder, term, v, code, filler):
    v = builder.zext(v, code.type) if v.type != code.type else v
    return builder.select(builder.icmp_unsigned("==", v, code), filler, term)


@instruction(_unless_equal)
def unless_equal(term, v, code, filler):
    """Return the filler where v is a code, else the term."""
    return filler if int(v) == int(code) else term


@kernel
def _add_outside(column, how, low, high, w, gap, most, missing, sums):
    """Add what every query of the box has at least in a column."""
    if how == NUMBER:
        for c in range(len(sums)):
            term = smaller(number_outside(low, high, column[c], w), most)
            sums[c] = plus_at_most(sums[c], unless_equal(term, column[c], missing, gap))
    else:
        for c in range(len(sums)):
            term = smaller(equal_outside(low, high, column[c], w), most)
            sums[c] = plus_at_most(sums[c], unless_equal(term, column[c], missing, gap))


@kernel
def _add_table(column, table, sums):
    for c in range(len(sums)):
        sums[c] = plus_at_most(sums[c], table[column[c]])


@kernel
def _add_apart(column, how, own, w, gap, missing, has_gaps, sums):
    """Add the bound of one column between a query and some rows."""
    if how == NUMBER and not has_gaps:
        for c in range(len(sums)):
            sums[c] = plus_at_most(sums[c], apart(own, column[c], w))
    elif how == NUMBER:
        for c in range(len(sums)):
            term = unless_equal(apart(own, column[c], w), column[c], missing, gap)
            sums[c] = plus_at_most(sums[c], term)
    elif not has_gaps:
        for c in range(len(sums)):
            sums[c] = plus_at_most(sums[c], equal_term(sums[c], own, column[c], w))
    else:
        for c in range(len(sums)):
            term = unless_equal(equal_term(sums[c], own, column[c], w), column[c], missing, gap)
            sums[c] = plus_at_most(sums[c], term)


@kernel
def _least(sums, least):
    """Return the smallest sum, in its narrow type."""
    least[0] = sums[0]
    for c in range(len(sums)):
        least[0] = smaller(least[0], sums[c])
    return least[0]


@kernel
def _compare(queries, gaps, codes, numbers, sums, least, found, rows, count):
    """Write the pairs of a query and a row whose bound is at most the limit of the query."""
    for q in range(len(queries.limit)):
        sums[:] = queries.zero
        for j in range(codes.shape[0]):
            how = queries.how[q, j]
            if how == LOOKUP:
                _add_table(codes[j], queries.tables[q, queries.slot[j]], sums)
            elif how != SKIP:
                own, w, gap = queries.own[q, j], queries.w[q, j], queries.gap[q, j]
                _add_apart(codes[j], how, own, w, gap, queries.missing, gaps[j], sums)
        limit = queries.limit[q]
        for start in range(0, len(sums), STRIDE_ROWS):
            part = sums[start : start + STRIDE_ROWS]
            if _least(part, least) > limit:
                continue
            for c in range(len(part)):  # written always: a branch would be guessed wrong
                found[count], rows[count] = q, numbers[start + c]
                count += part[c] <= limit
    return count


@kernel
def scan(
    tiles, n, allowed, gaps, first, enough, box, queries, recode, codes, numbers, sums, least, work,
    kept, found, rows,
):  # fmt: skip
    """Find the pairs of a query and a row that no bound rules out, until there are enough.

    Parameters
    ----------
    tiles, n, allowed : as for ``bounds.propose``
    gaps : bool per column, which have missing cells
    first : int, the tile to begin at
    enough : int, pairs after which the caller may lower the limits
    box : named tuple
        ``how`` int64 per column (SKIP, NUMBER, EQUAL, LOOKUP); ``low``, ``high``, ``w``, ``gap``,
        ``most`` uint16 per column; ``tables`` uint16 (looked up columns, 256), ``slot`` int64 per
        column; ``limit``, ``missing``, ``zero`` uint16.
    queries : named tuple
        The same of single queries, in uint8 or uint16, ``own`` in the place of ``low`` and
        ``high``; of numbers, ``w`` is what is taken off a difference of codes.
    recode : (columns, 256), what codes become before they are compared with single queries
    codes, numbers, sums : working space, at least two tiles of rows wide
    least : one number of the type of sums
    work : uint16 (TILE_ROWS)
    kept : int64 (TILE_ROWS)
    found, rows : integers, the pairs are written here
        Longer than ``enough`` and the queries times the width of codes together.

    Returns
    -------
    The tile to go on with, and the number of pairs.
    """
    fill, count = 0, 0
    for t in range(first, tiles.shape[0]):
        work[:] = box.zero
        for j in range(tiles.shape[1]):
            if box.how[j] == LOOKUP:
                _add_table(tiles[t, j], box.tables[box.slot[j]], work)
            elif box.how[j] != SKIP:
                _add_outside(
                    tiles[t, j], box.how[j], box.low[j], box.high[j], box.w[j], box.gap[j],
                    box.most[j], box.missing, work,
                )  # fmt: skip
        start, n_kept = t * TILE_ROWS, 0
        for c in range(min(TILE_ROWS, n - start)):
            kept[n_kept] = c
            if work[c] <= box.limit and (len(allowed) == 0 or allowed[start + c]):
                n_kept += 1
        for j in range(tiles.shape[1]):
            if box.how[j] != SKIP:
                for c in range(n_kept):
                    codes[j, fill + c] = recode[j, tiles[t, j, kept[c]]]
        for c in range(n_kept):
            numbers[fill + c] = start + kept[c]
        fill += n_kept
        if fill + TILE_ROWS > codes.shape[1] or t + 1 == tiles.shape[0]:
            count = _compare(
                queries, gaps, codes[:, :fill], numbers, sums[:fill], least, found, rows, count
            )
            fill = 0
            if count >= enough:
                return t + 1, count
    return tiles.shape[0], count
