"""Numbers, categories, levels and flags: worked numbers, options, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import reference
from columns.make import LEVELS, column
from lookalike.columns import Absolute, Equal, Information, Presence, RankRange, RankShare
from lookalike.columns.levels import information_table
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, unknown_code

few = settings(max_examples=50, deadline=None)


def similarities(distance, fitted, a, b=None):
    own = distance.fit(fitted)
    one = own.encode(a)
    return own.similarity(one, one if b is None else own.encode(b))


# -- numbers -------------------------------------------------------------------------------------


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
def test_number_similarity_equals_its_slow_twin(cells, new, alpha, beta):
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
def test_rank_share_equals_its_slow_twin(cells, new):
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


# -- categories ----------------------------------------------------------------------------------


def test_an_unknown_category_equals_only_itself():
    fitted = column("category", [0, 1], levels=("red", "blue"))
    green, pink = unknown_code("green"), unknown_code("pink")
    new = Column("thing", fitted.kind, np.array([green, green, pink, 0, -1]))
    s = similarities(Equal(), fitted, new)
    np.testing.assert_array_equal(s[0], [1, 1, 0, 0, np.nan])
    np.testing.assert_array_equal(s[3], [0, 0, 0, 1, np.nan])


def test_a_table_that_numbers_its_levels_otherwise_is_translated():
    fitted = column("category", [0, 1], levels=("red", "blue"))
    new = column("category", [0, 1, 2, None], levels=("green", "blue", "red"))
    own = Equal().fit(fitted)
    assert own.encode(new).tolist() == [unknown_code("green"), 1, 0, -1]
    known_there = Column("thing", fitted.kind, np.array([unknown_code("green")]))
    assert own.compare(own.encode(known_there), own.encode(new))[0, 0] == 0
    late = Column("thing", Kind("category", levels=("x",)), np.array([-9]), unknown={-9: "blue"})
    assert own.encode(late).tolist() == [1]


# -- levels --------------------------------------------------------------------------------------


def test_information_worked_example():
    table = information_table(np.array([2, 1, 1]))
    assert table[0, 1] == pytest.approx(0.276692, abs=5e-7)
    assert table[1, 2] == 0.5
    assert table[0, 2] == 0
    np.testing.assert_array_equal(table, table.T)


def test_information_is_not_monotone_in_rank():
    table = information_table(np.array([3000, 1, 3000, 3999]))
    assert table[0, 1] == pytest.approx(0.231151, abs=5e-7)
    assert table[0, 2] == pytest.approx(0.424145, abs=5e-7)


@few
@given(counts=st.lists(st.integers(0, 30), min_size=1, max_size=7))
def test_information_equals_its_slow_twin(counts):
    table = information_table(np.array(counts))
    for a in range(len(counts)):
        for b in range(len(counts)):
            expected = reference.information(a, b, counts)
            assert table[a, b] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    smoothed = 0 in counts or len(counts) > 1
    if smoothed:
        assert (table[~np.eye(len(counts), dtype=bool)] < 1).all()
    assert np.linalg.eigvalsh(table).min() > -1e-8


def test_information_learns_shares_from_the_fitted_column_only():
    fitted = column("order", [0, 0, 1, 2, None], levels=LEVELS[:3])
    new = column("order", [2, 1, 2, 2], levels=LEVELS[:3])
    s = similarities(Information(), fitted, new)
    np.testing.assert_array_equal(s[0], [1, 0.5, 1, 1])
    own = Information().fit(fitted)
    np.testing.assert_array_equal(own.compare(own.encode(new), own.encode(new)), 1 - s)


def test_a_column_of_one_level_is_alike_throughout():
    only = column("order", [0, 0, None], levels=("one",))
    for distance in (Information(), RankRange()):
        np.testing.assert_array_equal(similarities(distance, only, only)[0], [1, 1, np.nan])


def test_rank_range_counts_steps():
    cells = column("order", [0, 1, 3], levels=LEVELS)
    s = similarities(RankRange(), cells, cells)
    np.testing.assert_allclose(s[0], [1, 2 / 3, 0])


@pytest.mark.parametrize("distance", [Information(), RankRange()])
def test_an_unknown_level_is_refused_by_row(distance):
    fitted = column("order", [0, 1, 2], levels=LEVELS[:3])
    own = distance.fit(fitted)
    code = unknown_code("vast")
    odd = Column("thing", fitted.kind, np.array([0, code]), unknown={code: "vast"})
    with pytest.raises(ValueError, match=r"column 'thing', row 1.*'low', 'mid'.*'vast'"):
        own.encode(odd)
    other = column("order", [0, 0, 1], levels=("low", "vast"))
    with pytest.raises(ValueError, match=r"row 2.*'vast'"):
        own.encode(other)
    nameless = Column("thing", fitted.kind, np.array([7]))
    with pytest.raises(ValueError, match=r"row 0.*code 7"):
        own.encode(nameless)


# -- flags ---------------------------------------------------------------------------------------


def test_joint_absence_is_not_compared_but_has_a_distance():
    flags = column("flag", [1, 0, None], levels=("no", "yes"))
    own = Presence().fit(flags)
    code = own.encode(flags)
    nan = np.nan
    np.testing.assert_array_equal(
        own.similarity(code, code), [[1, 0, nan], [0, nan, nan], [nan] * 3]
    )
    np.testing.assert_array_equal(own.compare(code, code), [[0, 1, nan], [1, 0, nan], [nan] * 3])


def test_a_flag_that_is_neither_is_refused():
    own = Presence().fit(column("flag", [1, 0], levels=("no", "yes")))
    with pytest.raises(ValueError, match=r"row 1.*'no' or 'yes'"):
        own.encode(column("flag", [1, 2], levels=("no", "yes", "maybe")))


def test_flags_of_equal_treat_both_values_alike():
    flags = column("flag", [1, 0], levels=("no", "yes"))
    np.testing.assert_array_equal(similarities(Equal(), flags, flags), np.eye(2))


def test_mixed_worked_example():
    """Two rows over two flags, a category, a level and a number; one flag is absent in both."""
    parts = [
        similarities(Presence(), column("flag", [1, 1]), column("flag", [1]), column("flag", [1])),
        similarities(Presence(), column("flag", [0, 1]), column("flag", [0]), column("flag", [0])),
        similarities(Equal(), column("category", [0, 1]), column("category", [0, 1]))[:1, 1:],
        similarities(Information(), column("order", [0, 0, 1, 2], LEVELS[:3]),
                     column("order", [0], LEVELS[:3]), column("order", [1], LEVELS[:3])),
        similarities(Absolute(scale=10), column("number", [2.0, 7.0]),
                     column("number", [2.0]), column("number", [7.0])),
    ]  # fmt: skip
    s = np.array([part.item() for part in parts])
    assert np.isnan(s).tolist() == [False, True, False, False, False]
    assert np.nanmean(s) == pytest.approx(0.444173, abs=5e-7)
    weights = np.array([1, 1, 2, 1, 1])
    weighted = np.nansum(weights * s) / weights[~np.isnan(s)].sum()
    assert weighted == pytest.approx(0.355338, abs=5e-7)
