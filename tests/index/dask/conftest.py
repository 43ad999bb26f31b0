"""Rows in Parquet files, and a cluster of processes to work on them."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

KILLS = os.environ.get("LOOKALIKE_KILLS", "0") not in ("", "0")
long = pytest.mark.skipif(not KILLS, reason="starts many processes: set LOOKALIKE_KILLS=1")


def mixed(n, seed=0):
    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, n)
    height[rng.random(n) < 0.05] = np.nan
    return pa.table(
        {
            "height": pa.array(height, from_pandas=True),
            "weight": rng.normal(70, 12, n),
            "score": rng.integers(0, 50, n).astype(float),
            "town": rng.choice(["Bern", "Basel", "Zug", "Genf"], n),
        }
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    table = mixed(6000)
    for number, start in enumerate(range(0, 6000, 2000)):
        pq.write_table(table.slice(start, 2000), folder / f"{number}.parquet")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    pytest.importorskip("distributed")
    from index.dask.cluster import Cluster

    made = Cluster(tmp_path_factory.mktemp("cluster"), 4)
    yield made
    made.close()


@pytest.fixture
def cluster(processes):
    """Four workers; killed ones are replaced."""
    processes.fill(4)
    return processes


@pytest.fixture
def here():
    """The address of two workers in this process: the same tasks, no process to be started."""
    distributed = pytest.importorskip("distributed")
    from lookalike.index.dask.scheduling import LOCAL_DASHBOARD

    options = {"dashboard_address": LOCAL_DASHBOARD, "processes": False, "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=2, **options) as made:
        yield made.scheduler_address
