"""New rows on a map: amid their neighbors, and the old ones stay where they are."""

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.measures import Gower, Vector
from lookalike.neighbors import NeighborGraph
from lookalike.represent import MapLayout, layout, place_rows


def slow_place(places, rounds=20):
    """The medoid of some places, then a mean in which far ones count little."""
    between = np.linalg.norm(places[:, None] - places, axis=2)
    at = places[between.sum(axis=1).argmin()]
    squares = ((places - at) ** 2).sum(axis=1)
    width = np.sort(squares)[len(squares) // 2]
    for _ in range(rounds if width > 0 else 0):
        weights = 1 / (1 + ((places - at) ** 2).sum(axis=1) / width)
        at = (weights[:, None] * places).sum(axis=0) / weights.sum()
    return at


@pytest.fixture(scope="module")
def rows():
    groups = np.repeat([0, 1, 2], 60)
    return np.random.default_rng(0).normal(size=(180, 5)) + 5 * np.eye(5)[groups]


def test_a_map_is_that_of_layout(rows):
    drawing = MapLayout(Vector(), 8)
    places = drawing.fit_transform(rows)
    np.testing.assert_array_equal(places, layout(Vector().fit(rows), 8))
    np.testing.assert_array_equal(places, drawing.embedding_)
    assert drawing.n_neighbors_ == 8
    assert drawing.get_feature_names_out().tolist() == ["map x", "map y"]


def test_new_rows_go_where_the_definition_says(rows):
    rng = np.random.default_rng(1)
    places, near = rng.normal(size=(50, 2)), rng.integers(0, 50, (20, 9))
    graph = NeighborGraph(near, np.ones((20, 9)), 50)
    expected = [slow_place(places[some]) for some in near]
    np.testing.assert_allclose(place_rows(graph, places), expected, rtol=1e-9)


def test_new_rows_land_in_their_group_and_move_nothing(rows):
    drawing = MapLayout(Vector()).fit(rows)
    before = drawing.embedding_.copy()
    new = np.random.default_rng(2).normal(size=(30, 5)) + 5 * np.eye(5)[np.arange(30) % 3]
    placed = drawing.transform(new)
    np.testing.assert_array_equal(drawing.embedding_, before)
    nearest = np.linalg.norm(placed[:, None] - before, axis=2).argmin(axis=1)
    assert (nearest // 60 == np.arange(30) % 3).mean() > 0.95
    # a row goes to the same place, whatever else is asked
    np.testing.assert_array_equal(placed[7:8], drawing.transform(new[7:8]))


def test_a_row_that_is_there_already_is_put_in_its_place(rows):
    drawing = MapLayout(Vector()).fit(rows)
    np.testing.assert_array_equal(drawing.transform(rows[5:9]), drawing.embedding_[5:9])


def test_a_row_that_cannot_be_compared_has_no_place():
    table = {"a": [1.0, 1.1, 1.2, 5.0], "b": ["x", "x", "x", "y"]}
    drawing = MapLayout(Gower(), 2).fit(table)
    assert np.isnan(drawing.transform({"a": None, "b": None})).all()
    assert np.isfinite(drawing.transform({"a": 1.0, "b": None})).all()


def test_a_saved_map_places_rows_alike(rows, tmp_path):
    drawing = MapLayout(Vector(), 6).fit(rows)
    drawing.save(tmp_path / "map.lookalike")
    loaded = la.load(tmp_path / "map.lookalike")
    np.testing.assert_array_equal(loaded.transform(rows + 0.1), drawing.transform(rows + 0.1))


def test_one_row_and_one_neighbor():
    drawing = MapLayout(Vector()).fit([[1.0, 2.0]])
    assert drawing.embedding_.tolist() == [[0.0, 0.0]]
    assert drawing.transform([[5.0, 2.0]]).tolist() == [[0.0, 0.0]]


def test_wrong_input(rows):
    with pytest.raises(InvalidInput, match="an integer >= 1"):
        MapLayout(n_neighbors=0).fit(rows)
    with pytest.raises(TooFewRows, match=r"MapLayout\(n_neighbors=9\)"):
        MapLayout(n_neighbors=9).fit(rows[:9])
    graph = Vector().fit(rows).neighbors(rows[:2], 3)
    with pytest.raises(InvalidInput, match="a point for each of the 180 rows"):
        place_rows(graph, np.zeros((9, 2)))
