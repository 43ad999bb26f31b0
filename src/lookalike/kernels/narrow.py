"""Counting in narrow integers.

numba widens every sum of integers to 64 bits, and loops that count then use an eighth of the
vector unit. ``add_narrow`` adds a truth value to a counter of any width without widening it.
"""

from lookalike.kernels._jit import COMPILED, intrinsic

if COMPILED:

    @intrinsic
    def add_narrow(context, counter, truth):
        """Return counter + truth in the type of counter; the caller rules out overflow."""

        def build(target, builder, signature, arguments):
            total, more = arguments
            if more.type.width < total.type.width:
                more = builder.zext(more, total.type)
            elif more.type.width > total.type.width:
                more = builder.trunc(more, total.type)
            return builder.add(total, more)

        return counter(counter, truth), build

    @intrinsic
    def add_step(context, total, u, v, step):
        """Return total + |u - v| + step, or total where u = v; unsigned, step is 0 or 1.

        All in the type of total; the caller rules out overflow.
        """

        def build(target, builder, signature, arguments):
            total, u, v, step = arguments
            less = builder.icmp_unsigned("<", u, v)
            gap = builder.sub(builder.select(less, v, u), builder.select(less, u, v))
            more = builder.select(builder.icmp_unsigned("<", gap, step), gap, step)
            return builder.add(total, builder.add(gap, more))

        return total(total, u, v, step), build

else:

    def add_step(total, u, v, step):
        """Return total + |u - v| + step, or total where u = v, with the type of total."""
        gap = abs(int(u) - int(v))
        return type(total)(int(total) + gap + min(gap, int(step)))

    def add_narrow(counter, truth):
        """Return counter + truth with the type of counter."""
        return type(counter)(counter + truth)
