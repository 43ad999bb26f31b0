"""Months and weekdays on request, compared in a circle."""

import datetime as dt

import numpy as np
import pytest

from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.prediction import RandomSimilarityForestClassifier
from lookalike.table import Kind, as_table, read_table

DATES = ["2020-01-15", "2020-12-15", "2020-07-01", None]


@pytest.mark.parametrize(
    "cells",
    [
        DATES,
        [None if d is None else dt.date.fromisoformat(d) for d in DATES],
        ["Jan", "december", "July", None],
        [1, 12, 7, None],
        ["15.01.2020", "15.12.2020", "01.07.2020", None],
    ],
)
def test_months_from_anything(cells):
    table = read_table({"when": cells, "x": [1, 2, 3, 4]}, kinds={"when": "month"})
    assert table["when"].values.tolist() == [0, 11, 6, -1]
    assert table["when"].cell(1) == "December"
    assert table.kinds["when"].label == "month"
    again = as_table({"when": cells, "x": [1, 2, 3, 4]}, table.schema)
    assert again["when"].values.tolist() == [0, 11, 6, -1]


def test_weekdays():
    days = [f"2024-01-0{day}" for day in range(1, 8)]  # from a Monday to a Sunday
    table = read_table({"day": days}, kinds={"day": "weekday"})
    assert table["day"].values.tolist() == list(range(7))
    assert table["day"].cell(6) == "Sunday"


def test_december_is_next_to_january():
    measure = Gower(kinds={"when": "month"}).fit({"when": ["Jan", "Dec", "Jul", "Feb"]})
    similarity = measure.similarity()
    np.testing.assert_allclose(similarity[0], [1, 1 - 1 / 6, 0, 1 - 1 / 6])
    forest = RandomSimilarityForestClassifier(5, kinds={"when": "month"}, random_state=0)
    forest.fit({"when": ["Jan", "Dec", "Jul", "Jun"] * 5}, [0, 0, 1, 1] * 5)
    assert forest.predict({"when": ["Jan", "Jun"]}).tolist() == [0, 1]


def test_what_is_no_month_is_said():
    with pytest.raises(InvalidInput, match="a month: dates, names or 1 to 12"):
        read_table({"when": [1, 13]}, kinds={"when": "month"})


def test_flags_are_read_in_words_and_others_are_refused():
    table = read_table({"x": ["yes", "no", None, "YES"]}, kinds={"x": "flag"})
    assert table["x"].values.tolist() == [1, 0, -1, 1]
    # The fitted column writes yes and no; new rows may use other words for the same.
    again = as_table({"x": ["true", "f", "y", "no", None]}, table.schema)
    assert again["x"].values.tolist() == [1, 0, 1, 0, -1]
    with pytest.raises(InvalidInput, match="yes or no"):
        read_table({"x": ["yes", "no", "perhaps"]}, kinds={"x": "flag"})


def test_a_level_written_with_spaces_is_found_without_them():
    table = read_table({"x": ["a ", "b", "a "]}, kinds={"x": Kind("category", levels=("a ", "b"))})
    assert as_table({"x": ["a", "b", "a "]}, table.schema)["x"].values.tolist() == [0, 1, 0]
