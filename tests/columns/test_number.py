"""Distances of numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import reference
from columns.make import column
from lookalike.columns import Absolute, Circular, RankShare
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column

few = settings(max_examples=50, deadline=None)


def similarities(distance, fitted, a, b=None):
    own = distance.fit(fitted)
    one = own.encode(a)
    return own.similarity(one, one if b is None else own.encode(b))


def test_range_comes_from_the_fitted_column_and_new_values_are_clipped():
    fitted = column("number", [2.0, 12.0, None])
    s = similarities(Absolute(), fitted, column("number", [2.0]), column("number", [7.0, 40.0]))
    np.testing.assert_array_equal(s, [[0.5, 0.0]])


def test_a_known_range_replaces_the_fitted_one():
    s = similarities(Absolute(scale=4), column("number", [1.0, 2.0]), column("number", [2.0, 3.0]))
    np.testing.assert_array_equal(s, [[1, 0.75], [0.75, 1]])


def test_a_constant_column_finds_equal_values_alike_and_others_not():
    fitted, new = column("number", [3.0, 3.0]), column("number", [3.0, 4.0, None])
    s = similarities(Absolute(), fitted, fitted, new)
    np.testing.assert_array_equal(s, [[1, 0, np.nan]] * 2)
    assert np.isnan(similarities(Absolute(constant="drop"), fitted, fitted, new)).all()


def test_a_column_whose_maximum_is_zero_still_counts():
    cells = column("number", [-4.0, -1.0, 0.0])
    np.testing.assert_array_equal(similarities(Absolute(), cells, cells)[0], [1, 0.25, 0])


@few
@given(
    cells=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6),
    new=st.floats(-1e7, 1e7),
    alpha=st.floats(1, 4),
    beta=st.floats(0.1, 1),
)
def test_number_similarity_equals_its_reference(cells, new, alpha, beta):
    fitted = column("number", cells)
    found = similarities(Absolute(alpha, beta), fitted, fitted, column("number", [*cells, new]))
    span = max(cells) - min(cells)
    for i, u in enumerate(cells):
        for j, v in enumerate([*cells, new]):
            expected = reference.number_similarity(u, v, span, alpha, beta)
            assert found[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_narrow_floats_are_compared_as_wide_ones():
    narrow = Column("thing", Kind("number"), np.array([0.1, 0.7], dtype=np.float32))
    own = Absolute().fit(narrow)
    code = own.encode(narrow)
    assert own.compare(code, code)[0, 1] == float(np.float32(0.7)) - float(np.float32(0.1))


def test_a_trimmed_range_leaves_extreme_values_out():
    cells = [0.0, *np.linspace(10, 20, 18), 1e9]
    own = Absolute(trim=0.06).fit(column("number", cells))
    assert (own.low_, own.scale_) == (10.0, 10.0)
    code = own.encode(column("number", [10.0, 15.0, 1e9, None]))
    np.testing.assert_array_equal(own.similarity(code[:1], code), [[1, 0.5, 0, np.nan]])
    assert Absolute(trim=0.05).fit(column("number", [3.0] * 40 + [9.0])).scale_ == 6.0


@few
@given(cells=st.lists(st.floats(-1e300, 1e300) | st.none(), min_size=1, max_size=40))
def test_nothing_trimmed_is_the_range(cells):
    fitted = column("number", cells)
    one, two = Absolute().fit(fitted), Absolute(trim=0.0).fit(fitted)
    there = [cell for cell in cells if cell is not None]
    assert one.scale_ == two.scale_ == (max(there) - min(there) if there else 0)
    trimmed = Absolute(trim=0.2).fit(fitted)
    assert trimmed.scale_ <= one.scale_
    assert (trimmed.scale_ == 0) == (one.scale_ == 0)


@few
@given(
    cells=st.lists(st.integers(-6, 6).map(float) | st.none(), min_size=1, max_size=12),
    new=st.lists(st.floats(-9, 9), min_size=1, max_size=4),
)
def test_rank_share_equals_its_reference(cells, new):
    fitted = column("number", cells)
    own = RankShare().fit(fitted)
    there = [cell for cell in cells if cell is not None]
    code = own.encode(column("number", [*cells, *new]))
    found = own.compare(code, code)
    for i, u in enumerate([*cells, *new]):
        for j, v in enumerate([*cells, *new]):
            if u is None or v is None:
                assert np.isnan(found[i, j])
            elif len(set(there)) > 1:
                assert found[i, j] == pytest.approx(reference.rank_share(u, v, there), abs=1e-15)
            else:
                assert (found[i, j] == 0) == (u == v)


@few
@given(cells=st.lists(st.integers(-999, 999).map(lambda x: x / 7), min_size=2, max_size=20))
def test_ranks_do_not_notice_an_increasing_change(cells):
    def change(x):  # strictly increasing: powers of two round nothing
        return x * 2 if x > 0 else x / 4

    fitted, other = column("number", cells), column("number", list(map(change, cells)))
    one, two = RankShare().fit(fitted), RankShare().fit(other)
    u, v = one.encode(fitted), two.encode(other)
    np.testing.assert_array_equal(one.compare(u, u), two.compare(v, v))


def test_ranks_of_new_values_and_constants():
    own = RankShare().fit(column("number", [1.0, 2.0, 4.0, 4.0]))
    places = own.encode(column("number", [-9.0, 1.0, 3.0, 3.5, 4.0, 99.0]))
    np.testing.assert_array_equal(places, [0, 1 / 8, 4 / 8, 4 / 8, 6 / 8, 1])
    fitted, new = column("number", [3.0, 3.0]), column("number", [3.0, 4.0, None])
    np.testing.assert_array_equal(similarities(RankShare(), fitted, fitted, new)[0], [1, 0, np.nan])
    assert np.isnan(similarities(RankShare(constant="drop"), fitted, fitted, new)).all()


@pytest.mark.parametrize("options", [{"alpha": 0.5}, {"beta": 0.0}, {"beta": 2.0}])
def test_exponents_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Absolute(**options).fit(column("number", [1.0]))


def test_infinite_numbers_are_refused_by_row():
    with pytest.raises(ValueError, match=r"column 'thing', row 1: needs finite numbers, found inf"):
        Absolute().fit(column("number", [1.0, np.inf]))
    with pytest.raises(ValueError, match="range that a number can hold"):
        Absolute().fit(column("number", [-1.5e308, 1.5e308]))


@few
@given(
    cells=st.lists(st.integers(-4000, 4000).map(lambda x: x / 4) | st.none(), max_size=8),
    period=st.sampled_from([0.5, 7, 12, 24, 365.25, 360, 86_400]),
)
def test_circles_equal_their_reference(cells, period):
    cells = [*cells, 0.0]
    own = Circular(period).fit(column("number", cells[:1]))
    code = own.encode(column("number", cells))
    found, alike = own.compare(code, code), own.similarity(code, code)
    for i, u in enumerate(cells):
        for j, v in enumerate(cells):
            if u is None or v is None:
                assert np.isnan(found[i, j])
                assert np.isnan(alike[i, j])
            else:
                expected = reference.circular(u, v, period)
                assert found[i, j] == pytest.approx(expected, abs=1e-9)
                assert alike[i, j] == pytest.approx(1 - 2 * expected / period, abs=1e-9)


def test_hours_and_winds_come_round():
    hours = column("number", [23.0, 1.0, 12.0, 24.0, -1.0, 25.5])
    twelfths = similarities(Circular(24), hours, hours)[0] * 12
    np.testing.assert_allclose(twelfths, [12, 10, 1, 11, 12, 9.5], rtol=1e-15)
    winds = column("number", [350.0, 10.0])
    assert similarities(Circular(), winds, winds)[0, 1] == 1 - 20 / 180
    assert similarities(Circular(scale=40), winds, winds)[0, 1] == 0.5
    assert similarities(Circular(scale=10), winds, winds)[0, 1] == 0  # no further than the scale


def test_a_circle_needs_a_period_and_finite_numbers():
    for period in (0.0, -1.0):
        with pytest.raises(ValueError, match="period"):
            Circular(period).fit(column("number", [1.0]))
    with pytest.raises(ValueError, match="row 1: needs finite numbers, found inf"):
        Circular().fit(column("number", [1.0])).encode(column("number", [1.0, np.inf]))
    own = Circular(24).fit(column("number", [1.0]))
    own.check_cells(np.array([0.0, 24.0, np.nan]), 3, "cells")
    for damaged, needed in ((24.5, "<= 24"), (-0.5, ">= 0")):
        with pytest.raises(ValueError, match=needed):
            own.check_cells(np.array([damaged]), 1, "cells")
