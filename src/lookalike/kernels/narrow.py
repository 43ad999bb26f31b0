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


def _tally(builder, counts, tells, same, met):
    met = met if met.type.width == 1 else builder.trunc(met, tells.type)
    same = builder.and_(tells, same)
    apart = builder.and_(builder.and_(tells, met), builder.not_(same))
    for place, truth in enumerate((tells, same, builder.and_(same, met), apart)):
        one = builder.shl(
            builder.zext(truth, counts.type), counts.type(place * counts.type.width // 4)
        )
        counts = builder.add(counts, one)
    return counts


@instruction(_tally)
def tally(counts, tells, same, met):
    """Return four counts in one integer, a quarter of its bits each, with one more test.

    From the lowest bits: tests whose answer both rows know, those on which they agree, and among
    the tests that lie on both paths (``met``, 0 or 1) those agreed and those apart. The caller
    rules out overflow.
    """
    same, met = tells and same, bool(met)
    truths = tells, same, same and met, tells and met and not same
    step = sum(int(truth) << 2 * counts.itemsize * place for place, truth in enumerate(truths))
    return type(counts)(int(counts) + step)


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
