"""What a cluster needs to be there, said in words where it is not; and what parts return."""

import shutil
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from index.dask.conftest import mixed
from lookalike.clustering import graph_density
from lookalike.clustering._space import Space
from lookalike.clustering.density import density_clusters as plain_density
from lookalike.errors import InvalidInput, MissingExtra, NoAnswer, TooFewRows, TooLarge, WrongType
from lookalike.hubness import MutualProximity, rescale
from lookalike.hubness.survival import mutual_proximity_graph
from lookalike.index import build_index
from lookalike.index.dask import connect, knn_graph
from lookalike.index.dask.scheduling import _Workers
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.shards.graph import moments_of, neighbors_of
from lookalike.measures import Gower, Vector
from lookalike.neighbors.shards import open_shard

points = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=25)


def test_a_scheduler_that_does_not_answer_is_named_with_advice():
    pytest.importorskip("distributed")
    for address in ("tcp://127.0.0.1:1", "no address"):
        with (
            pytest.raises(NoAnswer, match=r"dask scheduler") as error,
            connect(address, timeout=0.5),
        ):
            pass
        assert address in str(error.value)


@pytest.mark.parametrize(
    "address", ["junk", "", "ftp://scheduler:8786", "tcp://scheduler", "a b:1"]
)
def test_what_is_no_address_is_refused_at_once(address):
    pytest.importorskip("distributed")
    with pytest.raises(NoAnswer, match="this is not an address") as told, connect(address):
        pass
    assert "tcp://scheduler:8786" in str(told.value)


def test_something_else_than_a_client_is_refused():
    pytest.importorskip("distributed")
    with pytest.raises(WrongType, match=r"distributed\.Client"), connect(7):
        pass


def test_without_dask_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[dask\]"), connect():
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("folder") / "index"
    build_index(la.read_table(mixed(3000)), place, "gower", shard_rows=1024)
    return place


def test_parts_of_a_folder_are_those_of_the_rows_in_memory(folder):
    measure = Gower().fit(la.read_table(mixed(3000)))
    now, whole = ShardFolder.open(folder).snapshot(), measure.neighbors(k=6)
    for start, stop in ((0, 3000), (1000, 1100), (2999, 3000)):
        part = neighbors_of(now, start, stop, 6)
        np.testing.assert_array_equal(part.indices, whole.indices[start:stop])
        np.testing.assert_array_equal(part.distances, whole.distances[start:stop])


def test_sampled_mutual_proximity_is_that_of_the_reducer(folder):
    table = la.read_table(mixed(3000))
    measure = Gower().fit(table)
    reducer = MutualProximity(measure.frozen(), "gauss_independent", sample=25, random_state=3)
    reducer.fit(table)
    now = ShardFolder.open(folder).snapshot()
    mean, sd = moments_of(now, 0, 3000, reducer.reference_)
    graph = measure.neighbors(k=20)
    ours, theirs = mutual_proximity_graph(graph, mean, sd, 5), rescale(graph, reducer, k=5)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_array_equal(ours.distances, theirs.distances)


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


def test_bad_requests_are_refused_before_anybody_works(folder, tmp_path):
    with pytest.raises(TooFewRows, match="k=3000"):
        knn_graph(folder, 3000)
    with la.config(memory_limit="1kB"), pytest.raises(TooLarge, match="lists"):
        knn_graph(folder, 5)
    with pytest.raises(InvalidInput, match="row per task"):
        knn_graph(folder, 5, rows_per_task=0)
    place = tmp_path / "index"
    build_index(la.read_table(mixed(1100)), place, "gower", shard_rows=1024).delete(3)
    with pytest.raises(InvalidInput, match="deleted"):
        knn_graph(place, 5)
    la.Index.open(place).compact()
    with pytest.raises(InvalidInput, match="deleted"):  # its number is still missing
        knn_graph(place, 5)


def test_workers_open_a_folder_again_that_was_built_again(tmp_path):
    from lookalike._version import __version__
    from lookalike.index.dask.tasks import graph_part

    place, table = tmp_path / "index", la.read_table(mixed(200))
    found = []
    for measure in (Gower(), Gower(weights={"town": 9.0})):
        shutil.rmtree(place, ignore_errors=True)
        build_index(table, place, measure)
        opened = ShardFolder.open(place)
        target = str(tmp_path / f"part-{len(found)}")
        graph_part(str(place), __version__, opened.manifest.mark, target, 0, 200, 3)
        found.append(open_shard(target).array("distances"))
        expected = neighbors_of(opened.snapshot(), 0, 200, 3)
        np.testing.assert_array_equal(found[-1], expected.distances)
    assert not np.array_equal(*found)


def test_parts_of_a_lost_worker_count_as_handed_out_again():
    class Client:
        def processing(self):
            return states.pop(0)

    states = [{"a": ("x", "y"), "b": ("z",)}, {"b": ("z", "x")}, {"a": (), "b": ()}]
    workers = _Workers()
    workers.update(Client(), {"x", "y", "z"})
    workers.update(Client(), {"x", "z"})  # y was finished meanwhile
    assert (workers.retries, workers.lost) == (1, 1)
    workers.update(Client(), {})  # it was only away for a moment
    assert (workers.retries, workers.lost) == (1, 0)
