"""Drift: what is said when added rows no longer look like the fitted ones."""

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import LookalikeWarning
from lookalike.index.drift import Drift, Fitted, _critical, learn_fitted, report_drift
from lookalike.measures import Gower


@pytest.fixture
def index():
    random = np.random.default_rng(0)
    rows = {
        "size": random.random(200).tolist(),
        "color": random.choice(["red", "blue"], 200).tolist(),
    }
    return la.Index(Gower()).fit(rows)


def rows(size, color):
    return {"size": list(size), "color": list(color)}


def test_rows_like_the_fitted_ones_are_no_drift(index):
    random = np.random.default_rng(1)
    index.add(rows(random.random(100), random.choice(["red", "blue"], 100)))
    found = index.drift()
    assert not found.refit
    assert (found.fitted, found.added) == (200, 100)
    assert [column.column for column in found.columns] == ["size", "color"]
    assert "still fits" in str(found)


def test_nothing_added_is_no_drift(index):
    assert index.drift().columns == ()
    assert not index.drift().refit


def test_values_outside_the_range_are_counted(index):
    with pytest.warns(LookalikeWarning, match="'size' 50% of the added values are outside"):
        index.add(rows([0.5, 7.0] * 10, ["red"] * 20))
    size, color = index.drift().columns
    assert size.outside == 0.5
    assert size.examples == (7.0,)
    assert color.outside == 0.0
    assert index.drift().refit
    assert "refitting is advised" in str(index.drift())
    assert index.drift().to_dict()["outside"] == [0.5, 0.0]


def test_new_categories_are_named(index):
    with pytest.warns(LookalikeWarning, match="new categories \\(green"):
        index.add(rows([0.5] * 3 + [0.2] * 3 + [0.9] * 3, ["green", "red", "green"] * 3))
    color = index.drift().columns[1]
    assert color.outside == pytest.approx(2 / 3)
    assert color.examples == ("green",)


def test_one_odd_row_is_reported_but_no_reason_to_refit(index):
    index.add(rows([99.0], ["green"]))
    found = index.drift()
    assert not found.refit
    assert [column.outside for column in found.columns] == [1.0, 1.0]


def test_values_that_moved_within_the_range_are_noticed(index):
    with pytest.warns(LookalikeWarning, match="distributed differently"):
        index.add(rows(np.linspace(0.8, 0.99, 100), ["red"] * 100))
    size = index.drift().columns[0]
    assert size.outside == 0.0
    assert 0.6 < size.shift < 0.9


def test_a_warning_is_given_once_for_a_column(index, recwarn):
    for _ in range(4):
        index.add(rows([9.0] * 20, ["red"] * 20))
    assert len(recwarn) == 1
    index.refit()
    assert not index.drift().refit
    index.add(rows([9.0] * 20, ["red"] * 20))
    assert "outside" not in str(index.drift())


def test_deleted_rows_do_not_count(index):
    with pytest.warns(LookalikeWarning):
        ids = index.add(rows([9.0] * 20, ["red"] * 20))
    index.delete(ids)
    assert not index.drift().refit
    assert index.drift().added == 0


def test_more_added_than_fitted_is_a_reason():
    index = la.Index(Gower()).fit({"size": [0.0, 0.25, 0.5, 0.75, 1.0]})
    for value in (0.1, 0.4, 0.6, 0.9, 0.3, 0.7):
        index.add({"size": value})
    assert index.drift().reasons == ["6 rows were added to 5 fitted ones"]


def test_gaps_are_counted_apart(index):
    index.add({"size": [None, 0.5], "color": [None, None]})
    size, color = index.drift().columns
    assert (size.missing, size.fitted_missing, size.values) == (0.5, 0.0, 1)
    assert (color.missing, color.values) == (1.0, 0)


# -- thresholds ------------------------------------------------------------------------------------


def drift_of(fitted, added, kinds=None):
    """Compare one column of added cells, all of them live, with a fitted one."""
    before = la.read_table({"x": fitted}, kinds=kinds)
    after = la.read_table({"x": added}, kinds=kinds)
    return report_drift(learn_fitted(before), len(before), [(after, np.ones(len(after), bool))])


def test_statistics_of_the_fitted_columns():
    known = [float(i) for i in range(101)]
    cells = {"x": [*known, None, np.inf], "c": ["a", "b"] * 50 + [None] * 3}
    table = la.read_table(cells, kinds={"x": "number", "c": "category"})
    fitted = learn_fitted(table)
    number, category = fitted["x"], fitted["c"]
    assert (number.low, number.high, number.values) == (0.0, 100.0, 101)
    assert number.points.tolist() == np.quantile(known, np.linspace(0.0, 1.0, 11)).tolist()
    assert number.shares.tolist() == [(np.array(known) <= p).sum() / 101 for p in number.points]
    assert number.missing == 1 / 103
    assert (category.values, category.missing) == (100, 3 / 103)
    assert np.isnan([category.low, category.high]).all()
    assert len(category.points) == len(category.shares) == 0
    assert learn_fitted(table[:0])["x"].missing == 0.0


def test_five_values_and_one_in_twenty_outside_are_a_reason():
    """And 2 in n + 1 more, which lie beyond the range of n rows by chance."""
    fitted = [i / 99 for i in range(100)]
    limit = 0.05 + 2 / 101  # 0.0698
    for outside, inside, advised in ((4, 0, False), (5, 0, True), (7, 93, True), (6, 94, False)):
        added = [2.0] * outside + fitted[:inside]
        (column,) = drift_of(fitted, added).columns
        share = outside / len(added)
        assert (column.values, column.outside) == (len(added), share)
        assert column.reason.startswith(f"{share:.0%} of the added values are outside") == advised
        assert advised == (outside >= 5 and share > limit)
        assert column.examples == (2.0,)
    reason = drift_of(fitted, [2.0, 3.0, -1.0, 4.0, 2.0, 0.5]).columns[0].reason
    assert reason == "83% of the added values are outside the fitted range (2, 3, -1)"
    assert drift_of(fitted, fitted[:1] + fitted[-1:]).columns[0].outside == 0.0  # the ends count


def test_a_shift_counts_above_a_fifth_and_above_chance():
    fitted = [i / 999 for i in range(1000)]
    critical = np.sqrt(-np.log(0.01 / 2) / 2 * (1 / 40 + 1 / 1000))
    assert _critical(40, 1000, 0.01) == critical
    assert _critical(40, 0, 0.01) == np.sqrt(-np.log(0.01 / 2) / 2 * (1 / 40 + 1))
    same = [(i + 0.5) / 40 for i in range(40)]
    moved = [value / 2 for value in same]
    (column,) = drift_of(fitted, moved).columns
    assert abs(column.shift - 0.5) < 0.01
    assert (
        column.reason == f"the added values are distributed differently (shift {column.shift:.2f})"
    )
    assert drift_of(fitted, same).columns[0].reason == ""
    few = drift_of(fitted, moved[::10]).columns[0]  # as large, but of four values
    assert few.shift > 0.2
    assert few.reason == ""
    many = [value * 0.85 for value in (i / 1999 for i in range(2000))]
    slight = drift_of(fitted, many).columns[0]  # beyond chance, but small
    assert _critical(2000, 1000, 0.01) < slight.shift < 0.2
    assert slight.reason == ""


def test_levels_that_are_new_are_values():
    fitted = {"x": ["low", "medium", "high"] * 30}
    known = la.Index("gower").fit(fitted)
    with pytest.warns(LookalikeWarning):
        known.add({"x": ["huge"] * 6 + ["tiny"] * 2 + ["low"] * 2 + [None]})
    (column,) = known.drift().columns
    assert (column.values, column.outside, column.kind) == (10, 0.8, "order")
    assert column.reason == "80% of the added values are new levels (huge, tiny)"
    assert learn_fitted(known.table)["x"].values == 90 + 2


def test_more_rows_added_than_fitted_are_a_reason_of_their_own():
    for fitted, added, advised in ((10, 10, False), (10, 11, True), (3, 5, False), (3, 6, True)):
        found = Drift(fitted, added, ())
        assert found.refit == advised
        lines = [f"{added} rows added to {fitted} fitted ones"]
        lines += [f"  {added} rows were added to {fitted} fitted ones"] * advised
        lines += ["refitting is advised" if advised else "the fitted measure still fits"]
        assert str(found) == "\n".join(lines)
    assert isinstance(learn_fitted(la.read_table({"x": [1.0]}))["x"], Fitted)
    columns = drift_of([0.0, 1.0], [2.0]).to_dict()
    assert columns == {
        "column": ["x"], "kind": ["number"], "values": [1], "outside": [1.0], "shift": [1.0],
        "missing": [0.0], "fitted_missing": [0.0], "reason": [""],
    }  # fmt: skip
