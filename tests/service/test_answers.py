"""Answers as JSON: descriptions, hits and reasons are those of the library."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.service import answers
from lookalike.service.analysis import fit_again
from lookalike.service.api.models import MeasureIn, SearchIn
from lookalike.service.cells import ROW_NAMES
from service.collections_made import create
from service.running import PETS


def search(view, asked):
    """Search as a request does, with all defaults."""
    return answers.search(view, SearchIn.model_validate(asked).model_dump())


def test_the_answers_are_those_of_the_library(catalog):
    collection = create(catalog)
    index = la.Index().fit(PETS)
    for id in range(len(PETS)):
        hits = index.search(id, 10)
        answer = search(collection.view, {"query": {"id": id}})
        assert [hit["id"] for hit in answer["hits"]] == hits.ids
        assert [hit["similarity"] for hit in answer["hits"]] == [hit.similarity for hit in hits]


def test_a_collection_says_what_it_is(server):
    (one,) = [c for c in server.collections() if c["name"] == "pets"]
    assert (one["rows"], one["columns"], one["measure"]) == (6, 4, "Gower")
    found = server.describe("pets")
    assert found["label_column"] == "name"
    assert found["id_column"] is None
    assert found["measure"]["weighable"] is True
    assert found["measure"]["weights"] == {"weight": 1.0, "animal": 1.0, "tags": 1.0}
    assert found["drift"] == {"refit": False, "reasons": []}
    assert found["spaces"]["plain"] is True
    columns = {column["name"]: column for column in found["columns"]}
    assert [name for name, column in columns.items() if not column["compared"]] == ["name"]
    assert columns["weight"]["summary"]["min"] == 3.5
    histogram = columns["weight"]["summary"]["histogram"]
    assert sum(histogram["counts"]) == 6
    assert len(histogram["edges"]) == len(histogram["counts"]) + 1
    assert columns["animal"]["summary"] == {
        "counts": [["cat", 2], ["dog", 1], ["horse", 1], ["wolf", 1]],
        "distinct": 4,
    }
    assert columns["animal"]["gaps"] == pytest.approx(1 / 6)
    assert columns["tags"]["summary"]["counts"][0] == ["small", 3]
    assert found["start"] == 5  # complete, and the heaviest by far


def test_search_is_that_of_the_index(server):
    index = la.Index().fit(PETS)
    for query, options in [
        (0, {}),
        (0, {"weights": {"weight": 3, "tags": 0}}),
        (0, {"columns": ["weight"]}),
        (0, {"like": [1], "unlike": [4], "gamma": 0.7}),
        ({"weight": 29}, {}),
    ]:
        answer = server.search("pets", query, 4, **options)
        hits = index.search(query, 4, **options)
        assert [hit["id"] for hit in answer["hits"]] == hits.ids
        expected = [1 - hit.score if "like" in options else hit.similarity for hit in hits]
        assert [hit["score"] for hit in answer["hits"]] == expected
        assert sorted(expected, reverse=True) == expected
        assert [hit["rank"] for hit in answer["hits"]] == [1, 2, 3, 4][: len(hits)]
        assert answer["generation"] == 1


def test_reasons_add_up_and_carry_both_cells(server):
    answer = server.search("pets", 0, 3, explain="all")
    for hit in answer["hits"]:
        assert sum(c["plus"] for c in hit["columns"]) == pytest.approx(hit["similarity"])
        for side in ("for", "against"):
            for reason in hit["reasons"][side]:
                assert set(reason) == {"column", "kind", "share", "query", "found", "text"}
                assert reason["query"] == answer["query"]["row"][reason["column"]]
                assert reason["found"] == hit["row"][reason["column"]]
    assert "reasons" not in server.search("pets", 0, 3, explain=0)["hits"][0]


def test_several_queries_in_one_request(server):
    found = server.search("pets", [0, {"weight": 29}], 2)
    assert [answer["query"]["id"] for answer in found["answers"]] == [0, None]
    alone = server.search("pets", {"weight": 29}, 2)
    assert found["answers"][1]["hits"] == alone["hits"]


def test_an_unknown_category_is_a_note(server):
    note = server.search("pets", {"weight": 3, "animal": "catt"}, 2)["note"]
    assert "catt" in note
    assert "No row shares it" in note


def test_drift_is_reported(pets):
    pets.add("pets", [{"name": "x", "weight": 500 + i, "animal": "whale"} for i in range(30)])
    found = pets.describe("pets")["drift"]
    assert found["refit"]
    assert any("weight" in reason for reason in found["reasons"])
    pets.refit("pets")
    assert not pets.describe("pets")["drift"]["refit"]


def test_numbers_are_summarized_by_cells(server):
    """Lowest, middle and highest cell, and bins that hold every row that has a value."""
    columns = {one["name"]: one for one in server.describe("pets")["columns"]}
    weight = columns["weight"]["summary"]
    assert (weight["min"], weight["median"], weight["max"]) == (3.5, 5, 90)
    assert sum(weight["histogram"]["counts"]) == 6
    animal = columns["animal"]
    assert animal["gaps"] == pytest.approx(1 / 6)
    assert animal["summary"]["counts"][0] == ["cat", 2]
    assert animal["summary"]["distinct"] == 4
    assert columns["tags"]["summary"]["counts"][:2] == [["small", 3], ["tame", 3]]


def test_the_page_opens_on_a_row_that_stands_out(server):
    """Of the rows without missing cells, the one with the extreme of a skewed column."""
    assert server.describe("pets")["start"] == 5  # a horse of 90 among cats and dogs
    even = [{"x": i, "y": "ab"[i % 2], "same": 7} for i in range(10)]
    server.create("even", rows=[{"x": None, "y": "a", "same": 7}, *even])
    assert server.describe("even")["start"] == 1  # nothing is skewed: the first whole row


def test_a_query_may_be_the_name_of_a_row(catalog):
    names = ["Toy Story", "Toy Story 2", "Alien", "Aliens of the Deep", "The Sting"]
    films = [{"title": name, "year": 1970.0 + i * i} for i, name in enumerate(names)]
    view = create(catalog, films).view
    for query, id in (
        ("Toy Story", 0),  # exact, though another begins so
        ("alien", 2),  # in other case
        ("The St", 4),  # its beginning
        ("of the", 3),  # a part
        ("title=Alien", 2),
        ("1", 1),  # an id
        (1, 1),
    ):
        found = search(view, {"query": query, "k": 2})
        assert found["query"]["id"] == id
        assert found["hits"] == search(view, {"query": {"id": id}, "k": 2})["hits"]
    several = search(view, {"query": ["Alien", {"id": 0}], "k": 2})
    assert [one["query"]["id"] for one in several["answers"]] == [2, 0]
    text = "query='toy': needs the name of one row, found 2 rows: 0 .*; 1 .*query=0"
    with pytest.raises(InvalidInput, match=text) as caught:
        search(view, {"query": "toy"})
    with pytest.raises(InvalidInput) as python:
        la.search(films, row="toy")
    assert str(python.value).replace("row=", "query=") == str(caught.value)
    with pytest.raises(InvalidInput, match="needs the id or the name of a row, found 'Alxen'"):
        search(view, {"query": "Alxen"})


def test_conditions_may_be_texts(server):
    found = server.search("pets", 0, 9, filter="animal=cat")
    assert found["hits"] == server.search("pets", 0, 9, filter={"animal": "cat"})["hits"]
    both = server.search("pets", 0, 9, filter=["animal=cat", "weight>4"])
    assert 0 < both["matched"] < found["matched"]


def test_a_session_keeps_the_row_that_a_name_meant(pets):
    started = pets.session("pets", "1", 2)
    assert started["asked"]["query"] == {"id": 1}
    assert started["answer"]["query"]["id"] == 1


def summary(values, kind=None):
    column = la.read_table({"x": values}, kinds=kind and {"x": kind})["x"]
    return answers._summary(column, np.flatnonzero(~column.missing))


def test_summaries_of_every_kind():
    numbers = summary([4.0, 1.0, None, np.inf, 9.0, 2.0])
    assert (numbers["min"], numbers["median"], numbers["max"]) == (1.0, 2.0, 9.0)
    assert len(numbers["histogram"]["edges"]) == 25
    assert sum(numbers["histogram"]["counts"]) == 4
    for n, median in ((3, 1.5), (4, 1.5), (5, 2.5), (9, 4.5)):
        assert summary([i + 0.5 for i in range(n)], "number")["median"] == median
    levels = summary(["b", "a", "b", None, "c"], "category")
    assert levels == {"counts": [["b", 2], ["a", 1], ["c", 1]], "distinct": 3}
    order = summary(["high", "low", "high", None], ["low", "mid", "high"])
    assert order == {"counts": [["low", 1], ["high", 2]], "distinct": 2}
    sets = summary([["b", "a"], ["b"], [], None], "set")
    assert sets == {"counts": [["b", 2], ["a", 1]], "distinct": 2}
    assert summary([["c", "c"], ["d"]], "sequence")["counts"] == [["c", 1], ["d", 1]]
    many = [f"level {i:02}" for i in range(21)] * 2
    for values, kind in ((many, "category"), ([[one] for one in many], "set")):
        found = summary(values, kind)
        assert found["counts"] == [[one, 2] for one in many[:20]]
        assert found["distinct"] == 21
    texts = [f"some longer text {i % 8}" for i in range(9)]
    assert summary(texts, "text") == {"distinct": 8, "examples": [texts[0], texts[3], texts[6]]}
    assert summary(["one text", None], "text") == {"distinct": 1, "examples": ["one text"]}
    assert summary([[1.0, 2.0], [3.0, 4.0]], "vector") == {"examples": [[1.0, 2.0], [3.0, 4.0]]}


def test_what_a_column_is_said_to_be(catalog):
    rows = [
        {"name": f"n{i}", "mass": f"{i} kg", "c": None if i == 1 else "ab"[i % 2]} for i in range(8)
    ]
    view = create(catalog, rows).view
    found = answers.describe("pets", view)
    columns = {one["name"]: one for one in found["columns"]}
    assert list(columns) == ["mass", "c", "name"]
    assert [one["compared"] for one in columns.values()] == [True, True, False]
    assert [one["gaps"] for one in columns.values()] == [0.0, 1 / 8, 0.0]
    assert [one["unit"] for one in columns.values()] == ["kg", None, None]
    assert columns["name"]["reason"] == view.settings.aside["name"]["reason"]
    assert columns["c"]["note"] is None
    assert (found["name"], found["title"], found["rows"], found["generation"]) == (
        "pets", "pets", 8, 1,
    )  # fmt: skip
    assert answers.describe("pets", view) is found  # once per view
    weighed = fit_again(view, MeasureIn(measure="gower", weights={"mass": 3.0}))
    measure = answers.describe_measure(weighed)
    assert measure["weights"] == {"mass": 3.0, "c": 1.0}
    assert (measure["name"], measure["asked"], measure["reason"]) == ("Gower", "gower", "given")
    assert measure["weighable"] is True


def test_the_row_to_open_on(catalog):
    def start(**columns):
        ids = [*range(10, 10 + len(columns["x"]))]
        table = la.read_table({"lookalike_id": ids, **columns}, kinds={"lookalike_id": ROW_NAMES})
        settings = SimpleNamespace(names="lookalike_id")
        return answers.start_of(SimpleNamespace(settings=settings), table)

    flat = [1.0, 2.0, 3.0, 4.0]
    assert start(x=flat, y=["a", None, "b", "b"]) == 10  # nothing is skewed
    assert start(x=flat, y=[None, "a", "b", "b"]) == 11  # the first whole row
    assert start(x=[1.0, 1.5, 90.0, 1.2, 1.4], y=[2.0, 1.0, 3.0, 2.5, 1.5]) == 12
    assert start(x=[1.0, 1.5, 90.0, 1.2, 1.4], y=["a", "b", None, "a", "b"]) == 10
    # Of two long tails the longer one.
    tail, longer = [0.0, 1.0, 1.0, 2.0, 1.0, 6.0], [0.0, 1.0, 1.0, 2.0, 90.0, 1.5]
    assert start(x=tail, y=longer) == start(x=longer, y=tail) == 14
    assert start(x=[7.0, 7.0, 7.0, 7.0], y=flat) == 10  # no spread


def test_queries_and_options_of_a_request(catalog):
    view = create(catalog).view
    for query, expected in (
        ("Tom", 0), (1, 1), ({"id": 2}, 2), ({"id": 0, "record": None}, 0),
        ({"record": {"weight": 3, "lookalike_id": 1}}, {"weight": 3}), ({}, {}),
    ):  # fmt: skip
        assert answers.read_query(view, query) == expected
    assert answers.read_options(view, {"filter": None, "weights": {}, "columns": []}) == {
        "filter": None, "weights": None, "columns": None,
    }  # fmt: skip
    options = {"filter": None, "weights": {"weight": 2}, "columns": ["weight"]}
    assert answers.read_options(view, options) == options
    with pytest.raises(InvalidInput, match="something to start from, found an empty list"):
        search(view, {"query": []})


def test_an_answer_in_full(catalog):
    collection = create(catalog)
    view = collection.view
    first = answers.first_answer("pets", view)
    assert (first["query"]["id"], len(first["hits"]), first["space"]) == (5, 5, "plain")
    hits = view.index.search(5, 20)
    shown = first["hits"][0]
    assert shown["score"] == shown["similarity"]
    names = ("similarity", "distance", "compared", "compared_of")
    assert [shown[name] for name in names] == [getattr(hits[0], name) for name in names]
    assert [hit["rank"] for hit in first["hits"]] == [1, 2, 3, 4, 5]
    why = hits[0].explanation
    assert [one["column"] for one in shown["columns"]] == list(why.columns)
    for one in shown["columns"]:
        assert one["plus"] == why.plus.get(one["column"], 0.0)
        assert one["minus"] == why.minus.get(one["column"], 0.0)
        assert one["query"] == first["query"]["row"][one["column"]]
        assert one["found"] == shown["row"][one["column"]]
    few = search(view, {"query": {"id": 5}, "explain": 1})["hits"][0]
    assert max(map(len, few["reasons"].values())) == 1
    assert "columns" not in few
    none = search(view, {"query": {"record": {"weight": 3}}, "explain": 0})
    assert "reasons" not in none["hits"][0]
    assert (none["note"], none["query"]["label"], none["query"]["id"]) == (None, None, None)
    several = search(view, {"query": [{"id": 0}, {"id": 1}], "k": 2, "filter": {"animal": "cat"}})
    assert (several["matched"], several["generation"]) == (2, 1)
    assert [one["matched"] for one in several["answers"]] == [2, 2]
    assert several["took_ms"] > 0


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=40))
def test_bins_are_those_of_numpy(values):
    counts, edges = answers._bin_numbers(np.array(values))
    wanted, at = np.histogram(np.array(values), answers.N_BINS)
    np.testing.assert_array_equal(counts, wanted)
    np.testing.assert_array_equal(edges, at)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, np.nextafter(1.0, 2.0), 1.0],
        [2.0261118123456788e16] * 3,
        [1.7e308, -1.7e308, 0.0],
        [5e-324, 0.0, 0.0],
        [1e200, -3.0, 1e-200],
    ],
)
def test_columns_of_very_near_and_far_numbers_are_described(catalog, values):
    collection = create(catalog, [{"x": x, "c": c} for x, c in zip(values, "aab", strict=True)],
                        kinds={"x": "number"})  # fmt: skip
    answer = answers.describe("t", collection.view)
    (summary,) = [column["summary"] for column in answer["columns"] if column["name"] == "x"]
    assert sum(summary["histogram"]["counts"]) == 3
    assert summary["max"] == max(values)
