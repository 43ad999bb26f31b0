"""Counting in narrow whole numbers.

numba widens every sum of whole numbers to 64 bits, and loops that count then use an eighth of the
vector unit. ``add_narrow`` adds a truth value to a counter of any width without widening it.
"""

from lookalike.kernels._jit import COMPILED

if COMPILED:
    from numba.extending import intrinsic

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

else:

    def add_narrow(counter, truth):
        """Return counter + truth with the type of counter."""
        return type(counter)(counter + truth)
