"""What one cell adds to a lower bound, in narrow whole numbers.

numba alone would widen every sum to 64 bits, and turn every choice into a jump, and lose most of
the vector unit either way. Each term has a plain twin for when nothing is compiled.
"""

import numpy as np

from lookalike.kernels._jit import COMPILED, intrinsic

MISSING = 255  # the code of a missing cell

if COMPILED:

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
    def square_term(context, like, u, v):
        """Return max(|u - v| - 1, 0) squared, in the type of ``like``."""

        def build(target, builder, signature, arguments):
            like, u, v = arguments
            gap = _gap(builder, u, _widened(builder, v, like.type), like.type)
            return builder.mul(gap, gap)

        return like(like, u, v), build

    @intrinsic
    def root_term(context, squares, factor, most):
        """Return factor * sqrt(squares), at most ``most``, rounded down in the type of that."""

        def build(target, builder, signature, arguments):
            squares, factor, most = arguments
            real = factor.type
            root = builder.module.declare_intrinsic("llvm.sqrt", [real])
            term = builder.fmul(factor, builder.call(root, [builder.uitofp(squares, real)]))
            cap = builder.uitofp(most, real)
            term = builder.select(builder.fcmp_ordered("<", term, cap), term, cap)
            return builder.fptoui(term, most.type)

        return most(squares, factor, most), build

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
    def share(context, total, lost, base, whole):
        """Return (base + total) / (whole - lost) as float32, infinite where nothing is left.

        numba alone would turn the choice into a jump, and lose the vector unit.
        """
        from llvmlite.ir import Constant
        from numba import float32

        def build(target, builder, signature, arguments):
            total, lost, base, whole = arguments
            real = base.type
            above = builder.fadd(builder.uitofp(total, real), base)
            left = builder.fsub(whole, builder.uitofp(lost, real))
            some = builder.fcmp_ordered(">", left, Constant(real, 0.0))
            return builder.select(some, builder.fdiv(above, left), Constant(real, float("inf")))

        return float32(total, lost, base, whole), build

    @intrinsic
    def plus(context, one, other):
        """Return the sum in the type of both; the caller rules out overflow."""

        def build(target, builder, signature, arguments):
            return builder.add(*arguments)

        return one(one, other), build

    @intrinsic
    def plus_at_most(context, one, other):
        """Return the sum in the type of both, or the largest number of that type."""
        from llvmlite.ir import Constant

        def build(target, builder, signature, arguments):
            one, other = arguments
            total = builder.add(one, other)
            over = builder.icmp_unsigned("<", total, one)
            return builder.select(over, Constant(one.type, -1), total)

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

    def square_term(like, u, v):
        """Return max(|u - v| - 1, 0) squared, in the type of ``like``."""
        return type(like)(max(abs(int(u) - int(v)) - 1, 0) ** 2)

    def root_term(squares, factor, most):
        """Return factor * sqrt(squares), at most ``most``, rounded down in the type of that."""
        return type(most)(min(factor * np.sqrt(np.float32(squares)), np.float32(most)))

    def equal_term(like, u, v, w):
        """Return w where u and v differ, else 0, in the type of ``like``."""
        return w if int(u) != int(v) else type(like)(0)

    def unless_missing(term, v, filler):
        """Return the filler where v is the code of a missing cell, else the term."""
        return filler if int(v) == MISSING else term

    def share(total, lost, base, whole):
        """Return (base + total) / (whole - lost) as float32, infinite where nothing is left."""
        left = whole - np.float32(lost)
        return (np.float32(total) + base) / left if left > 0 else np.float32(np.inf)

    def plus(one, other):
        """Return the sum in the type of both; the caller rules out overflow."""
        return type(one)(int(one) + int(other))

    def plus_at_most(one, other):
        """Return the sum in the type of both, or the largest number of that type."""
        return type(one)(min(int(one) + int(other), int(np.iinfo(type(one)).max)))

    def smaller(one, other):
        """Return the smaller of two numbers of one type."""
        return min(one, other)

    def larger(one, other):
        """Return the larger of two numbers of one type."""
        return max(one, other)
