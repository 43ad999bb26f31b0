"""Recall against time of approximate search on real tables: `python -m benchmarks.approximate`.

Exact search and each reach are interleaved on one thread; the minimum CPU time of each counts.
Queries are run one at a time, as by interactive users, and as one batch, as for a neighbor graph.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.approximate.gower import SKETCHES

QUESTIONS, K, REPEATS = 200, 10, 3
REACHES = (16, 32, 64, 128, 256, 512, 1024)


def tables(name):
    """Return a table of numbers, or a mixed one, by name."""
    import lookalike as la
    from lookalike.datasets import load_films

    if name == "films":
        return load_films()
    if name == "points":  # as many rows as a laptop serves without noticing
        rng = np.random.default_rng(0)
        center = rng.normal(size=(200, 20)) * 2
        return la.read_table(center[rng.integers(0, 200, 200_000)] + rng.normal(size=(200_000, 20)))
    folder = os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[3] / "shared" / "data")
    return la.read_table(Path(folder) / f"{name}.parquet")


def numbers_of(table):
    return table.select([c.name for c in table if c.kind.name == "number" and not c.missing.any()])


def cases():
    """Name -> (table, measure, sketches to try; None: that of the measure)."""
    from lookalike.measures import ForestProximity, Gower, StochasticForest, Vector

    forest = StochasticForest(1000, 5, on_fail="relax", random_state=0)
    for name in ("letter_recognition", "points"):
        yield name, "numbers", forest, None
        yield name, "numbers", Vector(scale="standard"), None
        yield name, "numbers", Vector("cityblock", scale="standard"), None
    shi = ForestProximity("shi", n_estimators=100, random_state=0)
    yield "letter_recognition", "numbers", shi, None
    for name in ("films", "adult", "letter_recognition"):
        yield name, "whole", Gower(), SKETCHES


def clock(call):
    began = time.process_time()
    answer = call()
    return answer, (time.process_time() - began) / QUESTIONS * 1000


def one_by_one(call, at):
    return np.concatenate([call(at[i : i + 1]) for i in range(len(at))])


def study(measure, rows, graph, draw):
    """Print recall and milliseconds of every reach beside those of exact search."""
    from lookalike.index.sketches import recall_of

    at = np.sort(np.random.default_rng(1).choice(len(rows), QUESTIONS, replace=False))
    measure.prepare(rows)

    def exact(some):
        return measure.nearest(rows[some], rows, K, exclude=some).distances

    def walk(some, reach):
        near = graph.propose(draw(some), reach, 1)
        left, place = np.nonzero(near >= 0)
        right = near[left, place]
        far = np.full(near.shape, np.inf)
        far[left, place] = measure.pair_distances(rows[some], rows, left, right)
        far[near == some[:, None]] = np.inf
        return np.sort(far, axis=1)[:, :K]

    ways = {"exact": exact} | {r: lambda some, r=r: walk(some, r) for r in REACHES}
    best = {name: [np.inf, np.inf] for name in ways}
    truth = exact(at)
    for _ in range(REPEATS):
        for name, way in ways.items():
            for side, call in enumerate((lambda: one_by_one(way, at), lambda: way(at))):  # noqa: B023
                found, spent = clock(call)
                best[name][side] = min(best[name][side], spent)
            if name != "exact":
                best[name][2:] = [recall_of(found, truth)]
    alone, together = best.pop("exact")
    print(f"   exact: {alone:.3f} ms alone, {together:.3f} ms in a batch")
    for reach, (single, batch, recall) in best.items():
        gain = f"{alone / single:6.1f}x alone {together / batch:6.1f}x in a batch"
        print(f"   reach {reach:5d}  recall {recall:.3f}  {single:.3f} ms, {batch:.3f} ms  {gain}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="a word in the name of a case")
    only = parser.parse_args().only
    import lookalike as la
    from lookalike.neighbors.sketch import SketchGraph

    la.config(n_jobs=1, progress=False, everywhere=True)
    for name, part, measure, sketches in cases():
        title = f"{name}: {measure}"
        if only.lower() not in title.lower():
            continue
        table = tables(name)
        measure.fit(numbers_of(table) if part == "numbers" else table)
        rows = measure.rows_
        for label, make in (sketches or {"": None}).items():
            if make is None:
                sketch = measure.sketch(rows)
                values = rows.arrays[sketch.array]
            else:
                sketch, values = make(table)
            began = time.process_time()
            graph = SketchGraph(sketch, values)
            took = time.process_time() - began
            print(f"{title} {label} ({len(rows):,} rows, graph made in {took:.1f} s)", flush=True)
            study(measure, rows, graph, lambda some, values=values: values[some])


if __name__ == "__main__":
    main()
