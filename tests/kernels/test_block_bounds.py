"""Terms of bounds of boxes and queries; the bounds are tested in tests/neighbors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.kernels import block_bounds
from lookalike.kernels.bounds import MISSING

BYTES = st.integers(0, 255)


@given(BYTES, BYTES, BYTES, st.integers(0, 255))
def test_terms_are_those_of_plain_python(u, v, w, more):
    """Instructions built by hand, or their plain Python form where nothing is compiled."""
    low, high = np.uint16(min(u, v)), np.uint16(max(u, v))
    beyond = max(int(low) - more, more - int(high), 0)
    number, equal, byte = block_bounds.number_outside, block_bounds.equal_outside, np.uint8
    assert run(number, low, high, byte(more), np.uint16(w)) == w * max(beyond - 1, 0)
    assert run(equal, low, high, byte(more), np.uint16(w)) == (w if beyond else 0)
    assert run(block_bounds.apart, byte(u), byte(v), byte(w)) == max(abs(u - v) - w, 0)
    code, filler = np.uint16(MISSING), np.uint16(7)
    found = run(block_bounds.unless_equal, np.uint16(w), byte(v), code, filler)
    assert found == (7 if v == MISSING else w)


def run(term, *arguments):
    """Return what a term is inside of a loop, compiled or not."""
    return int(COMPILED[term.__name__](*arguments))


@block_bounds.kernel
def _number_outside(low, high, v, w):
    return block_bounds.number_outside(low, high, v, w)


@block_bounds.kernel
def _equal_outside(low, high, v, w):
    return block_bounds.equal_outside(low, high, v, w)


@block_bounds.kernel
def _apart(u, v, step):
    return block_bounds.apart(u, v, step)


@block_bounds.kernel
def _unless_equal(term, v, code, filler):
    return block_bounds.unless_equal(term, v, code, filler)


COMPILED = {
    "number_outside": _number_outside, "equal_outside": _equal_outside, "apart": _apart,
    "unless_equal": _unless_equal,
}  # fmt: skip
