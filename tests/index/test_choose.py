"""The automatic choice of a measure, and the reason that goes with it."""

import re

import numpy as np
import pytest

import lookalike as la
from lookalike.hubness import MutualProximity, k_occurrence, skewness
from lookalike.index import choose_measure
from lookalike.measures import Gower, Ranked, StochasticForest, Vector

random = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("rows", "measure", "message"),
    [
        (random.random((50, 3)), Ranked, "numbers, none missing, in 50 rows"),
        (
            random.random((1200, 50)),
            StochasticForest,
            "no missing values in 1,200 rows and 50 columns",
        ),
        (random.random((1200, 7)).repeat(7, axis=1), Ranked, "1,200 rows"),
        (random.random((900, 6)).repeat(10, axis=1), Ranked, "900 rows"),
        (random.integers(0, 2, (50, 60)).repeat(24, axis=0), Ranked, "numbers, none missing"),
        ({"a": [1.0, 2.0], "b": ["x", "y"]}, Gower, "'b' \\(category\\) is not numeric"),
        (
            {"a": [1.0, None, 3.0]},
            Gower,
            "1 of 3 rows has missing values; numbers are compared by rank$",
        ),
        ({"a": [1.0, None, 2, 1, 2, 90]}, Gower, "compared by rank: 'a' is skewed$"),
        ({"a": [1.0, None, 3], "b": [5.0] * 3}, Gower, "compared by rank$"),
        ({"b": ["x", "y"]}, Gower, "'b' \\(category\\) is not numeric$"),
        ({"a": [1.0, None, None]}, Gower, "2 of 3 rows have missing values"),
        ({"a": [0.1, 0.2, 0.4], "b": [True, False, True]}, Gower, "flags beside numbers in 3 rows"),
        (
            {"a": [{"x"}, {"y"}], "b": ["u", "v"], "c": [["p"], ["q"]], "d": ["k", "l"]},
            Gower,
            "and 1 more are not numeric",
        ),
        ({"v": [[0.1, 0.2], [0.3, -0.4]]}, Vector, "every column is a vector"),
    ],
)
def test_the_rule_and_its_words(rows, measure, message):
    table = la.read_table(rows)
    if "v" in table:
        table = la.read_table(rows, kinds={"v": "vector"})
    found, reason = choose_measure(table)
    assert type(found) is measure
    assert reason.startswith(measure.__name__)
    assert re.search(message, reason), reason
    assert not hasattr(found, "rows_")
    index = la.Index().fit(table)
    assert type(index.measure_) is measure
    assert index.reason_ == reason


def test_hubs_are_repaired_where_there_are_some():
    # Independent normal columns, many of them: the middle is near to everybody.
    rows = np.random.default_rng(1).normal(size=(400, 200))
    measure, reason = choose_measure(rows)
    assert isinstance(measure, MutualProximity)
    assert isinstance(measure.measure, Ranked)
    assert "hubs" in reason
    before, after = (
        skewness(k_occurrence(m.fit(rows), 10, ties="expected"))
        for m in (Ranked(), choose_measure(rows)[0])
    )
    assert before > 1.4 > after
    assert f"skewness {before:.1f}" in reason
    flat, reason = choose_measure(np.random.default_rng(1).random((400, 3)))
    assert isinstance(flat, Ranked)
    assert "no hubs" in reason


def test_large_tables_are_repaired_from_a_sample():
    # Ranks of 49 independent columns have hubs in a sample of 1,000 rows.
    rows = np.random.default_rng(1).normal(size=(10_500, 49))
    measure, reason = choose_measure(rows)
    assert isinstance(measure, MutualProximity)
    assert measure.sample == 30
    assert "1,000 rows" in reason
    small, _ = choose_measure(rows[:5000])
    assert isinstance(small, MutualProximity)
    assert small.sample is None


def test_the_choice_is_the_same_every_time():
    rows = np.random.default_rng(2).random((1200, 50))
    one, two = (la.Index().fit(rows) for _ in range(2))
    assert one.search(5).ids == two.search(5).ids
    assert one.reason_ == two.reason_


def test_refitting_chooses_again():
    rows = np.random.default_rng(3).random((1100, 52))
    index = la.Index().fit(rows[:900])
    assert isinstance(index.measure_, Ranked)
    index.add(rows[900:])
    index.refit()
    assert isinstance(index.measure_, StochasticForest)
    assert "1,100 rows" in index.reason_


def test_tables_of_equal_rows_are_no_trouble():
    measure, _ = choose_measure(np.ones((1500, 50)))
    assert isinstance(measure, Ranked)
    assert la.Index().fit(np.ones((1500, 4))).search(3, 2).ids == [0, 1]


def test_kinds_and_the_wish_to_weigh_columns_are_heard():
    rows = {"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 2.0]}
    assert isinstance(choose_measure(rows)[0], Ranked)
    measure, reason = choose_measure(rows, kinds={"b": "category"})
    assert isinstance(measure, Gower)
    assert "'b' (category)" in reason
    assert measure.scale == "rank"
    assert choose_measure({"b": ["x", "y", "y"]})[0].scale == "range"  # nothing to rank
    measure, reason = choose_measure(rows, weighs_columns=True)
    assert measure.scale == "rank"
    assert measure.traits.weighs_columns
    assert "weighed" in reason
