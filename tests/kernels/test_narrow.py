"""Sums in narrow integers, at the ends of their types."""

from itertools import product

import numpy as np
import pytest

from lookalike.kernels._jit import kernel
from lookalike.kernels.narrow import add_narrow, add_step, tally


@kernel
def count(truth, out):
    for i in range(truth.shape[0]):
        out[i] = add_narrow(out[i], truth[i])


@kernel
def steps(u, v, step, out):
    for i in range(u.shape[0]):
        out[i] = add_step(out[i], u[i], v[i], step)


@kernel
def tallies(tells, same, met, out):
    for i in range(out.shape[0]):
        out[i] = tally(out[i], tells[i], same[i], met[i])


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_four_counts_in_one_integer(kind):
    tells, same, met = np.array(list(product([False, True], repeat=3))).T
    out, bits = np.zeros(8, kind), 2 * kind(0).itemsize
    for _ in range(200):
        tallies(tells, same, met.astype(np.uint8), out)
    places = tells, tells & same, tells & same & met, tells & met & ~same
    for place, counted in enumerate(places):
        found = out.astype(np.uint64) >> np.uint64(place * bits) & np.uint64((1 << bits) - 1)
        assert found.tolist() == (200 * counted).tolist()


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_counters_keep_their_type(kind):
    out = np.array([0, np.iinfo(kind).max - 1], kind)
    for truth in (np.array([True, True]), np.array([False, False])):
        count(truth, out)
    assert out.tolist() == [1, np.iinfo(kind).max]


def test_differences_and_steps():
    u, v = (np.array(x, np.uint16) for x in ([0, 7, 9, 65534, 65535], [0, 9, 7, 0, 0]))
    for step, rows, wanted in ((0, 5, [3, 5, 5, 65534, 65535]), (1, 4, [3, 6, 6, 65535])):
        out = np.array([3, 3, 3, 0, 0], np.uint16)
        steps(u[:rows], v, np.uint16(step), out)  # the caller rules out overflow
        assert out[:rows].tolist() == wanted
