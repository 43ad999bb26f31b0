"""Transitive closures: worked numbers, joining until nothing changes, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.represent import transitive_closure
from represent import reference

S = np.array([[1, 0.8, 0.1], [0.8, 1, 0.6], [0.1, 0.6, 1]])
TNORMS = ("min", "product", "lukasiewicz")


@st.composite
def relations(draw, symmetric):
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    s = rng.random((n, n)) if draw(st.booleans()) else rng.integers(0, 5, (n, n)) / 4
    s = np.maximum(s, s.T) if symmetric else s
    np.fill_diagonal(s, 1.0)
    return s


@pytest.mark.parametrize(
    ("tnorm", "value"), [("min", 0.6), ("product", 0.48), ("lukasiewicz", 0.4)]
)
def test_worked_numbers(tnorm, value):
    found = transitive_closure(S, tnorm)
    assert found[0, 2] == found[2, 0] == pytest.approx(value)
    assert found[0, 1] == 0.8
    assert found[1, 2] == 0.6


@pytest.mark.parametrize("tnorm", TNORMS)
@given(data=st.data(), symmetric=st.booleans())
def test_closure_is_that_of_the_slow_twin(tnorm, data, symmetric):
    s = data.draw(relations(symmetric))
    found = transitive_closure(s, tnorm)
    np.testing.assert_allclose(found, reference.closure(s, tnorm), rtol=1e-12, atol=1e-12)
    if tnorm == "min":  # no arithmetic, so no round-off
        assert np.array_equal(found, reference.closure(s, tnorm))
    assert np.array_equal(found, found.T) or not symmetric


@pytest.mark.parametrize("tnorm", TNORMS)
@given(data=st.data(), symmetric=st.booleans())
def test_laws(tnorm, data, symmetric):
    s = data.draw(relations(symmetric))
    r = transitive_closure(s, tnorm)
    assert (r >= s).all()
    assert (np.diagonal(r) == 1).all()
    assert ((r >= 0) & (r <= 1)).all()
    np.testing.assert_allclose(transitive_closure(r, tnorm), r, atol=1e-12)
    t = reference.TNORMS[tnorm]
    n = range(len(r))
    assert all(t(r[i, k], r[k, j]) <= r[i, j] + 1e-12 for i in n for j in n for k in n)


@given(s=relations(symmetric=True))
def test_order_of_the_three_and_the_ultrametric(s):
    low, middle, high = (transitive_closure(s, t) for t in ("lukasiewicz", "product", "min"))
    assert (low <= middle + 1e-12).all()
    assert (middle <= high + 1e-12).all()
    d = 1 - high
    n = range(len(d))
    assert all(d[i, j] <= max(d[i, k], d[k, j]) for i in n for j in n for k in n)


def test_min_is_single_linkage():
    x = np.random.default_rng(0).random((60, 3))
    s = Gower().fit(x).similarity()
    joined = cophenet(linkage(squareform(1 - s, checks=False), "single"))
    np.testing.assert_allclose(1 - transitive_closure(s), squareform(joined), atol=1e-12)
    assert np.array_equal(transitive_closure(Gower().fit(x)), transitive_closure(s))


@pytest.mark.parametrize("tnorm", TNORMS)
@given(data=st.data(), symmetric=st.booleans())
def test_new_rows_get_what_they_would_have_if_added(tnorm, data, symmetric):
    s = data.draw(relations(symmetric))
    n = len(s)
    rng = np.random.default_rng(n)
    new = rng.random((3, n))
    found = transitive_closure(s, tnorm, new=new)
    for row, expected in zip(new, found, strict=True):
        whole = np.ones((n + 1, n + 1))
        whole[:n, :n] = s
        whole[n, :n] = row
        whole[:n, n] = 0.0  # chains lead away from the new row only
        np.testing.assert_allclose(reference.closure(whole, tnorm)[n, :n], expected, atol=1e-12)
    assert np.array_equal(transitive_closure(s, tnorm, new=new, n_jobs=1), found)


def test_the_diagonal_is_taken_to_be_one_and_the_input_kept():
    s = S.copy()
    np.fill_diagonal(s, 0.5)
    given_ = s.copy()
    assert np.array_equal(transitive_closure(s), transitive_closure(S))
    assert np.array_equal(s, given_)


@pytest.mark.parametrize(
    ("s", "options", "words"),
    [
        ([[1, 2], [2, 1]], {}, "similarities from 0 to 1, found 2"),
        ([[1, np.nan], [0, 1]], {}, "found nan"),
        ([[1, 0]], {}, "a square matrix"),
        (S, {"tnorm": "minimum"}, "Did you mean 'min'"),
        (S, {"new": [[1, 1]]}, "to each of the 3 rows"),
    ],
)
def test_bad_input(s, options, words):
    with pytest.raises(InvalidInput, match=words):
        transitive_closure(s, **options)


def test_round_off_beyond_the_bounds_is_cut_off():
    exact = np.array([[1.0, 0.0], [0.0, 1.0]])
    close = exact + np.array([[1e-10, -1e-10], [-1e-10, 1e-10]])
    np.testing.assert_array_equal(transitive_closure(close), exact)
