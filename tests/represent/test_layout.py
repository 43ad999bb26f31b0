"""The 2-D map: what the definition says on small graphs, and the same every time on all of them."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput, MissingExtra, TooFewRows, WrongType
from lookalike.measures import Gower, Vector
from lookalike.neighbors import NeighborGraph
from lookalike.represent import layout

# The function has the name of its module, so the module is asked for by its whole name.
DENSE = import_module("lookalike.represent.map_layout").DENSE
needs_umap = pytest.mark.skipif(find_spec("umap") is None, reason="umap-learn is not installed")


def spectral(space, *args, **options):
    return layout(space, *args, method="spectral", **options)


def weights(indices):
    """Who is whose neighbor, plainly: 1 if mutual, 1/2 if one way."""
    n = len(indices)
    w = np.zeros((n, n))
    for i in range(n):
        for j in indices[i]:
            w[i, j] += 0.5
            w[j, i] += 0.5
    return w


def slow_waves(w):
    """Eigenvalues of the random-walk Laplacian and the vectors, slowest first, the constant out."""
    degrees = w.sum(axis=1)
    values, vectors = np.linalg.eigh(np.eye(len(w)) - w / np.sqrt(np.outer(degrees, degrees)))
    return values, vectors / np.sqrt(degrees)[:, None]


def explained(places, waves):
    """How much of the centered map lies in the span of the given waves (1 = all of it)."""
    basis = np.linalg.qr(np.column_stack([np.ones(len(waves)), waves]))[0]
    rest = places - basis @ (basis.T @ places)
    return 1 - np.linalg.norm(rest) / np.linalg.norm(places - places.mean(axis=0))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(8, 40), k=st.integers(3, 6))
def test_a_map_is_the_two_slowest_waves_of_the_graph(seed, n, k):
    rows = np.random.default_rng(seed).random((n, 2))
    measure = Vector().fit(rows)
    values, waves = slow_waves(weights(measure.neighbors(None, k).indices))
    if values[1] < 1e-8 or values[3] - values[2] < 1e-6:
        return  # several parts, or no unique pair of slowest waves
    assert explained(spectral(measure, k), waves[:, 1:3]) > 1 - 1e-6


def test_the_coarsened_way_finds_the_same_waves():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.random(1500) * 4, rng.random(1500)])
    graph = Vector().fit(rows).neighbors(None, 10)
    places = spectral(graph)
    assert DENSE < len(rows)
    assert explained(places, slow_waves(weights(graph.indices))[1][:, 1:3]) > 0.99
    assert np.corrcoef(places[:, 0], rows[:, 0])[0, 1] ** 2 > 0.9  # the long side comes first


def test_parts_that_are_not_connected_do_not_overlap():
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1, 2], [40, 25, 12])
    rows = rng.random((77, 2)) + 100 * groups[:, None]
    places = spectral(Vector().fit(rows), 5)
    boxes = [(places[groups == g].min(axis=0), places[groups == g].max(axis=0)) for g in range(3)]
    for a in range(3):
        for b in range(a):
            apart = (boxes[a][0] > boxes[b][1]) | (boxes[b][0] > boxes[a][1])
            assert apart.any()
    area = [float((high - low).max()) ** 2 for low, high in boxes]
    np.testing.assert_allclose(area[0] / area[2], 40 / 12)


def test_similar_rows_are_near():
    rng = np.random.default_rng(2)
    groups = np.repeat([0, 1], 60)
    rows = rng.normal(size=(120, 5)) + 1.5 * groups[:, None]
    places = spectral(Vector().fit(rows))
    means = np.array([places[groups == g].mean(axis=0) for g in (0, 1)])
    nearest = np.linalg.norm(places[:, None] - means, axis=2).argmin(axis=1)
    assert (nearest == groups).mean() > 0.9


def test_the_longer_side_is_one_and_the_middle_is_zero():
    places = spectral(Vector().fit(np.random.default_rng(0).random((50, 3))))
    low, high = places.min(axis=0), places.max(axis=0)
    assert (high - low).max() == pytest.approx(1)
    np.testing.assert_allclose(low + high, 0, atol=1e-12)


@pytest.mark.parametrize("n", [60, 1300])
def test_the_same_map_every_time_for_any_number_of_threads(n):
    rows = np.random.default_rng(3).random((n, 4))
    maps = [spectral(Vector(n_jobs=jobs).fit(rows), 8) for jobs in (1, 1, 3)]
    assert maps[0].dtype == np.float64
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])
    with la.config(n_jobs=2):
        np.testing.assert_array_equal(maps[0], spectral(Vector().fit(rows), 8))


def test_only_the_order_of_distances_counts():
    rows = np.random.default_rng(4).random((40, 3))
    d = Vector().fit(rows).distance()
    np.testing.assert_array_equal(spectral(d, 6), spectral(np.expm1(d), 6))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_tiny(n):
    places = spectral(Vector().fit(np.arange(float(n))[:, None]))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(9), axis=0)) == n


def test_duplicates_and_a_constant_table():
    places = spectral(Vector().fit(np.zeros((40, 3))))
    assert np.isfinite(places).all()
    rows = np.repeat(np.eye(4) * 10, 500, axis=0) + 0.0
    places = spectral(Vector().fit(rows), 5)
    assert places.shape == (2000, 2)
    assert np.isfinite(places).all()


def test_a_star_is_not_coarsened_for_ever():
    n = 1500
    indices = np.zeros((n, 1), dtype=np.int64)
    indices[0] = 1
    places = spectral(NeighborGraph(indices, np.ones((n, 1)), n))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_rows_that_cannot_be_compared_stand_alone():
    table = {"a": [1.0, 1.1, 1.2, 5.0, 5.1, None], "b": ["x", "x", "x", "y", "y", None]}
    places = spectral(Gower().fit(table), 2)
    assert np.isfinite(places).all()
    others = np.linalg.norm(places[:5] - places[5], axis=1)
    assert others.min() > 0.1


def test_a_graph_gives_the_map_of_its_measure():
    measure = Vector().fit(np.random.default_rng(5).random((30, 2)))
    graph = measure.neighbors(None, 7)
    np.testing.assert_array_equal(spectral(measure, 7), spectral(graph))
    np.testing.assert_array_equal(spectral(measure, 4), spectral(graph, 4))
    np.testing.assert_array_equal(spectral(measure, 7), spectral(graph.to_csr()))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"k": 0}, InvalidInput, "whole number of at least 1"),
        ({"k": 30}, TooFewRows, "n_samples=30"),
        ({"method": "tsne"}, InvalidInput, "'umap', 'spectral'"),
        ({"random_state": -1}, InvalidInput, "at least 0"),
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


@pytest.mark.skipif(find_spec("umap") is not None, reason="umap-learn is installed")
def test_without_umap_its_name_is_answered_with_what_to_install():
    measure = Vector().fit(np.random.default_rng(0).random((30, 2)))
    with pytest.raises(MissingExtra, match="lookalike\\[report\\]"):
        layout(measure, method="umap")
    np.testing.assert_array_equal(layout(measure), spectral(measure))


@needs_umap
def test_umap_uses_our_graph_and_is_the_same_every_time():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 40)
    rows = rng.normal(size=(120, 6)) + 6 * np.eye(6)[groups]
    measure = Vector().fit(rows)
    places = layout(measure, 10)
    np.testing.assert_array_equal(places, layout(measure, 10, method="umap"))
    near = Vector().fit(places).neighbors(None, 5).indices
    assert (groups[near] == groups[:, None]).mean() > 0.99


@needs_umap
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_umap_on_tiny_tables(n):
    places = layout(Vector().fit(np.arange(float(n))[:, None]), method="umap")
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_a_seed_may_be_any_kind_of_random_state():
    measure = Vector().fit(np.random.default_rng(0).random((DENSE + 50, 2)))
    one, two = (spectral(measure, random_state=np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (one != spectral(measure, random_state=np.random.RandomState(5))).any()
    assert spectral(measure, random_state=None).shape == one.shape
