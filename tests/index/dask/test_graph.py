"""Graphs of a folder by many workers: bad requests are refused before a worker starts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from index.dask.conftest import mixed
from lookalike.clustering import graph_density
from lookalike.clustering._space import Space
from lookalike.clustering.density import density_clusters as plain_density
from lookalike.errors import InvalidInput, TooFewRows, TooLarge
from lookalike.index import build_index
from lookalike.index.dask import knn_graph
from lookalike.measures import Vector

points = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=25)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("folder") / "index"
    build_index(la.read_table(mixed(3000)), path, "gower", shard_rows=1024)
    return path


@given(points, st.integers(1, 4), st.sampled_from([0.0, 1.0, 1.5, 3.0]))
def test_long_enough_lists_give_the_clusters_of_dbscan(rows, needed, eps):
    measure = Vector().fit(np.array(rows, float))
    graph = measure.neighbors(k=len(rows) - 1)
    if needed > len(rows):
        return
    expected = plain_density(Space(measure, measure.rows_, "test", 1000), eps, needed).labels
    np.testing.assert_array_equal(graph_density(graph, eps, needed), expected)


def test_core_rows_need_lists_long_enough_to_tell():
    graph = Vector().fit([[0.0], [1.0], [2.0]]).neighbors(k=1)
    with pytest.raises(InvalidInput, match="longer lists"):
        graph_density(graph, 1.0, 3)


def test_bad_requests_are_refused_before_a_worker_starts(folder, tmp_path):
    with pytest.raises(TooFewRows, match="k=3000"):
        knn_graph(folder, 3000)
    with la.config(memory_limit="1kB"), pytest.raises(TooLarge, match="lists"):
        knn_graph(folder, 5)
    with pytest.raises(InvalidInput, match="row per task"):
        knn_graph(folder, 5, rows_per_task=0)
    path = tmp_path / "index"
    build_index(la.read_table(mixed(1100)), path, "gower", shard_rows=1024).delete(3)
    with pytest.raises(InvalidInput, match="deleted"):
        knn_graph(path, 5)
    la.Index.open(path).compact()
    with pytest.raises(InvalidInput, match="deleted"):  # its number is still missing
        knn_graph(path, 5)
