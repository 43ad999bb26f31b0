"""An index in a folder beside the same index in memory; then the ladder up to ten million rows."""

import atexit
import shutil
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller
from benchmarks.speed.ladder import climb, make_rows

ASKED = 50


def problem(small):
    place = Path(tempfile.mkdtemp(prefix="lookalike-scale-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    make_rows(place / "rows", 5_000 if small else 200_000)
    return place


def _ask(index):
    rows = np.random.default_rng(0).integers(0, len(index), ASKED).tolist()

    def ask():
        return [(hits.ids, [hit.distance for hit in hits]) for hits in index.search(rows, k=10)]

    return ask


def in_a_folder(place):
    from lookalike.index import build_index
    from lookalike.measures import Gower

    return _ask(build_index(place / "rows", place / "index", Gower(scale="rank")))


def in_memory(place):
    import lookalike as la
    from lookalike.measures import Gower

    table = la.read_table(place / "rows", lazy=True).read()
    return _ask(la.Index(Gower(scale="rank")).fit(table))


def same(ours, theirs):
    return "" if ours == theirs else "other rows or distances"


CASES = [
    Case(
        "fifty questions to 200,000 mixed rows in a folder",
        problem,
        in_a_folder,
        {"in memory": in_memory},
        same,
        (Faster("in memory", 1.5), Smaller(500)),
    )
]

LADDER = climb
