"""Random numbers inside kernels, one stream per tree.

A multiply-with-carry generator whose state is one signed 64-bit number: no step overflows, so that
compiled and plain runs give the same stream. Each tree has its own state, drawn by numpy's
generator, so that the forest does not depend on how its trees are shared among threads.
"""

from lookalike.kernels._jit import kernel

MULTIPLIER = 698769069  # MULTIPLIER * 2**32 - 1 is a safe prime: the period is about 2**60
STATES = MULTIPLIER * 2**32 - 1  # admissible states are 1 .. STATES - 1


@kernel
def draw_bits(state):
    """Return the next 32 random bits; ``state`` is an int64 array of length 1."""
    low = state[0] & 0xFFFFFFFF
    high = state[0] >> 32
    state[0] = MULTIPLIER * low + high
    return low ^ high


@kernel
def draw_unit(state):
    """Return a number in [0, 1) with 53 random bits."""
    high = draw_bits(state) >> 5
    low = draw_bits(state) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


@kernel
def draw_below(state, bound):
    """Return a whole number in 0 .. bound - 1."""
    return int(draw_unit(state) * bound)


@kernel
def draw_next(state, pool, drawn):
    """Draw one of ``pool[drawn:]``, move it to ``pool[drawn]`` and return it."""
    other = drawn + draw_below(state, pool.shape[0] - drawn)
    pool[drawn], pool[other] = pool[other], pool[drawn]
    return pool[drawn]


@kernel
def draw_rows(state, n, order, rows, swaps):
    """Fill ``rows`` with distinct numbers below n.

    ``order`` holds 0 .. n - 1 and is put back as it was, so that no tree depends on the one before.
    """
    m = rows.shape[0]
    for i in range(m):
        j = i + draw_below(state, n - i)
        swaps[i] = j
        order[i], order[j] = order[j], order[i]
        rows[i] = order[i]
    for i in range(m - 1, -1, -1):
        j = swaps[i]
        order[i], order[j] = order[j], order[i]
