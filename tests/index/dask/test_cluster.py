"""A cluster of processes gives the bytes that one process gives, also when workers are killed."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import lookalike as la
from cli.run import run
from index.dask.conftest import long, mixed
from lookalike.errors import InvalidInput, MissingFile, NoAnswer
from lookalike.index import build_index
from lookalike.index.dask import (
    add,
    check,
    fit_encode,
    knn_graph,
    open_index,
    read_table,
)
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.snapshot import neighbors_of
from lookalike.measures import Gower, StochasticForest

pytest.importorskip("distributed")

from index.dask.cluster import SOURCE, Cluster  # needs distributed


def digests(folder):
    """File -> SHA-256 of all that a folder is made of; plans and manifests tell of times."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("shards/*/*"))
    }


def learned(folder):
    """What workers have counted together: the members of the head; its times may differ."""
    with zipfile.ZipFile(folder / "index.lookalike") as head:
        return {name: head.read(name) for name in head.namelist()}


def lists(graph):
    return graph.indices.tobytes(), graph.distances.tobytes()


def wait_for(condition, seconds=1200):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def finished(folder):
    """Names of the parts that are there, and when each was written."""
    pages = folder.glob("*/shard.json")
    return {page.parent.name: page.stat().st_mtime_ns for page in pages}


@pytest.mark.long
def test_workers_encode_and_find_what_one_process_finds(files, tmp_path, here):
    assert_as_one_process(files, tmp_path, here)


@long
def test_worker_processes_do_as_well(files, tmp_path, cluster):
    assert_as_one_process(files, tmp_path, cluster.address)


def assert_as_one_process(files, tmp_path, address):
    summaries = []
    index = fit_encode(
        files, tmp_path / "many", "gower", address, shard_rows=2048, tell=summaries.append
    )
    one = build_index(files, tmp_path / "one", "gower", shard_rows=2048)
    assert digests(tmp_path / "many") == digests(tmp_path / "one")
    assert index.search(7, 5).ids == one.search(7, 5).ids
    assert not list((tmp_path / "many").glob(".learned*"))
    assert learned(tmp_path / "many") == learned(tmp_path / "one")
    table = la.read_table(files, lazy=True)
    assert repr(read_table(files, address)) == repr(table)
    graph = knn_graph(tmp_path / "many", 4, address, rows_per_task=2500, tell=summaries.append)
    assert lists(graph) == lists(Gower().fit(la.read_table(files, lazy=True).read()).neighbors(k=4))
    again = knn_graph(tmp_path / "many", 4, address, rows_per_task=2500, tell=summaries.append)
    assert lists(again) == lists(graph)
    encoded, searched, nothing = summaries
    assert (encoded.rows, encoded.tasks, encoded.found) == (6000, 3, 0)
    assert (searched.rows, searched.tasks) == (6000, 3)
    assert (nothing.rows, nothing.found) == (0, 3)
    words = ("index", "build", *files, "-o", tmp_path / "cli", "--measure", "gower")
    done = run(*words, "--scheduler", address)
    assert done.exit_code == 0, done.output
    assert "6,000 rows" in done.stdout
    assert "rows/s" in done.stdout
    assert la.Index.open(tmp_path / "cli").search(7, 5).ids == one.search(7, 5).ids
    assert_asked_as_one(tmp_path / "many", one, address)
    assert_added_as_one(tmp_path / "many", one, address, tmp_path)
    assert_commands_share_the_work(tmp_path / "cli", one, address, tmp_path)


def shown(hits):
    return [(hit.id, hit.distance, hit.similarity, hit.row) for hit in hits]


def assert_asked_as_one(folder, one, address):
    """Whatever an index can be asked is answered by workers as by one process."""
    record = {"height": 171.0, "town": "Zug"}
    asked = [
        {"filter": {"town": "Bern", "score": (">=", 10)}},
        {"weights": {"town": 5.0, "score": 0.0}},
        {"columns": ["height", "town"]},
        {"like": [3, 9], "unlike": [17], "gamma": 0.7},
        {"unlike": [17], "filter": {"town": "Bern"}, "weights": {"weight": 3.0}},
    ]
    summaries = []
    with open_index(folder, address, tell=summaries.append) as many:
        for options in asked:
            for query in (7, record):
                found = many.search(query, 5, **options)
                assert shown(found) == shown(one.search(query, 5, **options))
        assert many.search(7, 1)[0].because() == one.search(7, 1)[0].because()
    assert {summary.tasks for summary in summaries} == {3}
    assert not list((folder / "graphs").glob("question*"))
    assert check(folder, address) == {}
    path = folder / "shards" / "000001" / "0.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert check(folder, address) == {"000001": ["0.npy has another SHA-256"]}
    path.write_bytes(whole)


def assert_added_as_one(folder, one, address, tmp_path):
    """Files that workers add are those that one process adds, byte for byte."""
    pq.write_table(mixed(3000, seed=5), tmp_path / "more.parquet")
    summaries = []
    assert add(folder, tmp_path / "more.parquet", address, tell=summaries.append) == 3000
    assert (summaries[0].rows, summaries[0].tasks) == (3000, 2)
    assert one.add_files(tmp_path / "more.parquet") == 3000
    assert digests(folder) == digests(one.folder)
    assert shown(la.Index.open(folder).search(7000, 5)) == shown(one.search(7000, 5))
    pq.write_table(mixed(10).drop_columns("town"), tmp_path / "bad.parquet")
    with pytest.raises(InvalidInput, match="no column 'town'"):
        add(folder, tmp_path / "bad.parquet", address)
    assert len(la.Index.open(folder)) == 9000


def assert_commands_share_the_work(folder, one, address, tmp_path):
    by = ("--scheduler", address)
    done = run("index", "add", folder, tmp_path / "more.parquet", *by)
    assert "3,000 rows added, 9,000 in all" in " ".join(done.stdout.split()), done.output
    done = run("index", "check", folder, *by)
    assert "all files are whole, 9,000 rows" in " ".join(done.stdout.split()), done.output


@long
@pytest.mark.parametrize(
    "measure", [Gower(), StochasticForest(64, 4, on_fail="relax", random_state=0)], ids=str
)
def test_threads_files_and_a_cluster_find_the_same_neighbors(measure, files, tmp_path, cluster):
    if isinstance(measure, StochasticForest):
        files = [tmp_path / "numbers.parquet"]
        pq.write_table(mixed(6000).select(["weight", "score"]), files[0])
    fit_encode(files, tmp_path / "many", measure, cluster.address, shard_rows=1024)
    folder = ShardFolder.open(tmp_path / "many")
    fitted = folder.head.measure.frozen()
    table = la.read_table(files, lazy=True).read()
    with la.config(n_jobs=1):
        rows = fitted.encode(table, np.arange(len(table)))
        plain = fitted.nearest(rows, rows, 7, exclude=np.arange(len(rows)))
    with la.config(n_jobs=2):
        threads = fitted.nearest(rows, rows, 7, exclude=np.arange(len(rows)))
    with la.config(memory_limit="20MB"):
        out_of_core = neighbors_of(folder.snapshot(), 0, 6000, 7)
    dask = knn_graph(tmp_path / "many", 7, cluster.address, rows_per_task=700)
    assert lists(plain) == lists(threads) == lists(out_of_core) == lists(dask)


@pytest.fixture(scope="module")
def many_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("more")
    for number in range(4):
        pq.write_table(mixed(10_240, seed=number), folder / f"{number}.parquet")
    return sorted(folder.iterdir())


@long
def test_workers_killed_for_good_while_encoding_and_another_joins(many_files, tmp_path, cluster):
    folder = tmp_path / "many"
    work = threading.Thread(
        target=lambda: fit_encode(many_files, folder, "gower", cluster.address, shard_rows=1024)
    )
    work.start()
    wait_for(lambda: len(finished(folder / "shards")) >= 3)
    cluster.kill(0)
    cluster.kill(1)
    assert len(finished(folder / "shards")) < 40  # in the middle of it
    cluster.workers.append(cluster.join())
    work.join(1500)
    build_index(many_files, tmp_path / "one", "gower", shard_rows=1024)
    assert digests(folder) == digests(tmp_path / "one")


@long
def test_workers_killed_for_good_while_searching_and_another_joins(many_files, tmp_path, cluster):
    folder, found = tmp_path / "many", []
    build_index(many_files, folder, "gower", shard_rows=1024)
    work = threading.Thread(
        target=lambda: found.append(knn_graph(folder, 5, cluster.address, rows_per_task=256))
    )
    work.start()
    wait_for(lambda: len(list(folder.glob("graphs/*/*/*/shard.json"))) >= 4)
    cluster.kill(2)
    cluster.kill(3)
    assert len(list(folder.glob("graphs/*/*/*/shard.json"))) < 160
    cluster.workers.append(cluster.join())
    work.join(1500)
    assert lists(found[0]) == lists(neighbors_of(ShardFolder.open(folder).snapshot(), 0, 40_960, 5))


DRIVER = """
import sys
from lookalike.index.dask import fit_encode, knn_graph
files, folder, address = sys.argv[1].split("|"), sys.argv[2], sys.argv[3]
fit_encode(files, folder, "gower", address, shard_rows=1024)
knn_graph(folder, 5, address, rows_per_task=256)
"""


def drive(files, folder, address):
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", DRIVER, "|".join(map(str, files)), str(folder), address]
    return subprocess.Popen(command, env=env)


@long
def test_a_killed_driver_resumes_and_repeats_no_finished_shard(many_files, tmp_path, cluster):
    folder, address = tmp_path / "many", cluster.address
    driver = drive(many_files, folder, address)
    wait_for(lambda: len(finished(folder / "shards")) >= 3)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    time.sleep(3)  # what the workers had begun ends
    before = finished(folder / "shards")
    assert 3 <= len(before) < 40
    driver = drive(many_files, folder, address)
    wait_for(lambda: len(list(folder.glob("graphs/*/*/*/shard.json"))) >= 4)
    after = finished(folder / "shards")
    assert before == {name: after[name] for name in before}
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    time.sleep(3)
    work = next(folder.glob("graphs/*/*"))
    before = finished(work)
    assert 4 <= len(before) < 160
    summaries = []
    graph = knn_graph(folder, 5, address, rows_per_task=256, tell=summaries.append)
    assert summaries[0].found == len(before)
    after = finished(work)
    assert before == {name: after[name] for name in before}
    assert lists(graph) == lists(neighbors_of(ShardFolder.open(folder).snapshot(), 0, 40_960, 5))


@long
def test_a_folder_that_workers_do_not_see_is_named(tmp_path, cluster):
    from lookalike.index.dask import connect
    from lookalike.index.dask.folders import write_part
    from lookalike.index.dask.scheduling import run_items

    part = (("a.parquet",), "", "run", 0)
    with connect(cluster.address) as client, pytest.raises(MissingFile, match="elsewhere"):
        run_items(client, write_part, tmp_path / "elsewhere", [part], "encoded")
    assert not Path(tmp_path / "elsewhere").exists()


@long
def test_a_scheduler_that_dies_is_an_error_and_the_next_one_goes_on(many_files, tmp_path):
    folder, failed = tmp_path / "many", []
    (tmp_path / "first").mkdir()
    cluster = Cluster(tmp_path / "first", 2)

    def encode():
        try:
            fit_encode(many_files, folder, "gower", cluster.address, shard_rows=1024)
        except Exception as error:
            failed.append(error)

    work = threading.Thread(target=encode, daemon=True)
    work.start()
    wait_for(lambda: len(finished(folder / "shards")) >= 3)
    cluster.scheduler.kill()
    work.join(300)
    assert not work.is_alive(), "it waits for a scheduler that is gone"
    cluster.close()
    (error,) = failed
    assert type(error) is NoAnswer
    assert "run the same" in str(error)
    before = finished(folder / "shards")
    assert 3 <= len(before) < 40
    (tmp_path / "second").mkdir()
    again = Cluster(tmp_path / "second", 2)
    fit_encode(many_files, folder, "gower", again.address, shard_rows=1024)
    again.close()
    after = finished(folder / "shards")
    assert before == {name: after[name] for name in before}
    build_index(many_files, tmp_path / "one", "gower", shard_rows=1024)
    assert digests(folder) == digests(tmp_path / "one")


OTHER_VERSION = """
import lookalike._version
lookalike._version.__version__ = "0.0.9"
"""


@long
def test_a_worker_of_another_version_is_named_and_writes_nothing(files, tmp_path):
    (tmp_path / "other.py").write_text(OTHER_VERSION)
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster", 1, "--preload", str(tmp_path / "other.py"))
    found = "lookalike 0.1.*as where the work began, found 0.0.9.*Install the same version"
    try:
        with pytest.raises(InvalidInput, match=found):
            fit_encode(files, tmp_path / "many", "gower", cluster.address)
        assert finished(tmp_path / "many" / "shards") == {}
        build_index(files, tmp_path / "one", "gower", shard_rows=2048)
        with pytest.raises(InvalidInput, match=found):
            knn_graph(tmp_path / "one", 3, cluster.address)
        assert list((tmp_path / "one").glob("graphs/*/*/*/shard.json")) == []
    finally:
        cluster.close()
