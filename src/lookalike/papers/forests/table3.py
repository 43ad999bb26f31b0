"""Table 3: RatioRF against Zhu2 on the same forest, by the same clustering method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike.papers.forests.notes import WINS
from lookalike.papers.forests.published import CLUSTERINGS, GRID, INDICES, SETS, TABLE_3
from lookalike.papers.forests.runs import Run, Runs, make_runs
from lookalike.papers.forests.table2 import counts
from lookalike.papers.result import Finding, Result, Sheet, Value
from lookalike.papers.work import Work

__all__ = ["outcomes", "run"]

SAME = 1e-9  # indices of the same partition may differ in their last bits
MARKS = ("win", "lose", "draw")


def run(work: Work) -> Result:
    """Count wins, losses and draws."""
    runs = make_runs(work)
    rows: list[dict[str, Any]] = [_row("ALL", runs, lambda one: True, twelve=True)]
    for label in CLUSTERINGS:
        rows.append(_row(label, runs, lambda one: one.method == label, twelve=True))  # noqa: B023
    for name in SETS:
        rows.append(_row(name, runs, lambda one: one.set == name))  # noqa: B023
    for trees, columns in GRID:
        label = f"{trees} Trees - {columns}"
        rows.append(
            _row(label, runs, lambda one: (one.trees, one.columns) == (trees, columns), twelve=True)  # noqa: B023
        )
    about = counts(work) + (
        " Per cent of the runs. Tolerance of a set's row: two standard errors of a share of so "
        "many runs; rows over all sets hold ten sets here and twelve in print and are not judged."
    )
    sheet = Sheet("wins", "Table 3, RatioRF against Zhu2", rows, about, WINS)
    return Result([sheet], _findings(runs))


def outcomes(
    runs: Runs, index: str, wanted: Callable[[Run], bool]
) -> tuple[float, float, float, int]:
    """Return the shares of wins, losses and draws of RatioRF in per cent, and how many runs."""
    others = {
        (one.set, one.trees, one.columns, one.seed, one.method): one.score(index)
        for one in runs.all
        if one.measure == "zhu2" and wanted(one)
    }
    gaps = np.array(
        [
            one.score(index) - others[one.set, one.trees, one.columns, one.seed, one.method]
            for one in runs.all
            if one.measure == "ratio" and wanted(one)
        ]
    )
    win, lose = 100 * (gaps > SAME).mean(), 100 * (gaps < -SAME).mean()
    return float(win), float(lose), float(100 - win - lose), len(gaps)


def _row(
    label: str, runs: Runs, wanted: Callable[[Run], bool], twelve: bool = False
) -> dict[str, Any]:
    row: dict[str, Any] = {"row": label, "runs": outcomes(runs, "ARI", wanted)[3]}
    for at, index in enumerate(INDICES):
        *found, many = outcomes(runs, index, wanted)
        for place, (mark, share) in enumerate(zip(MARKS, found, strict=True)):
            printed = TABLE_3[label][3 * at + place]
            # Runs on one set are not independent of each other: their forests are of one table.
            error = 200 * np.sqrt(max(printed / 100 * (1 - printed / 100), 0.01) / many)
            row[f"{index} {mark}"] = Value(share, printed, None if twelve else error, digits=1)
    return row


def _findings(runs: Runs) -> list[Finding]:
    shares = {index: outcomes(runs, index, lambda one: True) for index in INDICES}
    printed = {"purity": (65.8, 18.1), "ARI": (73.5, 25.1)}
    text = "; ".join(
        f"{index}: wins {win:.1f} %, loses {lose:.1f} % (printed "
        f"{printed[index][0]}, {printed[index][1]})"
        for index, (win, lose, _, _) in shares.items()
    )
    return [
        Finding(
            "on the same forest RatioRF beats Zhu2 far more often than it loses, by both indices",
            all(win > 1.5 * lose for win, lose, _, _ in shares.values()),
            text,
            headline=True,
        ),
    ]
