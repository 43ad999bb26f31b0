"""Drift: what is said when added rows no longer look like the fitted ones."""

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import LookalikeWarning
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
