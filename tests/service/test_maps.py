"""Rows on a plane: as bytes, in colors, under a filter, and what their regions are called."""

import base64
import json
from types import SimpleNamespace

import numpy as np
import pytest

from lookalike.errors import LookalikeError
from lookalike.service import analysis, maps
from lookalike.service.store.store import NotFound
from lookalike.table import read_table


def test_an_empty_set_is_not_called_missing():
    rows = {"tags": [{"a"}, set(), {"a", "b"}], "more": [{"a"}, None, {"b"}]}
    sample = SimpleNamespace(table=read_table(rows), ids=[0, 1, 2])
    drawn = maps.Map(sample, {"trust": None}, {"places": np.zeros((3, 2))})
    assert drawn.colors("tags")["gap"] == "none"
    assert drawn.colors("more")["gap"] == "missing"


def decoded(colors, dtype=np.uint8):
    return np.frombuffer(base64.b64decode(colors["values"]), dtype).tolist()


def test_colors_are_codes_of_the_most_common_names():
    names = ["b", "a", None, "b", *"hgfedc"]
    found = maps._codes(names, "gone")
    assert (found["kind"], found["gap"]) == ("category", "gone")
    assert found["labels"] == ["b", "a", "c", "d", "e", "f", "g", "h"]
    assert decoded(found) == [0, 1, 255, 0, 7, 6, 5, 4, 3, 2]
    more = maps._codes([*names, "i"], "gone")
    assert more["labels"] == [*found["labels"], "other"]
    assert decoded(more)[-1] == 8
    cells = [{"x", "y"}, {"y"}, None, set(), {"z", "x"}, {"v", "w"}]
    assert maps._common_items(cells) == ["x", "y", None, None, "x", "v"]
    assert maps._numbers([1, np.nan])["kind"] == "number"


def test_a_map_as_bytes_and_in_colors(made):
    places = np.arange(24.0).reshape(12, 2)
    sample = analysis.take(made.view)
    about = {"trust": 0.5, "sketch": False, "regions": []}
    drawn = maps.Map(sample, about, {"places": places})
    head, _, cells = drawn.to_bytes().partition(b"\n")
    assert json.loads(head) == {
        "rows": 12, "ids": "positions", "generation": 1, "sampled": False, "newer": 0,
        **about, "columns": ["x", "y", "group"],
    }  # fmt: skip
    assert np.frombuffer(cells, "<f4").tolist() == [*range(0, 24, 2), *range(1, 24, 2)]
    some = analysis.RowSample(made.view, [1, 0, 7], sample.table[np.array([1, 0, 7])], True)
    part = maps.Map(some, {"trust": None}, {"places": places[:3]})
    head = json.loads(part.to_bytes().partition(b"\n")[0])
    assert (head["ids"], head["rows"], head["sampled"]) == ([1, 0, 7], 3, True)
    assert decoded(part.colors("y"), "<f4") == [1, 0, 5]
    assert part.colors("group")["labels"] == ["b", "a"]
    assert part.colors("name")["labels"] == ["row 0", "row 1", "row 7"]
    with pytest.raises(NotFound, match="Did you mean 'group'"):
        part.colors("grup")
    clusters = analysis.Clusters(sample, {}, {"labels": np.array([1, -1, *[0] * 10])})
    assert part.by_cluster(clusters) == maps._codes([None, "cluster 1", "cluster 0"], "no cluster")
    gone = analysis.Clusters(some, {}, {"labels": np.array([2, 0, 0])})
    assert decoded(drawn.by_cluster(gone))[:3] == [0, 1, 255]
    hubs = analysis.Hubs(some, {}, {"plain": np.array([[1], [2], [1]])})
    assert decoded(part.by_occurrence(hubs), "<f4") == [0, 2, 1]
    assert np.isnan(decoded(drawn.by_occurrence(hubs), "<f4")).sum() == 9


def test_a_map_is_trusted_by_as_many_neighbors_as_are_defined(made, monkeypatch):
    view = made.view
    asked = []

    def trusted(measure, places, k):
        asked.append((len(places), k))
        return np.float64(0.75)

    monkeypatch.setattr(maps, "trustworthiness", trusted)
    monkeypatch.setattr(maps, "layout", lambda measure: np.zeros((size, 2)))
    monkeypatch.setattr(maps, "find_regions", lambda places, table: [])
    for size in (4, 5, 7, 24, 25):
        found = maps.make_map(view)
        trust = None if size == 4 else 0.75
        assert found.document == {"trust": trust, "sketch": False, "regions": []}
    assert maps.make_map(view, 12).document["trust"] is None  # a sketch
    assert asked == [(5, 1), (7, 2), (24, 10), (25, 10)]


def test_regions_are_told_by_what_sets_them_apart():
    rng = np.random.default_rng(0)
    part = np.repeat([0, 1, 2], [60, 40, 20])
    places = rng.normal(scale=0.01, size=(120, 2)) + np.array([[0, 0], [1, 0], [0, 1]])[part]
    table = read_table(
        {"color": np.array(["red", "blue", "green"])[part], "x": rng.normal(size=120)}
    )
    regions = maps.find_regions(places, table)
    assert [region["size"] for region in regions] == sorted(
        (r["size"] for r in regions), reverse=True
    )
    assert sum(region["size"] for region in regions) == 120
    for region in regions:
        nearest = np.abs(places - [region["x"], region["y"]]).sum(axis=1).argmin()
        strongest = region["differs"][0]
        level = ["red", "blue", "green"][part[nearest]]
        assert strongest["column"] == "color"
        # What a slow count finds: all of the region, and the share of the rest.
        assert (strongest["value"], strongest["inside"]) == (level, 1.0)
        others = (part == part[nearest]).sum() - region["size"]
        assert strongest["outside"] == pytest.approx(others / (120 - region["size"]))
    assert maps.find_regions(places, table) == regions
    assert maps.find_regions(places[:29], table[np.arange(29)]) == []  # too few for two
    assert maps.find_regions(np.zeros((120, 2)), table) == []  # all at one place


def test_rows_that_meet_a_filter_are_bits_in_the_order_of_the_map(made):
    sample = analysis.take(made.view)
    drawn = maps.Map(sample, {}, {"places": np.zeros((12, 2))})

    def met(filter):
        found = drawn.matches(filter)
        bits = np.unpackbits(decoded_bytes(found), bitorder="little")[:12].astype(bool)
        assert found["matched"] == bits.sum()
        return np.flatnonzero(bits).tolist()

    values = [i * i % 11 for i in range(12)]
    assert met("y>=4") == [i for i in range(12) if values[i] >= 4]
    assert met('{"group": {"in": ["a"]}, "x": {"<": 3}}') == [0, 2, 8]
    assert met(json.dumps({made.view.settings.names: {"in": [3, 11]}})) == [3, 11]
    assert met("{}") == list(range(12))
    with pytest.raises(LookalikeError, match="grup"):
        met('{"grup": {"==": "a"}}')


def decoded_bytes(found):
    return np.frombuffer(base64.b64decode(found["values"]), np.uint8)
