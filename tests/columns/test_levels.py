"""Distances of categories, levels and flags."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import reference
from columns.make import LEVELS, column
from lookalike.columns import Absolute, Equal, Information, Presence, RankRange
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, unknown_code

few = settings(max_examples=50, deadline=None)


def information_table(counts):
    """Return the similarities of levels that occur so often."""
    kind = Kind("order", levels=tuple(map(str, range(len(counts)))))
    column = Column("thing", kind, np.repeat(np.arange(len(counts)), counts))
    return Information().fit(column).similarities_


def similarities(distance, fitted, a, b=None):
    own = distance.fit(fitted)
    one = own.encode(a)
    return own.similarity(one, one if b is None else own.encode(b))


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
def test_information_equals_its_reference(counts):
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
