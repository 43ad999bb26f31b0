"""Tasks of workers: what they open is what the folder holds now, and errors are returned."""

import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest

import lookalike as la
from index.dask.conftest import mixed
from lookalike._version import __version__
from lookalike.errors import InvalidInput, MissingFile
from lookalike.hubness import CSLS, DisSimLocal
from lookalike.index import build_index
from lookalike.index.dask.folders import (
    LIKE,
    check_part,
    facts_part,
    graph_part,
    search_part,
    tally_part,
    write_part,
)
from lookalike.index.relevance import rocchio
from lookalike.index.segments import SegmentQuery
from lookalike.index.shards.build import begin_adding, begin_build
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.snapshot import neighbors_of
from lookalike.measures import Gower, Vector
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import open_shard
from lookalike.saving.encode import write as write_saved


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
    """As Dask sends them, with all their parts."""
    for args, kind, text in (
        ((str(tmp_path), "0.0", "mark", 0), InvalidInput, "Install the same version"),
        ((str(tmp_path / "none"), __version__, "mark", 0), MissingFile, "same path"),
    ):
        rows, size, failure = check_part(*args)
        assert (rows, size) == (0, 0)
        error = pickle.loads(pickle.dumps(failure)).error()
        assert type(error) is kind
        assert text in error.hint


def test_a_folder_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "index"
    build_index(la.read_table(mixed(50)), path, Gower())
    mark = ShardFolder.open(path).manifest.mark
    assert check_part(str(path), __version__, mark, 0)[2] == []
    la.Index.open(path).delete(3)
    assert "change by another process" in str(check_part(str(path), __version__, mark, 0)[2])


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_lists_of_shards_merge_by_what_they_are_sorted_by(cls, tmp_path):
    """Beside one far row the offset rounds different distances of CSLS to equal ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2100, 2))
    x[7, 0] = 1e15
    table = la.read_table(x)
    path = tmp_path / "index"
    index = build_index(table, path, cls(Vector(), 4), shard_rows=1024)
    now = index.state_
    queries, exclude = now.measure.encode(table[:20]), np.arange(20)
    asked = SegmentQuery(now.measure, queries, 6, exclude)
    sent = pickle.loads(pickle.dumps(replace(asked, measure=None)))
    mark = ShardFolder.open(path).manifest.mark
    merged = NeighborGraph.empty(20, 6, 2100)
    for number in (2, 0, 1):  # in any order, and as Dask sends them
        lists = search_part(str(path), __version__, mark, number, sent, None)[2]
        merged = merged.merge(pickle.loads(pickle.dumps(lists)))
    expected = now.segments.nearest(asked)
    np.testing.assert_array_equal(merged.indices, expected.indices)
    np.testing.assert_array_equal(merged.plain().distances, expected.plain().distances)


def test_tasks_write_what_one_process_writes(tmp_path, files):
    names = tuple(map(str, files))
    table = la.read_table(files, lazy=True)
    path = tmp_path / "index"
    path.mkdir()
    build = begin_build(table, path, la.Index("gower"), 4096)
    for number, rows in ((0, 4096), (1, 1904)):
        found = write_part(str(path), __version__, names, "", "run", number)
        assert found == (rows, build.finished(number).size, number)
    build.finish()
    opened = ShardFolder.open(path)
    mark = opened.manifest.mark
    facts = facts_part("", __version__, names, {}, (), slice(100, 900))[2]
    assert facts_part("", __version__, names, {}, (), slice(100, 900))[:2] == (800, 0)
    assert list(facts) == list(table.names)
    write_saved(tmp_path / LIKE, table.like)
    rows, size, answer = tally_part(str(tmp_path), __version__, names, "score", 2)
    shard, tally = open_shard(tmp_path / "2"), table.tally("score")
    assert (rows, size, answer) == (6000, shard.size, None)
    np.testing.assert_array_equal(shard.array("values"), tally.values)
    np.testing.assert_array_equal(shard.array("counts"), tally.counts)
    assert dict(shard.about) == {"rows": 6000, "missing": 0, "infinite": -1}
    target = str(tmp_path / "graph")
    assert graph_part(str(path), __version__, mark, target, 7, 10, 4)[::2] == (3, None)
    assert open_shard(target).array("indices").shape == (3, 4)
    addition = begin_adding(path, names[:1])
    found = write_part(str(path), __version__, names[:1], mark, "run", 0)
    assert (found[0], found[2]) == (2000, 0)
    addition.finish()
    assert len(la.Index.open(path)) == 8000


def test_a_query_is_sent_with_the_mask_of_a_shard_and_another_measure(tmp_path):
    table, path = la.read_table(mixed(1500)), tmp_path / "index"
    build_index(table, path, Gower(), shard_rows=1024)
    opened = ShardFolder.open(path)
    now, mark = opened.snapshot(), opened.manifest.mark

    def search(query, number, mask=None):
        sent = replace(query, measure=None) if query.measure is now.measure else query
        bits = None if mask is None else np.packbits(mask)
        sent, bits = pickle.loads(pickle.dumps((sent, bits)))
        return search_part(str(path), __version__, mark, number, sent, bits)

    masks = [np.arange(1024) % 2 == 0, np.arange(476) % 3 == 0]
    other = now.measure.reweighted({"town": 4.0})
    rows, exclude = now.measure.encode(table[:3]), np.array([0, 1, -1])
    omit = np.array([5, 1030])
    for measure, masked in ((now.measure, None), (other, masks)):
        query = SegmentQuery(measure, rows, 4, exclude, omit)
        merged = NeighborGraph.empty(3, 4, 1500)
        for shard, size in ((0, 1024), (1, 476)):
            found = search(query, shard, None if masked is None else masked[shard])
            assert found[:2] == (size, 0)
            merged = merged.merge(found[2])
        expected = now.segments.nearest(query, masked)
        np.testing.assert_array_equal(merged.indices, expected.indices)
        np.testing.assert_array_equal(merged.distances, expected.distances)
    # With feedback, one list by the scores of Rocchio.
    liked = SegmentQuery(other, rows[:2], 4, np.array([-1]), omit, 0.7, rows[2:])
    merged = NeighborGraph.empty(1, 4, 1500)
    for shard in (1, 0):
        merged = merged.merge(search(liked, shard)[2])
    every = now.measure.encode(table)
    scores = rocchio(other.block(rows[:2], every), other.block(rows[2:], every), 0.7)
    scores[omit] = np.inf
    np.testing.assert_array_equal(merged.indices[0], np.argsort(scores, kind="stable")[:4])
    np.testing.assert_array_equal(merged.distances[0], np.sort(scores)[:4])
    alone = now.segments.nearest(liked)
    np.testing.assert_array_equal(alone.indices, merged.indices)
    np.testing.assert_array_equal(alone.distances, merged.distances)
    assert alone.n_indexed == 1500
