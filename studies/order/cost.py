"""Table 5: what an unseen pair costs, against the rows and columns that were fitted.

Processor seconds depend on the machine; what is compared is how they grow. A measure first places a
new row (ranks, leaves), then compares; both are measured apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lookalike.measures import Measure
from studies.order.methods import make
from studies.order.published import TABLE_5, TABLE_5_BEFORE
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

MEASURES = ("cityblock", "ranked cityblock", "SimUSF")
PAIRS = 100
READ = (
    "Ours encodes many rows in one call and finds ranks by bisection, so that the number of fitted "
    "rows hardly shows; the paper's program took time in proportion to n for each new value, where "
    "its own formula says log n. What grows with d is reading the cells, and looking up each rank."
)


def run(work: Work) -> Result:
    """Time new pairs on tables of growing size."""
    sizes = work.pick(
        [(1000, 10), (1000, 100), (10000, 10), (10000, 100)], list(TABLE_5), list(TABLE_5)
    )
    turns = work.times(3, 7, 15)
    found = {
        (n, d): work.once(f"{n} {d} {turns}", partial(_times, n, d, turns))
        for n, d in work.each("sizes", sizes)
    }
    first = sizes[0]
    rows: list[dict[str, Any]] = []
    for (n, d), each in found.items():
        row: dict[str, Any] = {"table": f"n = {n}, d = {d}"}
        for measure in MEASURES:
            ours = each[measure]["place"] + each[measure]["compare"]
            base = found[first][measure]["place"] + found[first][measure]["compare"]
            printed = TABLE_5[n, d][measure] / TABLE_5[first][measure]
            row[f"{measure}, times the first"] = Value(ours / base, printed, digits=1)
            row[f"{measure}, μs to place two rows"] = Value(1e6 * each[measure]["place"], digits=0)
            row[f"{measure}, μs to compare"] = Value(1e6 * each[measure]["compare"], digits=2)
        rows.append(row)
    about = (
        f"{PAIRS} pairs of unseen rows encoded and compared in one call, per pair, one thread; "
        f"processor time, minimum of {turns} turns in which the measures take turns. The brackets "
        f"hold the growth of the printed seconds from n = {first[0]}, d = {first[1]}. Seconds are "
        "this machine's and no promise. " + READ
    )
    n_big, d_big = sizes[-1]
    compare = [found[size]["SimUSF"]["compare"] for size in sizes]
    growth = {
        m: (found[n_big, d_big][m]["place"] + found[n_big, d_big][m]["compare"])
        / (found[first][m]["place"] + found[first][m]["compare"])
        for m in MEASURES
    }
    exponents = {
        m: np.log(found[1000, d_big][m]["compare"] / found[1000, 10][m]["compare"])
        / np.log(d_big / 10)
        for m in MEASURES
    }
    findings = [
        Finding(
            "The cost of comparing two encoded rows by SimUSF does not depend on n and d",
            max(compare) < 2 * min(compare),
            f"{1e6 * min(compare):.2f} to {1e6 * max(compare):.2f} μs; exponent in d "
            f"{exponents['SimUSF']:.2f}, ranked cityblock {exponents['ranked cityblock']:.2f}",
        ),
        Finding(
            "Ranked cityblock grows most with the table, SimUSF least",
            growth["SimUSF"] < growth["ranked cityblock"],
            f"from {first} to {(n_big, d_big)}: "
            + ", ".join(f"{m} {v:.1f} times" for m, v in growth.items())
            + " (printed for (10000, 1000): 1.2, 1009, 1.0)",
        ),
    ]
    sheet = Sheet("table5", "Table 5: cost of an unseen pair", rows, about)
    return Result([sheet, _before(found, first)], findings)


def _before(found: dict[tuple[int, int], Any], first: tuple[int, int]) -> Sheet:
    """Return what is spent once, before the first pair."""
    rows: list[dict[str, Any]] = []
    for (n, d), each in found.items():
        row: dict[str, Any] = {"table": f"n = {n}, d = {d}"}
        for measure in MEASURES:
            ours, base = each[measure]["fit"], found[first][measure]["fit"]
            printed = TABLE_5_BEFORE[n, d].get(measure)
            growth = None if printed is None else printed / TABLE_5_BEFORE[first][measure]
            row[f"{measure}, times the first"] = Value(ours / base, growth, digits=1)
            row[f"{measure}, ms to fit"] = Value(1e3 * ours, digits=1)
        rows.append(row)
    about = (
        "Fitting, which is done once: finding the kinds and values of the columns, sorting them "
        "for ranks, growing 1000 trees of height 5. The brackets hold the growth of the printed "
        "seconds. Three of those for cityblock do not grow with d, which cannot be, and are left "
        "out. Fitting SimUSF here reads every cell once; its trees alone do not depend on n and d."
    )
    return Sheet("table5-before", "Table 5: preprocessing", rows, about)


def _times(n: int, d: int, turns: int) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(0)
    x, new = rng.random((n, d)), rng.random((2 * PAIRS, d))
    measures: dict[str, Measure] = {m: make(m).set_params(n_jobs=1) for m in MEASURES}
    least = {m: {"fit": np.inf, "place": np.inf, "compare": np.inf} for m in MEASURES}
    for _ in range(turns):
        for name, measure in measures.items():
            _, seconds = _clock(partial(measure.fit, x))
            least[name]["fit"] = min(least[name]["fit"], seconds)
            placed, seconds = _clock(partial(measure.encode, new))
            least[name]["place"] = min(least[name]["place"], seconds / PAIRS)
            one, two = placed[np.arange(PAIRS)], placed[np.arange(PAIRS, 2 * PAIRS)]
            _, seconds = _clock(partial(measure.block, one, two))
            least[name]["compare"] = min(least[name]["compare"], seconds / PAIRS**2)
    return least


def _clock(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    got = call()
    return got, time.process_time() - began
