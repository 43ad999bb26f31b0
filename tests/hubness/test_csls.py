"""CSLS and DisSimLocal: their references, and lists beside a row that is far from all others."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from hubness import reference
from hubness.test_reducer import off_diagonal, points
from lookalike.hubness import CSLS, DisSimLocal, rescale
from lookalike.measures import Vector
from lookalike.measures.contract.rows import concatenate
from lookalike.testing import check_measure


def exact_excess(d, k, squared):
    """2 d - r_x - r_y, or d**2 - |x - c_x|**2 - |y - c_y|**2, in fractions of whole distances."""
    n = len(d)
    d = [[Fraction(v) ** (2 if squared else 1) for v in row] for row in d.tolist()]
    near = [sorted(set(range(n)) - {i}, key=lambda j: (d[i][j], j))[:k] for i in range(n)]
    level = [sum(d[i][j] for j in near[i]) / k for i in range(n)]
    if squared:
        within = [sum(d[u][v] for u in near[i] for v in near[i]) for i in range(n)]
        level = [one - two / (2 * k * k) for one, two in zip(level, within, strict=True)]
    times = 1 if squared else 2
    return [[times * d[i][j] - level[i] - level[j] for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("how", ["exact", "candidates", "rescale"])
@pytest.mark.parametrize(("cls", "squared"), [(CSLS, False), (DisSimLocal, True)])
@given(
    seed=st.integers(0, 2**32 - 1),
    sentinels=st.integers(1, 2),
    far=st.sampled_from([999999999.0, 1e15]),
)
def test_a_far_row_does_not_change_the_order_of_the_others(cls, squared, how, seed, sentinels, far):
    rng = np.random.default_rng(seed)
    n, k = 16, 3
    x = rng.normal(size=(n, 2))
    x[-sentinels:, 0] = far
    plain = Vector().fit(x)
    measure = cls(Vector(), k, n_candidates=n - 1 if how == "candidates" else None).fit(x)
    if how == "rescale":
        lists = rescale(plain.neighbors(k=n - 1), measure).indices
    else:
        lists = measure.neighbors(k=n - 1).indices
    excess = exact_excess(plain.distance(), k, squared)
    near = range(n - sentinels)
    for i in near:
        # A far row itself: two numbers of 18 digits are subtracted, and floats hold 16 of them.
        found = [j for j in lists[i].tolist() if j in near]
        assert found == sorted(set(near) - {i}, key=lambda j: excess[i][j])


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_parts_beside_a_far_row_merge(cls):
    rng = np.random.default_rng(0)
    x, new = rng.normal(size=(2, 24, 2))
    x[7, 0] = 1e15
    check_measure(cls(Vector(), 4), x, new)
    fitted = cls(Vector(), 4).fit(x)
    assert len(np.unique(fitted.distance()[0])) < len(x)  # distances are shown with the offset


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_an_index_ranks_beside_a_far_row(cls):
    rng = np.random.default_rng(1)
    x, new = rng.normal(size=(2, 24, 2))
    x[7, 0] = 1e15
    index = la.Index(cls(Vector(), 4)).fit(x)
    index.add(new)
    index.delete([2, 3, 30])
    measure = cls(Vector(), 4).fit(x)
    order = measure.order_block(measure.rows_, concatenate([measure.rows_, measure.encode(new)]))
    others = [j for j in range(48) if j not in (0, 2, 3, 30)]
    expected = sorted(others, key=lambda j: order[0, j])[:20]
    assert index.search(0, k=20).ids == expected


@settings(max_examples=25, deadline=None)
@given(x=points, k=st.integers(1, 4))
def test_centers_follow_from_distances(x, k):
    ours = DisSimLocal(Vector(), k).fit(x)
    got = ours.distance() - ours.offset_
    assert_allclose(off_diagonal(got), off_diagonal(reference.dissim_local(x, k)), atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(x=points, k=st.integers(1, 4))
def test_csls_matches_its_reference(x, k):
    ours = CSLS(Vector("cityblock"), k).fit(x)
    theirs = reference.csls(Vector("cityblock").fit(x).distance(), k)
    assert_allclose(off_diagonal(ours.distance() - ours.offset_), off_diagonal(theirs), atol=1e-12)


def test_a_level_above_all_fitted_ones_is_cut():
    measure = CSLS(Vector(), 2).fit([[0.0], [1.0], [3.0], [7.0]])
    assert_array_equal(measure.rows_.arrays["level"], [2, 1.5, 2.5, 5])
    assert measure.offset_ == measure.order_shift == 10
    # Its own level is 96, cut at the largest fitted one, 5: no distance is negative.
    far = measure.distance([[100.0]])[0]
    assert_array_equal(far, 2 * np.array([100, 99, 97, 93]) - 5 - np.array([2, 1.5, 2.5, 5]) + 10)
    assert_array_equal(np.diagonal(measure.distance()), np.zeros(4))
    assert (np.diagonal(measure.order_block(measure.rows_, measure.rows_)) == -10).all()


def test_factors_are_the_levels_of_both_rows():
    line = [[0.0], [1.0], [3.0], [7.0]]
    assert CSLS(Vector(), 2).fit(line).explain(0, 3).factors == {"d": 7.0, "r_x": 2.0, "r_y": 5.0}
    found = DisSimLocal(Vector(), 2).fit(line).explain(0, 1).factors
    assert found == {"d": 1.0, "|x - c_x|^2": 4.0, "|y - c_y|^2": 0.25}
