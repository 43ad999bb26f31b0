"""Measure constants, work out the model, simulate: `python -m benchmarks.scale_model`.

The tables of docs/explanation/scale.md are its output.
"""

import argparse
from dataclasses import fields

import numpy as np

from benchmarks.scale_model.constants import measure
from benchmarks.scale_model.model import Machine, cost
from benchmarks.scale_model.simulate import build, serve

SIZES = ((1e8, 4), (1e9, 16), (1e10, 128))


def units(value, names, step=1000.0):
    for name in names:
        if abs(value) < step or name == names[-1]:
            return f"{value:.3g} {name}"
        value /= step
    raise AssertionError


def show_bytes(value):
    return units(value, ["B", "kB", "MB", "GB", "TB"])


def show_seconds(value):
    if value < 120:
        return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
    return f"{value / 60:.3g} min" if value < 7200 else f"{value / 3600:.3g} h"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2**18, help="rows that constants come from")
    found = measure(parser.parse_args().rows)
    print("constants (CPU seconds, one core; bytes per row)")
    for field in fields(found):
        print(f"  {field.name:8s} {getattr(found, field.name):.4g}")
    machine = Machine()
    print(f"\nmachines of {machine.cores} cores, {show_bytes(machine.memory)} of memory")
    for rows, machines in SIZES:
        c = cost(rows, found, machine, machines)
        print(
            f"  {rows:.0e} rows on {machines} machines: index {show_bytes(c.folder)}, codes "
            f"{show_bytes(c.codes)} per machine; learn {show_seconds(c.learn)}, encode "
            f"{show_seconds(c.encode)}; one question {show_seconds(c.question)}, "
            f"{c.per_second:.3g} questions/s, {show_bytes(c.sent)} sent each; "
            f"graph of all rows {show_seconds(c.graph)}"
        )
    print("\nquestions, in times the work of one part; 1% of parts take 10 times as long")
    work, again = 1.0, 3.0
    for busy in (0.3, 0.6):
        for shards in (1, 4, 16, 128):
            row = []
            for replicas, hedge in ((1, None), (2, None), (2, again)):
                rate = busy * replicas / work / 1.1  # a part takes 1.1 times the work on average
                took = serve(shards, replicas, work, rate, hedge=hedge)
                row.append("p50 {:5.1f} p99 {:6.1f}".format(*np.percentile(took, [50, 99])))
            print(
                f"  {busy:.0%} busy, {shards:3d} shards: one copy {row[0]}; two copies {row[1]}; "
                f"and asked again after {again:g} {row[2]}"
            )
    print("\nbuilding: time over the ideal, 2% of parts take 8 times as long")
    for per_worker in (1, 4, 16, 64):
        tasks = 64 * per_worker
        row = []
        for options in ({}, {"twice": True}, {"lost": 0.1}, {"lost": 0.1, "twice": True}):
            took = [build(tasks, 64, 1.0, seed=s, **options) for s in range(20)]
            row.append(np.mean(took) / (per_worker * 1.155))
        print(
            f"  {per_worker:3d} parts per worker: {row[0]:.2f}; begun twice at the end {row[1]:.2f}"
            f"; a tenth of the workers lost {row[2]:.2f}; both {row[3]:.2f}"
        )


if __name__ == "__main__":
    main()
