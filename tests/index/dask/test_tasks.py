"""Tasks of workers: what they open is what the folder holds now, and errors are returned."""

import pickle
import shutil

import numpy as np
import pytest

import lookalike as la
from index.dask.conftest import mixed
from lookalike._version import __version__
from lookalike.errors import InvalidInput, MissingFile
from lookalike.hubness import CSLS, DisSimLocal
from lookalike.index import build_index
from lookalike.index.dask.tasks import ShardQuery, check_part, graph_part, search_part
from lookalike.index.segments import NO_POSITIONS
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.shards.graph import neighbors_of
from lookalike.measures import Gower, Vector
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import open_shard


def test_workers_open_a_folder_again_that_was_built_again(tmp_path):
    path, table = tmp_path / "index", la.read_table(mixed(200))
    found = []
    for measure in (Gower(), Gower(weights={"town": 9.0})):
        shutil.rmtree(path, ignore_errors=True)
        build_index(table, path, measure)
        opened = ShardFolder.open(path)
        target = str(tmp_path / f"part-{len(found)}")
        graph_part(str(path), __version__, opened.manifest.mark, target, 0, 200, 3)
        found.append(open_shard(target).array("distances"))
        expected = neighbors_of(opened.snapshot(), 0, 200, 3)
        np.testing.assert_array_equal(found[-1], expected.distances)
    assert not np.array_equal(*found)


def test_errors_of_a_task_are_returned_and_raised_again(tmp_path):
    """Dask cannot return errors of two families, so they travel as a name and a message."""
    for args, kind, text in (
        ((str(tmp_path), "0.0", "mark", 0), InvalidInput, "Install the same version"),
        ((str(tmp_path / "none"), __version__, "mark", 0), MissingFile, "same path"),
    ):
        rows, size, failure = check_part(*args)
        assert (rows, size) == (0, 0)
        error = failure.error()
        assert type(error) is kind
        assert text in str(error)


def test_a_folder_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "index"
    build_index(la.read_table(mixed(50)), path, Gower())
    mark = ShardFolder.open(path).manifest.mark
    assert check_part(str(path), __version__, mark, 0)[2] == ("000000", [])
    la.Index.open(path).delete(3)
    assert "change by another process" in check_part(str(path), __version__, mark, 0)[2].text


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_lists_of_shards_merge_by_what_they_are_sorted_by(cls, tmp_path):
    """Beside one far row the offset rounds different distances of CSLS to equal ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2100, 2))
    x[7, 0] = 1e15
    table = la.read_table(x)
    path, query = tmp_path / "index", tmp_path / "query"
    index = build_index(table, path, cls(Vector(), 4), shard_rows=1024)
    now = index.state_
    queries, exclude = now.measure.encode(table[:20]), np.arange(20)
    asked = ShardQuery(now.measure, queries, 6, exclude, NO_POSITIONS)
    asked.write(query, now.measure)
    mark = ShardFolder.open(path).manifest.mark
    merged = NeighborGraph.empty(20, 6, 2100)
    for number in (2, 0, 1):  # in any order, and as Dask sends them
        lists = search_part(str(path), __version__, mark, str(query), number)[2]
        merged = merged.merge(pickle.loads(pickle.dumps(lists)))
    expected = asked.run(now.segments, now.measure)
    np.testing.assert_array_equal(merged.indices, expected.indices)
    np.testing.assert_array_equal(merged.plain().distances, expected.plain().distances)
