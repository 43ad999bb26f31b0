"""The verb ``link``: two tables, read differently, with and without doubles; wrong input."""

import json

import pandas as pd
import pytest

import lookalike as la
from cli.run import run
from linkage.people import people
from lookalike.errors import InvalidInput


@pytest.fixture(scope="module")
def tables():
    frame, entities = people(150, 60)
    return frame[:150], frame[150:].reset_index(drop=True), entities[150:]


def test_rows_of_two_tables_are_linked(tables):
    left, right, truth = tables
    found = la.link(left, right)
    right_pairs = [pair for pair in found.pairs if truth[pair.right] == pair.left]
    assert len(right_pairs) >= 57
    assert len(found.pairs) - len(right_pairs) <= 1
    assert found.expected.precision > 0.97
    assert found.text().startswith("table: 60 pairs of 150 rows with 60 of other")


def test_kinds_may_differ_between_the_tables(tables):
    left, right, truth = tables
    left = left.assign(born=left["born"].str.replace("-", ""), phone=left["phone"].astype(int))
    right = right.assign(name=right["name"].str.upper())
    pairs = la.link(left, right).pairs
    assert sum(truth[pair.right] == pair.left for pair in pairs) >= 55


def test_a_row_may_have_many_matches_if_asked(tables, tmp_path):
    left, right, _ = tables
    twice = pd.concat([right, right], ignore_index=True)
    one, many = (la.link(left, twice, many=many) for many in (False, True))
    assert len(many.pairs) > 1.8 * len({pair.left for pair in many.pairs})
    assert len(one.pairs) == len({pair.left for pair in one.pairs})
    for name, frame in (("a", left), ("b", twice)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ("--many", "--output", "json", "-q")
    done = run("link", tmp_path / "a.csv", tmp_path / "b.csv", *words)
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["pairs"]) == len(many.pairs)


def test_decisions_name_a_row_of_each_table(tables):
    left, right, truth = tables
    wrong = {"pair": [int((truth[0] + 1) % 150), 0], "same": True}
    found = la.link(left, right, decisions=[wrong])
    assert found.pairs[0][:2] == tuple(wrong["pair"])
    assert (int(truth[0]), 0) not in [pair[:2] for pair in found.pairs]


def test_wrong_input_is_refused_with_the_way_out(tables):
    left, right, _ = tables
    for options, match in (
        ({"by": "country"}, "columns of both tables"),
        ({"show": "golden"}, "one of .pairs., .review."),
        ({"decisions": [{"pair": [0], "same": True}]}, "two ids"),
    ):
        with pytest.raises(InvalidInput, match=match):
            la.link(left, right, **options)
    with pytest.raises(InvalidInput, match="one name in both"):
        la.link(left, {"color": ["red", "blue"]})
    with pytest.raises(InvalidInput, match="at least one row"):
        la.link(left, right[:0])
