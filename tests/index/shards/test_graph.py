"""Neighbors and moments of a part of the rows are those of the rows in memory."""

import numpy as np
import pytest

import lookalike as la
from index.dask.conftest import mixed
from lookalike.hubness import MutualProximity, rescale
from lookalike.hubness.survival import mutual_proximity_graph
from lookalike.index import build_index
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.shards.graph import moments_of, neighbors_of
from lookalike.measures import Gower


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("folder") / "index"
    build_index(la.read_table(mixed(3000)), path, "gower", shard_rows=1024)
    return path


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
