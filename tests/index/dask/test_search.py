"""Workers find in the shards of a folder what one process finds, and read every file of it."""

from contextlib import contextmanager

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from index.dask.conftest import mixed
from lookalike._version import __version__
from lookalike.clustering import graph_density
from lookalike.clustering._clustering import Space
from lookalike.clustering.density import density_clusters as plain_density
from lookalike.errors import InvalidInput, LookalikeError, TooFewRows, TooLarge
from lookalike.index import build_index
from lookalike.index.dask import check, knn_graph, open_index
from lookalike.index.dask import folders as module
from lookalike.index.dask.scheduling import Summary
from lookalike.measures import Gower, Vector

RECORD = {"height": 171.0, "town": "Zug"}


@pytest.fixture
def folder(tmp_path):
    pq.write_table(mixed(2500), tmp_path / "rows.parquet")
    build_index(tmp_path / "rows.parquet", tmp_path / "index", "gower", shard_rows=1024)
    return tmp_path / "index"


def shown(hits):
    return [(hit.id, hit.score, hit.distance, hit.row) for hit in hits]


def test_answers_are_those_of_one_process(folder, here):
    from lookalike import Index

    one, summaries = Index.open(folder), []
    asked = [
        {},
        {"filter": {"town": "Bern", "score": (">=", 10)}},
        {"weights": {"town": 5.0, "score": 0.0}},
        {"like": [3, 9], "unlike": [17], "gamma": 0.7},
    ]
    with open_index(folder, here, tell=summaries.append) as many:
        for options in asked:
            for query in (7, RECORD):
                found = many.search(query, 5, **options)
                assert shown(found) == shown(one.search(query, 5, **options))
    assert {summary.tasks for summary in summaries} == {3}
    assert len(summaries) == 8
    assert not list((folder / "graphs").glob("*"))  # queries are sent, not written
    with open_index(folder, here) as many:
        indices = many.kneighbors([7, RECORD], 5)[1]
    assert indices[0].tolist() == one.search(7, 5).ids
    assert indices[1].tolist() == one.search(RECORD, 5).ids


def test_a_check_names_the_shard_that_is_damaged(folder, here):
    summaries = []
    assert check(folder, here, tell=summaries.append) == {}
    assert summaries[0].tasks == 3
    path = folder / "shards" / "000001" / "0.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert check(folder, here) == {"000001": ["0.npy has another SHA-256"]}


points = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=25)


@pytest.fixture(scope="module")
def graph_folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("folder") / "index"
    build_index(la.read_table(mixed(3000)), path, "gower", shard_rows=1024)
    return path


@given(points, st.integers(1, 4), st.sampled_from([0.0, 1.0, 1.5, 3.0]))
def test_long_enough_lists_give_the_clusters_of_dbscan(rows, needed, eps):
    measure = Vector().fit(np.array(rows, float))
    graph = measure.neighbors(k=len(rows) - 1)
    if needed > len(rows):
        return
    _, expected = plain_density(Space(measure, measure.rows_, "test", 1000), eps, needed)
    np.testing.assert_array_equal(graph_density(graph, eps, needed), expected.labels)


def test_core_rows_need_lists_long_enough_to_tell():
    graph = Vector().fit([[0.0], [1.0], [2.0]]).neighbors(k=1)
    with pytest.raises(InvalidInput, match="longer lists"):
        graph_density(graph, 1.0, 3)


def test_bad_requests_are_refused_before_a_worker_starts(graph_folder, tmp_path):
    with pytest.raises(TooFewRows, match="k=3000"):
        knn_graph(graph_folder, 3000)
    with la.config(memory_limit="1kB"), pytest.raises(TooLarge, match="lists"):
        knn_graph(graph_folder, 5)
    with pytest.raises(InvalidInput, match="rows_per_task=0"):
        knn_graph(graph_folder, 5, rows_per_task=0)
    path = tmp_path / "index"
    build_index(la.read_table(mixed(1100)), path, "gower", shard_rows=1024).delete(3)
    with pytest.raises(InvalidInput, match="deleted"):
        knn_graph(path, 5)
    la.Index.open(path).compact()
    with pytest.raises(InvalidInput, match="deleted"):  # its number is still missing
        knn_graph(path, 5)


@pytest.fixture
def alone(monkeypatch):
    """Run tasks in this process, without Dask; return how many were run for each purpose."""
    ran = []

    @contextmanager
    def connect(client):
        yield client

    def run_items(client, task, folder, items, what, found=0):
        answers = [task(str(folder), __version__, *item) for item in items]
        assert not any(isinstance(answer[2], LookalikeError) for answer in answers)
        ran.append((what, found + len(items), len(items)))
        return [answer[2] for answer in answers], Summary(what, found + len(items))

    monkeypatch.setattr(module, "connect", connect)
    monkeypatch.setattr(module, "run_items", run_items)
    return ran


def test_results_are_those_in_memory_and_are_kept_for_the_same_request(tmp_path, alone):
    rows, path, summaries = la.read_table(mixed(150)), tmp_path / "index", []
    build_index(rows, path, "gower", shard_rows=1024)
    measure = Gower().fit(rows)
    expected = measure.neighbors(k=20)
    found = knn_graph(path, 20, rows_per_task=60, tell=summaries.append)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)
    assert [summary.what for summary in summaries] == ["found the neighbors of"]
    # 150 rows in tasks of 60; of a result that is gone, or of other rows, only that is made again.
    (lists,) = (path / "graphs").glob("*/neighbors-20-60")
    parts = sorted(part.name for part in lists.iterdir())
    assert parts == ["000000", "000001", "000002"]
    for file in (lists / parts[1]).iterdir():
        file.unlink()
    (lists / parts[1]).rmdir()
    (lists / parts[2] / "0.npy").write_bytes(b"")
    again = knn_graph(path, 20, rows_per_task=60)
    np.testing.assert_array_equal(again.indices, expected.indices)
    knn_graph(path, 20, rows_per_task=60)
    knn_graph(path, 20, rows_per_task=150)
    assert alone == [(alone[0][0], *counts) for counts in ((3, 3), (3, 2), (3, 0), (1, 1))]
    (path / "graphs" / "000000-old").mkdir()
    knn_graph(path, 20, rows_per_task=60)
    assert [each.name[:7] for each in (path / "graphs").iterdir()] == ["000001-"]
