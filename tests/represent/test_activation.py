"""The squashing family: worked values, its laws, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InvalidInput
from lookalike.represent import similarity_activation
from represent import reference

SHARES = st.floats(0, 1)
CURVES = st.floats(1e-6, 1e6)


@pytest.mark.parametrize(
    ("x", "p", "value"), [(0.25, 0.1, 0.094957), (0.75, 0.1, 0.905043), (0.25, 1e6, 0.249938)]
)
def test_worked_values(x, p, value):
    assert similarity_activation(x, p) == pytest.approx(value, abs=5e-7)
    assert reference.activation(x, p) == pytest.approx(value, abs=5e-7)


def test_worked_constant():
    a = (-0.5 + np.sqrt(0.25 + 4 * 0.1)) / 2
    assert a == pytest.approx(0.153113, abs=5e-7)
    assert a**2 + a / 2 == pytest.approx(0.1)


@given(x=SHARES, p=CURVES)
def test_values_are_those_of_the_slow_reference(x, p):
    # The reference subtracts numbers of size sqrt(p), so that many digits are lost there.
    assert similarity_activation(x, p) == pytest.approx(
        reference.activation(x, p), abs=1e-11 * (1 + p)
    )


@given(x=SHARES, y=SHARES, p=CURVES)
def test_laws(x, y, p):
    f = similarity_activation([x, y, 1 - x], p)
    assert ((f >= 0) & (f <= 1)).all()
    assert f[0] + f[2] == pytest.approx(1, abs=1e-9)
    if x < y:
        assert f[0] <= f[1]
    if y - x > 1e-6:
        assert f[0] < f[1] or p < 1e-3


@given(p=CURVES)
def test_fixed_points(p):
    assert similarity_activation([0, 0.5, 1], p).tolist() == [0, 0.5, 1]


def test_both_ends_of_the_family():
    x = np.linspace(0, 1, 9)
    assert similarity_activation(x, 0).tolist() == [0, 0, 0, 0, 0.5, 1, 1, 1, 1]
    assert similarity_activation(x, 1e-12)[[3, 5]] == pytest.approx([0, 1], abs=1e-9)
    assert similarity_activation(x, 1e12) == pytest.approx(x, abs=1e-6)
    assert similarity_activation(x, np.inf).tolist() == x.tolist()


def test_inputs_are_cut_and_shapes_kept():
    assert similarity_activation([[-1.0, 2.0]], 0.1).tolist() == [[0.0, 1.0]]
    assert similarity_activation(0.5, 0.3).shape == ()


@pytest.mark.parametrize("p", [-0.1, None, "tune", True, float("nan")])
def test_what_is_no_curve(p):
    with pytest.raises(InvalidInput, match="needs a number >= 0"):
        similarity_activation(0.5, p)


def test_each_unit_may_have_its_own_curve():
    x = np.linspace(0, 1, 12).reshape(3, 4)
    curves = [0.0, 0.1, 5.0, np.inf]
    found = similarity_activation(x, curves)
    for column, p in enumerate(curves):
        np.testing.assert_array_equal(found[:, column], similarity_activation(x[:, column], p))
    with pytest.raises(InvalidInput, match="p=-1"):
        similarity_activation(x, [0.1, 1.0, -1.0, 2.0])
