"""The constants of the model, measured on this machine with rows of twenty mixed columns."""

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

COLUMNS = 20
K = 10


@dataclass(frozen=True)
class Constants:
    """What a row costs.

    Parameters
    ----------
    source, codes, exact, cells : bytes per row: Parquet read, byte codes, encoded rows, cells kept
    look, count, encode : CPU seconds per row: saying what columns hold, counting their values one
        by one and fitting, encoding and writing a shard
    ask : CPU seconds per row and question asked alone
    join : CPU seconds per pair of rows, questions asked together
    merge : CPU seconds to merge one list of ten into another
    """

    source: float = 0.0
    codes: float = 0.0
    exact: float = 0.0
    cells: float = 0.0
    look: float = 0.0
    count: float = 0.0
    encode: float = 0.0
    ask: float = 0.0
    join: float = 0.0
    merge: float = 0.0


def rows_of(n, seed=0):
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    columns = {}
    for j in range(COLUMNS // 2):
        x = rng.gamma(2.0, size=n)
        x[rng.random(n) < 0.02] = np.nan
        columns[f"x{j}"] = pa.array(x, from_pandas=True)
        levels = np.array([f"level {i}" for i in range(3 + 2 * j)])
        columns[f"c{j}"] = levels[rng.integers(0, 3 + 2 * j, n)]
    return pa.table(columns)


def measure(n):
    """Return the constants, from a build of n rows in two files and questions to it."""
    import pyarrow.parquet as pq

    import lookalike as la
    from lookalike.index.shards.build import begin_build
    from lookalike.index.shards.folder import ShardFolder
    from lookalike.neighbors.graph import NeighborGraph

    la.config(n_jobs=1, progress=False, everywhere=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = [place / f"{i}.parquet" for i in range(2)]
        for i, file in enumerate(files):
            pq.write_table(rows_of(n // 2, i), file)
        found = Constants(source=sum(file.stat().st_size for file in files) / n)
        (place / "index").mkdir()
        looked, table = clock(lambda: la.read_table(files, lazy=True))
        spent, build = clock(lambda: begin_build(table, place / "index", "gower", shard_rows=2**16))
        found = replace(found, look=looked / n, count=spent / n)
        warm = rows_of(2048)
        la.Index("gower").fit(la.read_table(warm)).search(0, K)
        spent, shards = clock(lambda: [build.write_part(i) for i in range(len(build.parts))])
        build.finish()
        sizes = {"codes": 0, "rows": 0, "cells": 0}
        for shard in shards:
            for key, name in shard.members.items():
                sizes[key[0]] = sizes.get(key[0], 0) + shard.files[name][0]
            sizes["cells"] += shard.files["cells.parquet"][0]
        found = replace(
            found,
            encode=spent / n,
            codes=sizes["codes"] / n,
            exact=sizes["rows"] / n,
            cells=sizes["cells"] / n,
        )
        now = ShardFolder.open(place / "index").snapshot()
        found = replace(found, ask=ask(now, 1) / n, join=ask(now, 256) / n)
    one = NeighborGraph.empty(1000, K, n)
    other = NeighborGraph(
        np.arange(1000 * K).reshape(1000, K), np.random.default_rng(0).random((1000, K)), n
    )
    one.merge(other)
    spent, _ = clock(lambda: [one.merge(other) for _ in range(10)])
    return replace(found, merge=spent / 10_000)


def ask(now, many):
    """Return the least CPU seconds per question of many asked together."""
    from lookalike.index.segments import SegmentQuery

    rng, best = np.random.default_rng(0), np.inf
    first = now.segments.segments[0]
    for _ in range(12 if many == 1 else 4):
        at = np.sort(rng.choice(len(first), many, replace=False))
        rows, positions = first.rows[at], first.positions[at]
        asked = SegmentQuery(now.measure, rows, K, positions)
        spent, _ = clock(
            lambda: now.segments.nearest(asked)  # noqa: B023
        )
        best = min(best, spent / many)
    return best


def clock(call):
    began = time.process_time()
    answer = call()
    return time.process_time() - began, answer
