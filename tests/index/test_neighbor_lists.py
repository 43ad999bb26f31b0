"""Lists of all rows in a folder: those of brute force, resumed, with a recall that is true."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import lookalike as la
from lookalike.hubness import MutualProximity
from lookalike.index import list_neighbors, neighbor_lists
from lookalike.measures import Gower, Vector


def mixed(n, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 30, n)
    columns = {f"x{j}": rng.normal(group * (j + 1) % 7, 1.0) for j in range(4)}
    columns["x0"][rng.random(n) < 0.1] = np.nan
    for j in range(3):
        columns[f"c{j}"] = [f"c{c}" for c in (group + rng.integers(0, 2, n)) % (5 + j)]
    return la.read_table(columns)


def by_reference(measure, k):
    """The k nearest by (distance, position) from the matrix of all distances."""
    far = measure.distance()
    np.fill_diagonal(far, np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(len(far)), far.shape), far))[:, :k]
    return order, np.take_along_axis(far, order, axis=1)


def test_exact_lists_are_those_of_all_pairs(tmp_path):
    measure = Gower().fit(mixed(500))
    found = list_neighbors(measure, tmp_path / "lists", k=4)
    indices, distances = by_reference(measure, 4)
    graph = found.graph()
    np.testing.assert_array_equal(graph.indices, indices)
    np.testing.assert_array_equal(graph.distances, distances)
    assert (found.recall, found.n_tiles) == (1.0, None)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(neighbor_lists, "ROWS_PER_PART", 2048)
    return monkeypatch


@pytest.mark.parametrize("measure", [Gower(), Vector("cityblock")])
def test_parts_hold_every_row_once_whatever_their_order(small_parts, tmp_path, measure):
    rows = mixed(5000)
    measure.fit(rows if isinstance(measure, Gower) else rows.select(["x1", "x2"]))
    found = list_neighbors(measure, tmp_path, k=3)
    positions = [at for at, _ in found]
    assert len(positions) == 3
    assert sorted(np.concatenate(positions).tolist()) == list(range(5000))
    whole, graph = measure.neighbors(k=3), found.graph()
    np.testing.assert_array_equal(graph.indices, whole.indices)
    np.testing.assert_array_equal(graph.distances, whole.distances)
    # Near rows are in one part: their spread is smaller than that of all.
    values = measure.rows_.arrays[next(iter(measure.rows_.arrays))]
    spread = np.mean([np.nanstd(values[at], axis=0) for at in positions], axis=0)
    assert (spread / np.nanstd(values, axis=0)).mean() < 0.9


def test_a_second_run_computes_only_the_parts_that_are_not_there(small_parts, tmp_path):
    measure = Gower().fit(mixed(5000))
    before = list_neighbors(measure, tmp_path, k=3).graph()
    kept = (tmp_path / "000000" / "shard.json").stat().st_mtime_ns
    for name in os.listdir(tmp_path / "000001"):
        (tmp_path / "000001" / name).unlink()
    (tmp_path / "000001").rmdir()
    (tmp_path / "000002" / "0.npy").write_bytes(b"cut")  # another size than its page says
    # Rows that were searched before may be in another order: it must not mix with that of before.
    near = measure.rows_.cache["near"]
    for tiles in (near.tiles, near.positions, near.low, near.high):
        tiles[:2] = tiles[1::-1].copy()
    after = list_neighbors(measure, tmp_path, k=3).graph()
    np.testing.assert_array_equal(after.indices, before.indices)
    assert (tmp_path / "000000" / "shard.json").stat().st_mtime_ns == kept


KILLED = """
import os, signal, sys
import numpy as np
from lookalike.hubness import MutualProximity
from lookalike.index import list_neighbors, neighbor_lists
from lookalike.measures import Gower
neighbor_lists.ROWS_PER_PART = 2048
written = neighbor_lists.write_shard
def write_then_die(folder, *args):
    written(folder, *args)
    if folder.name == "000001":
        os.kill(os.getpid(), signal.SIGKILL)
neighbor_lists.write_shard = write_then_die
list_neighbors(Gower(n_jobs=1).fit(np.load(sys.argv[1])), sys.argv[2], k=3)
"""


def test_a_killed_run_is_resumed(small_parts, tmp_path):
    rows = np.random.default_rng(0).random((5000, 3))
    np.save(tmp_path / "rows.npy", rows)
    asked = [sys.executable, "-c", KILLED, str(tmp_path / "rows.npy"), str(tmp_path / "lists")]
    assert subprocess.run(asked, check=False).returncode == -9
    assert (tmp_path / "lists" / "000001").is_dir()
    assert not (tmp_path / "lists" / "000002").exists()
    measure = Gower(n_jobs=1).fit(rows)
    found = list_neighbors(measure, tmp_path / "lists", k=3).graph()
    np.testing.assert_array_equal(found.indices, measure.neighbors(k=3).indices)


def test_the_recall_that_is_stated_is_that_of_all_rows(small_parts, tmp_path):
    """Chosen on some rows, measured on others: within three standard errors of the truth."""
    small_parts.setattr(neighbor_lists, "FIRST_TILES", 2)
    small_parts.setattr(neighbor_lists, "RUNS_PER_SAMPLED", 2)
    measure = Gower().fit(mixed(30_000))
    found = list_neighbors(measure, tmp_path / "some", k=5, recall=0.7)
    assert found.n_tiles is not None
    true, graph = measure.neighbors(k=5), found.graph()
    recall = (graph.distances <= true.distances[:, -1:]).mean()
    assert 0.65 <= recall < 1.0
    assert abs(recall - found.recall) <= 3 * found.recall_error
    # Fewer rows are found by a smaller recall, and those found have their true distances.
    pairs = measure.pair_distances(
        measure.rows_, measure.rows_, np.repeat(np.arange(30_000), 5), graph.indices.ravel()
    )
    np.testing.assert_array_equal(pairs, graph.distances.ravel())
    again = list_neighbors(measure, tmp_path / "some", k=5, recall=0.7)
    assert again == found


def test_other_lists_in_the_folder_are_refused(tmp_path):
    measure = Gower().fit(mixed(100))
    list_neighbors(measure, tmp_path / "lists", k=3)
    with pytest.raises(la.errors.InvalidInput, match="Choose another folder"):
        list_neighbors(measure, tmp_path / "lists", k=4)
    with pytest.raises(la.errors.InvalidInput, match="Choose another folder"):
        list_neighbors(Gower().fit(mixed(100, seed=1)), tmp_path / "lists", k=3)
    (tmp_path / "other").mkdir()
    Path(tmp_path, "other", "letter.txt").write_text("mine")
    with pytest.raises(la.errors.InvalidInput, match="Choose another folder"):
        list_neighbors(measure, tmp_path / "other", k=3)


@pytest.mark.parametrize("page", ["[", "{}", json.dumps({"format": 1, "about": {"k": "b"}})])
def test_a_damaged_page_is_an_error(tmp_path, page):
    (tmp_path / "order").mkdir()
    (tmp_path / "order" / "shard.json").write_text(page)
    with pytest.raises((la.errors.UnreadableFile, la.errors.InvalidInput)):
        list_neighbors(Gower().fit(mixed(100)), tmp_path, k=3)


def test_wrong_input(tmp_path):
    measure = Gower().fit(mixed(20))
    with pytest.raises(la.errors.InvalidInput, match="recall"):
        list_neighbors(measure, tmp_path, k=3, recall=1.5)
    with pytest.raises(la.errors.TooFewRows, match="k=20"):
        list_neighbors(measure, tmp_path, k=20)
    with pytest.raises(NotFittedError):
        list_neighbors(Gower(), tmp_path)


def test_measures_without_bounds_are_searched_exactly(small_parts, tmp_path):
    """Reducers, and rows that stayed in files, have no order of near rows."""
    measure = MutualProximity(Gower()).fit(mixed(300))
    found = list_neighbors(measure, tmp_path, k=3, recall=0.9)
    assert (found.recall, found.n_tiles) == (1.0, None)
    np.testing.assert_array_equal(found.graph().indices, measure.neighbors(k=3).indices)
