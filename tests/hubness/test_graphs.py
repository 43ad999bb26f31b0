"""Re-ranking of a given neighbor graph: complete lists give the lists of the reducer."""

import numpy as np
import pytest

from hubness.spaces import assert_same_lists
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.hubness import (
    CDM,
    CSLS,
    NICDM,
    DisSimLocal,
    LocalScaling,
    MutualProximity,
    SharedNeighbors,
    rescale,
)
from lookalike.measures import Vector
from lookalike.neighbors import NeighborGraph

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])  # four points on a line

SCALERS = [
    LocalScaling(Vector(), 3),
    NICDM(Vector(), 3),
    NICDM(Vector(), 3, geometric=True),
    CDM(Vector(), 3),
    CSLS(Vector(), 3),
    DisSimLocal(Vector(), 3),
    MutualProximity(Vector(), "gauss_independent"),
    MutualProximity(Vector(), "gamma_independent"),
    MutualProximity(Vector(), "gauss_independent", sample=5, random_state=0),
]
NAMED = {
    "nicdm": lambda m: NICDM(m, 3),
    "local_scaling": lambda m: LocalScaling(m, 3),
    "csls": lambda m: CSLS(m, 3),
    "shared_neighbors": lambda m: SharedNeighbors(m, 3),
}


@pytest.mark.parametrize("method", NAMED)
def test_a_whole_graph_is_rescaled_like_the_matrix(method):
    x, new = np.random.default_rng(0).normal(size=(2, 15, 4))
    plain = Vector().fit(x)
    exact = NAMED[method](Vector()).fit(x)
    graph = plain.neighbors(k=14)
    assert_same_lists(rescale(graph, method, n_neighbors=3, k=5), exact.neighbors(k=5))
    queries = plain.neighbors(new, 15)
    answer = rescale(queries, method, n_neighbors=3, k=5, reference=graph)
    assert_same_lists(answer, exact.neighbors(new, 5))


@pytest.mark.parametrize("reducer", SCALERS, ids=repr)
def test_a_fitted_reducer_rescales_a_graph(reducer):
    x = np.random.default_rng(0).normal(size=(15, 4))
    exact = reducer.fit(x)
    graph = Vector().fit(x).neighbors(k=14)
    assert_same_lists(rescale(graph, exact, k=5), exact.neighbors(k=5))
    sparse = rescale(graph.to_csr(include_self=True), exact, k=5)
    assert_same_lists(sparse, exact.neighbors(k=5))


def test_rescale_refuses_what_it_cannot_know():
    graph = Vector().fit(LINE).neighbors(k=2)
    with pytest.raises(InvalidInput, match="Did you mean 'nicdm'"):
        rescale(graph, "nicmd")
    with pytest.raises(InvalidInput, match="Pass a fitted MutualProximity"):
        rescale(graph, "mutual_proximity")
    with pytest.raises(InvalidInput, match="gauss_independent"):
        rescale(graph, MutualProximity(Vector()).fit(LINE))
    with pytest.raises(InvalidInput, match="Call fit first"):
        rescale(graph, NICDM(Vector()))
    with pytest.raises(TooFewRows, match="lists of 2"):
        rescale(graph, n_neighbors=3)
    with pytest.raises(TooFewRows, match="1 to 2 neighbors"):
        rescale(graph, n_neighbors=2, k=3)
    with pytest.raises(InvalidInput, match="Pass reference"):
        rescale(graph[:2], n_neighbors=2)
    with pytest.raises(TypeError, match="NeighborGraph"):
        rescale(LINE)


def test_rows_in_their_own_lists_are_left_out():
    x = np.random.default_rng(0).normal(size=(15, 4))
    plain = Vector().fit(x)
    own = plain.neighbors(x, 15)  # as new rows, so each finds itself
    assert own.has_self
    answer = rescale(own, "nicdm", n_neighbors=3, k=5)
    assert_same_lists(answer, NICDM(Vector(), 3).fit(x).neighbors(k=5))


def test_unfinished_lists_stay_behind():
    indices, distances = (
        np.array([[1, 2], [0, 2], [0, -1]]),
        np.array([[1, 2], [1, 3], [2, np.inf]]),
    )
    found = rescale(NeighborGraph(indices, distances, 3), "nicdm", n_neighbors=1)
    assert found.indices[2].tolist() == [0, -1]
    assert np.isinf(found.distances[2, 1])


def test_the_length_of_lists_and_their_scales_is_that_asked_for():
    x = np.random.default_rng(0).normal(size=(12, 3))
    graph = Vector().fit(x).neighbors(k=6)
    assert rescale(graph, "nicdm", n_neighbors=6).k == 6
    assert rescale(graph, "nicdm", n_neighbors=6, k=1).k == 1
    for k in (0, 7, 2.5):
        with pytest.raises(TooFewRows, match="1 to 6 neighbors"):
            rescale(graph, n_neighbors=2, k=k)
    short = NICDM(Vector(), 2).fit(x[:11])
    for given, method in ((graph, short), (graph[:11], NICDM(Vector(), 2).fit(x))):
        with pytest.raises(InvalidInput, match=f"found {len(given)} lists over 12 rows"):
            rescale(given, method)
    with pytest.raises(InvalidInput, match="the lists of all 12 rows"):
        rescale(graph, reference=graph[:11], n_neighbors=2)
    # CSLS: sorted by the excess, shown with twice the largest mean added.
    csls = rescale(graph, "csls", n_neighbors=3)
    exact = CSLS(Vector(), 3).fit(x)
    expected = exact.distance()[np.arange(12)[:, None], csls.indices]
    np.testing.assert_allclose(csls.distances, expected)
