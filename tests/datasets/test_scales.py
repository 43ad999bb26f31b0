"""The six transforms against a plain reference implementation and the worked numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lookalike.datasets import transforms
from lookalike.errors import InvalidInput

RISING = ("exp", "square", "sqrt", "log")
FALLING = ("inverse", "exp_minus")
FORMULAS = {
    "exp": math.exp,
    "square": lambda x: x**2,
    "sqrt": math.sqrt,
    "log": math.log,
    "inverse": lambda x: 1 / x,
    "exp_minus": lambda x: math.exp(-x),
}


def unit(column):
    low, high = min(column), max(column)
    return [0.0 if high == low else (x - low) / (high - low) for x in column]


def reference(column, name):
    """One column, step by step: to [0, 1], to 100 (x + 0.0001), the formula, to [0, 1]."""
    moved = [100 * (x + 0.0001) for x in unit(column)]
    return unit([FORMULAS[name](x) for x in moved])


def test_worked_numbers():
    got = transforms([[1.0], [3.0], [5.0]])
    np.testing.assert_allclose(got["square"].ravel(), [0, 0.25004999, 1], atol=5e-9)
    np.testing.assert_allclose(got["inverse"].ravel(), [1, 0.0000999800, 0], atol=5e-11)
    assert list(got) == [*RISING, *FALLING]


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.floats(-1e6, 1e6)
    )
)
@settings(max_examples=60, deadline=None)
def test_every_value_is_that_of_the_reference(X):
    got = transforms(X)
    for name in FORMULAS:
        for j in range(X.shape[1]):
            expected = reference(X[:, j].tolist(), name)
            np.testing.assert_allclose(got[name][:, j], expected, rtol=1e-9, atol=1e-12)


def test_order_is_kept_or_reversed_and_the_ends_are_reached():
    X = np.random.default_rng(0).normal(size=(50, 3))
    for name, values in transforms(X).items():
        assert values.min() == 0
        assert values.max() == 1
        order = np.argsort(X[:, 0] if name in RISING else -X[:, 0])
        assert (np.diff(values[order, 0]) >= 0).all()


def test_constant_columns_are_zero_and_float32_is_promoted():
    got = transforms(np.array([[7, 1], [7, 2]], dtype=np.float32))
    for values in got.values():
        assert values.dtype == np.float64
        assert values[:, 0].tolist() == [0, 0]
        assert sorted(values[:, 1]) == [0, 1]


@pytest.mark.parametrize(
    ("X", "text"),
    [
        ([[1.0, np.nan]], "nan in row 0, column 1"),
        ([[1.0], [np.inf]], "inf in row 1, column 0"),
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.empty((0, 2)), r"shape \(0, 2\)"),
    ],
)
def test_what_has_no_scale(X, text):
    with pytest.raises(InvalidInput, match=text):
        transforms(X)


def test_a_column_that_spans_all_floats():
    got = transforms([[-1.7e308], [0.0], [1.7e308]])
    np.testing.assert_allclose(got["square"].ravel(), [0, 0.25004999, 1], atol=5e-9)
