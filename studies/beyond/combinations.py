"""Each measure with each reducer on each task, on every set.

Distances under a measure are computed once for a set; every reducer is put on top of them. Rows are
a stated sample, forests have one seed in each repetition.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike._runtime.threads import run as run_side_by_side
from studies.beyond.contenders import MEASURES, applies, distances_of, score_all, score_one
from studies.beyond.findings import make_findings
from studies.beyond.former import choose_former
from studies.beyond.plots import make_plots
from studies.beyond.scores import Scores
from studies.beyond.sets import half_of, load_set
from studies.beyond.tables import make_sheets
from studies.recipes import shared_sets
from studies.result import Result
from studies.work import Work

AUTO = "auto"
SOME = 50  # rows that show what sort of table it is


def run(work: Work) -> Result:
    """Score everything, then rank it."""
    rows, seeds = sizes(work)
    return make_result(collect(work, rows, seeds), rows, seeds)


def sizes(work: Work) -> tuple[int, int]:
    """Return the rows of each set, and the seeds of its forests."""
    return work.times(quick=150, default=600, full=2000), work.times(quick=1, default=2, full=5)


def make_result(scores: Scores, rows: int, seeds: int) -> Result:
    """Return everything there is to say about the scores."""
    return Result(make_sheets(scores, rows, seeds), make_findings(scores), make_plots(scores))


def collect(work: Work, rows: int, seeds: int) -> Scores:
    """Return every score there is; each (set, measure, seed) is kept as it is made."""
    sorts: dict[str, str] = {}
    parts = []
    for name in work.available(shared_sets()):
        sorts[name] = work.once(f"sort of {name}", partial(_sort, work, name))
        for measure in (*MEASURES, AUTO):
            if measure == AUTO or applies(measure, sorts[name]):
                parts += [(name, measure, seed) for seed in range(seeds)]

    def one(name: str, measure: str, seed: int) -> Any:
        key = f"{name}/{measure}/{rows}/{seed}"
        return work.once(key, lambda: _scores(work, name, measure, rows, seed))

    found = run_side_by_side(one, parts, None, f"{work.name}: sets and measures")
    by: dict[tuple[str, str, str, str], list[float]] = {}
    for (name, measure, _), made in zip(parts, found, strict=True):
        for reducer, tasks in made.items():
            for task, score in tasks.items():
                by.setdefault((name, measure, reducer, task), []).append(score)
    means = {key: float(np.mean(values)) for key, values in by.items()}
    return Scores(means, sorts, {name: half_of(name) for name in sorts})


def _sort(work: Work, name: str) -> str:
    return load_set(work.data, name, SOME).sort


def _scores(work: Work, name: str, measure: str, rows: int, seed: int) -> Any:
    prepared = load_set(work.data, name, rows)
    if measure != AUTO:
        return score_all(distances_of(prepared, measure, seed), prepared.y, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = choose_former(prepared.table)
        if "undefined" in chosen.get_params():
            chosen.set_params(undefined=0.0)
        d = clone(chosen).fit(prepared.table).distance()
    d = (d + d.T) / 2
    np.fill_diagonal(d, 0.0)
    return {"none": score_one("none", d, prepared.y, seed)}
