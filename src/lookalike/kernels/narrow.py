"""Counting in narrow integers.

numba widens every sum of integers to 64 bits, and loops that count then use an eighth of the
vector unit. ``add_narrow`` adds a truth value to a counter of any width without widening it.
"""

from lookalike.kernels._jit import instruction


def _add_narrow(builder, counter, truth):
    resize = builder.zext if truth.type.width < counter.type.width else builder.trunc
    return builder.add(
        counter, truth if truth.type == counter.type else resize(truth, counter.type)
    )


@instruction(_add_narrow)
def add_narrow(counter, truth):
    """Return counter + truth in the type of counter; the caller rules out overflow."""
    return type(counter)(counter + truth)


def build_difference(builder, u, v):
    """Build |u - v| of unsigned integers: the smaller is subtracted, so nothing wraps around."""
    less = builder.icmp_unsigned("<", u, v)
    return builder.sub(builder.select(less, v, u), builder.select(less, u, v))


def _add_step(builder, total, u, v, step):
    gap = build_difference(builder, u, v)
    more = builder.select(builder.icmp_unsigned("<", gap, step), gap, step)
    return builder.add(total, builder.add(gap, more))


@instruction(_add_step)
def add_step(total, u, v, step):
    """Return total + |u - v| + step, or total where u = v; unsigned, step is 0 or 1.

    All in the type of total; the caller rules out overflow.
    """
    gap = abs(int(u) - int(v))
    return type(total)(int(total) + gap + min(gap, int(step)))
