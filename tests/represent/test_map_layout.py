"""The 2-D map: neighbors near, parts apart, the same every time; new rows amid their neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput, TooFewRows, WrongType
from lookalike.kernels.layout import move_rows
from lookalike.measures import Gower, Vector
from lookalike.neighbors import NeighborGraph
from lookalike.represent import MapLayout, layout, place_rows
from lookalike.represent.map_layout import hop_features, pack, principal_plane


def groups_of_rows(sizes, apart=6.0, seed=0, width=6):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(groups), width)) + apart * np.eye(width)[groups], groups


def agreement(places, groups, k=5):
    near = Vector().fit(places).neighbors(None, k).indices
    return (groups[near] == groups[:, None]).mean()


# -- the step, against its definition --------------------------------------------------------------


def gain(places, i, j, level, attract):
    """What a step climbs: the log-probability that a pair is an edge, or that it is noise."""
    q = 1 / (1 + ((places[i] - places[j]) ** 2).sum())
    return np.log(q / (q + level)) if attract else np.log(level / (q + level))


def slope(places, i, j, level, attract, eps=1e-6):
    out = np.zeros(2)
    for axis in range(2):
        up, down = places.copy(), places.copy()
        up[i, axis] += eps
        down[i, axis] -= eps
        out[axis] = gain(up, i, j, level, attract) - gain(down, i, j, level, attract)
    return out / (2 * eps)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), level=st.floats(0.01, 1))
def test_an_edge_climbs_the_slope_of_its_likelihood(seed, level):
    before = np.random.default_rng(seed).normal(size=(2, 2)) * 2
    after = before.copy()
    starts, near = np.array([0, 1, 1]), np.array([1])
    rate = 1e-3
    args = np.ones(1), np.array([rate]), np.array([level]), 0, np.array([1])
    move_rows(after, starts, near, *args)
    for i, j in ((0, 1), (1, 0)):
        step = (after - before)[i] / rate
        np.testing.assert_allclose(step, slope(before, i, j, level, True), atol=1e-5)


def test_rows_drawn_at_random_are_climbed_away_from():
    before = np.array([[0.0, 0.0], [1.0, 0.5]])
    near, starts, level, rate = np.array([1]), np.array([0, 1, 1]), 0.2, 1e-6
    pulled, both = before.copy(), before.copy()
    args = starts, near, np.ones(1), np.array([rate]), np.array([level])
    move_rows(pulled, *args, 0, np.array([1]))
    n = 400
    move_rows(both, *args, n, np.array([123456789]))
    # Half of the draws are row 1, the other half the row itself, which counts nothing.
    push = (both - pulled)[0] / rate
    np.testing.assert_allclose(push, slope(before, 0, 1, level, False) * n / 2, rtol=0.15)
    np.testing.assert_array_equal(both[1], pulled[1])


def test_an_edge_counts_in_its_share_of_the_epochs():
    start = np.array([[0.0, 0.0], [1.0, 0.0]])
    near, starts, epochs = np.array([1]), np.array([0, 1, 1]), 4000
    pulled = []
    for share in (0.0, 0.25, 1.0):
        places = start.copy()
        rates, levels = np.full(epochs, 1e-6), np.ones(epochs)
        move_rows(places, starts, near, np.array([share]), rates, levels, 0, np.array([99991]))
        pulled.append(places[0, 0])
    assert pulled[0] == 0
    assert pulled[1] / pulled[2] == pytest.approx(0.25, abs=0.03)


def test_the_compiled_step_is_the_plain_one():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(30, 2))
    near = rng.integers(0, 30, 90)
    shares, rates, levels = rng.random(90), np.linspace(1, 0.1, 4), np.linspace(1, 0.05, 4)
    args = np.arange(31) * 3, near, shares, rates, levels, 5
    one, two = places.copy(), places.copy()
    states = np.array([987654321]), np.array([987654321])
    move_rows(one, *args, states[0])
    getattr(move_rows, "py_func", move_rows)(two, *args, states[1])
    np.testing.assert_allclose(one, two, rtol=1e-9)
    assert states[0] == states[1]
    assert not np.allclose(one, places)


# -- where it begins -------------------------------------------------------------------------------


def ring(n):
    at = np.arange(n)
    return NeighborGraph(np.column_stack([(at + 1) % n, (at - 1) % n]), np.ones((n, 2)), n)


def test_a_ring_begins_as_a_ring():
    plane = principal_plane(hop_features(ring(60).to_csr()))
    radius = np.hypot(*(plane - plane.mean(axis=0)).T)
    assert radius.std() < 0.1 * radius.mean()


def test_principal_components_are_those_of_numpy():
    x = np.random.default_rng(3).normal(size=(50, 6)) * [5, 3, 1, 1, 1, 1]
    centered = x - x.mean(axis=0)
    expected = centered @ np.linalg.svd(centered)[2][:2].T
    np.testing.assert_allclose(np.abs(principal_plane(x)), np.abs(expected), rtol=1e-6)


# -- the map ---------------------------------------------------------------------------------------


def test_similar_rows_are_near():
    rows, groups = groups_of_rows([60, 60, 60], apart=3.5)
    places = layout(Vector().fit(rows))
    assert agreement(places, groups) > 0.95
    assert agreement(places, np.random.default_rng(0).permutation(groups)) < 0.5


def test_a_map_of_a_plane_keeps_the_plane():
    rows = np.random.default_rng(1).random((400, 2)) * [2, 1]
    places = layout(Vector().fit(rows))
    near, far = (Vector().fit(x).neighbors(None, 10).indices for x in (places, rows))
    shared = np.mean([len(set(a) & set(b)) for a, b in zip(near, far, strict=True)])
    assert shared > 6.5


def test_a_nearly_disconnected_graph_is_not_drawn_as_a_line():
    """Eigenvectors of such a graph put all rows but a few on one line."""
    rows, groups = groups_of_rows([150, 150, 20], apart=40.0)
    rows[0] = rows[groups == 1][0] * 0.5 + rows[groups == 0][1] * 0.5  # one row between the two
    places = layout(Vector().fit(rows), 10)
    for group in range(3):
        sides = np.linalg.svd(places[groups == group] - places[groups == group].mean(axis=0))[1]
        assert sides[1] > 0.2 * sides[0]


def boxes_of(places, groups):
    return [
        (places[groups == g].min(axis=0), places[groups == g].max(axis=0))
        for g in np.unique(groups)
    ]


def test_parts_that_are_not_connected_do_not_overlap_and_share_the_area():
    rows, groups = groups_of_rows([80, 40, 20], apart=100.0)
    places = layout(Vector().fit(rows), 5)
    boxes = boxes_of(places, groups)
    for a in range(3):
        for b in range(a):
            assert ((boxes[a][0] > boxes[b][1]) | (boxes[b][0] > boxes[a][1])).any()
    area = [float((high - low).prod()) for low, high in boxes]
    np.testing.assert_allclose(np.array(area) / area[2], [4, 2, 1], rtol=1e-6)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 60))
def test_packed_rectangles_do_not_overlap_and_waste_little(seed, m):
    rng = np.random.default_rng(seed)
    sides = rng.random((m, 2)) + 0.2
    sides = sides[np.argsort(-sides[:, 1])]
    corners = pack(sides, 0.1)
    for a in range(m):
        for b in range(a):
            gap = np.maximum(corners[a] - corners[b] - sides[b], corners[b] - corners[a] - sides[a])
            assert gap.max() > 0.1 - 1e-9
    whole = (corners + sides).max(axis=0)
    assert whole.prod() < 3 * ((sides + 0.1).prod(axis=1).sum() + sides.max() ** 2)


def test_the_longer_side_is_one_and_the_middle_is_zero():
    places = layout(Vector().fit(np.random.default_rng(0).random((50, 3))))
    low, high = places.min(axis=0), places.max(axis=0)
    assert (high - low).max() == pytest.approx(1)
    np.testing.assert_allclose(low + high, 0, atol=1e-12)


def test_the_same_map_every_time_for_any_number_of_threads():
    rows = np.random.default_rng(3).random((500, 4))
    maps = [layout(Vector(n_jobs=jobs).fit(rows), 8) for jobs in (1, 1, 3)]
    assert maps[0].dtype == np.float64
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])
    with la.config(n_jobs=2):
        np.testing.assert_array_equal(maps[0], layout(Vector().fit(rows), 8))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_tiny(n):
    places = layout(Vector().fit(np.arange(float(n))[:, None]))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(9), axis=0)) == n


def test_duplicates_and_a_constant_table():
    places = layout(Vector().fit(np.zeros((40, 3))))
    assert np.isfinite(places).all()
    places = layout(Vector().fit(np.repeat(np.eye(4) * 10, 100, axis=0)), 5)
    assert places.shape == (400, 2)
    assert np.isfinite(places).all()


def test_rows_that_cannot_be_compared_stand_alone():
    table = {"a": [1.0, 1.1, 1.2, 5.0, 5.1, None], "b": ["x", "x", "x", "y", "y", None]}
    places = layout(Gower().fit(table), 2)
    assert np.isfinite(places).all()
    assert np.linalg.norm(places[:5] - places[5], axis=1).min() > 0.1


def test_a_graph_alone_is_enough():
    rows, groups = groups_of_rows([60, 60], apart=4.0)
    measure = Vector().fit(rows)
    graph = measure.neighbors(None, 7)
    places = layout(graph)
    assert agreement(places, groups) > 0.95
    np.testing.assert_array_equal(layout(graph, 4), layout(measure.neighbors(None, 4)))
    np.testing.assert_array_equal(places, layout(graph.to_csr()))


def test_a_square_matrix_is_a_space():
    rows, _ = groups_of_rows([20, 20])
    measure = Vector().fit(rows)
    assert layout(measure.distance(), 5).shape == (40, 2)


def test_other_neighbors_give_another_map():
    measure = Vector().fit(groups_of_rows([40, 40])[0])
    assert (layout(measure, 5) != layout(measure, 12)).any()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"k": 0}, InvalidInput, "an integer >= 1"),
        ({"k": 30}, TooFewRows, "n_samples=30"),
        ({"random_state": -1}, InvalidInput, "an integer >= 0"),
    ],
)
def test_wrong_options(options, error, words):
    measure = Vector().fit(np.random.default_rng(0).random((30, 2)))
    with pytest.raises(error, match=words):
        layout(measure, **options)


def test_wrong_spaces():
    with pytest.raises(WrongType, match="layout: needs a fitted measure"):
        layout("films.csv")
    graph = Vector().fit(np.arange(9.0)[:, None]).neighbors(None, 2)
    with pytest.raises(TooFewRows, match="found lists of 2"):
        layout(graph, 3)


def test_a_seed_may_be_any_kind_of_random_state():
    measure = Vector().fit(np.random.default_rng(0).random((150, 2)))
    one, two = (layout(measure, random_state=np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (one != layout(measure, random_state=np.random.RandomState(5))).any()
    assert layout(measure, random_state=None).shape == one.shape


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
