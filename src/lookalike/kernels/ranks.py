"""Cityblock distances of ranks in two bytes: sixteen differences per instruction.

Twice the ranks are whole numbers, and so are their differences: the sums are exact, in any order
and any width that holds them.
"""

from lookalike.kernels._jit import kernel
from lookalike.kernels.narrow import add_step

TILE = 512  # rows of b at a time: twenty columns of them stay in the first-level cache
MOST = 65535  # of a sum in two bytes


@kernel
def turn_codes(codes, out):
    """Write rows as tiles: ``out[k, j, c]`` is column j of row c of tile k; rows may be missing."""
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            out[i // TILE, j, i % TILE] = codes[i, j]


@kernel
def ranked_narrow(codes_a, tiles_b, step, together, low, high, out):
    """Write the distances of ``distances.ranked_cityblock`` where codes fit in two bytes.

    ``tiles_b`` is from ``turn_codes``. ``step`` is 0 or 1 in the type of the codes. Sums of
    ``together`` columns fit in two bytes. ``low`` and ``high`` (int32), as long as a tile, are
    scratch.
    """
    for k in range(tiles_b.shape[0]):
        tile, start = tiles_b[k], k * TILE
        for i in range(codes_a.shape[0]):
            _sum_steps(codes_a[i], tile, step, together, low, high)
            row = out[i, start : start + TILE]
            for c in range(row.shape[0]):
                row[c] = 0.5 * high[c]


@kernel
def _sum_steps(x, tile, step, together, low, high):
    """Write twice the distances of one row to those of a tile into ``high``."""
    n_columns = x.shape[0]
    for first in range(0, n_columns, together):
        j, stop = first, min(n_columns, first + together)
        low[:] = 0
        # Three columns at a time: sums are fetched once for them.
        while j + 3 <= stop:
            x1, x2, x3 = x[j], x[j + 1], x[j + 2]
            for c in range(TILE):
                some = add_step(low[c], x1, tile[j, c], step)
                some = add_step(some, x2, tile[j + 1, c], step)
                low[c] = add_step(some, x3, tile[j + 2, c], step)
            j += 3
        while j < stop:
            x1 = x[j]
            for c in range(TILE):
                low[c] = add_step(low[c], x1, tile[j, c], step)
            j += 1
        if first == 0:
            for c in range(TILE):
                high[c] = low[c]
        else:
            for c in range(TILE):
                high[c] += low[c]
