"""Table 3: RatioRF against Zhu2 on the same forest, by the same clustering method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from studies.forests.notes import WINS
from studies.forests.published import CLUSTERINGS, INDICES, TABLE_3
from studies.forests.runs import Run, Runs, make_runs
from studies.forests.table2 import counts
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

SAME = 1e-9  # indices of the same partition may differ in their last bits
Only = Mapping[str, Any]
MARKS = ("win", "lose", "draw")


def run(work: Work) -> Result:
    """Count wins, losses and draws."""
    runs = make_runs(work)
    rows = [_row("ALL", runs, {}, twelve=True)]
    rows += [_row(label, runs, {"method": label}, twelve=True) for label in CLUSTERINGS]
    rows += [_row(name, runs, {"set": name}) for name in runs.sets]
    rows += [
        _row(f"{trees} Trees - {columns}", runs, {"trees": trees, "columns": columns}, twelve=True)
        for trees, columns in runs.grid
    ]
    about = counts(work) + (
        " Per cent of the runs. Tolerance of a set's row: two standard errors of a share of so "
        "many forests; rows over all sets hold ten here and twelve in print and are not judged."
    )
    sheet = Sheet("wins", "Table 3, RatioRF against Zhu2", rows, about, WINS)
    return Result([sheet], _findings(runs))


def outcomes(runs: Runs, index: str, only: Only) -> tuple[float, float, float, int]:
    """Return the shares of wins, losses and draws of RatioRF in per cent, and how many runs."""
    some = [one for one in runs.all if all(getattr(one, key) == only[key] for key in only)]
    others = {_forest(one): one.score(index) for one in some if one.measure == "zhu2"}
    differences = np.array(
        [one.score(index) - others[_forest(one)] for one in some if one.measure == "ratio"]
    )
    # Differences by rounding alone are draws.
    win, lose = 100 * (differences > SAME).mean(), 100 * (differences < -SAME).mean()
    return float(win), float(lose), abs(float(100 - win - lose)), len(differences)


def _forest(one: Run) -> tuple[str, int, str, int, str]:
    return one.set, one.trees, one.columns, one.seed, one.method


def _row(label: str, runs: Runs, only: Only, twelve: bool = False) -> dict[str, Any]:
    row: dict[str, Any] = {"row": label, "runs": outcomes(runs, "ARI", only)[3]}
    for at, index in enumerate(INDICES):
        *found, many = outcomes(runs, index, only)
        for place, (mark, share) in enumerate(zip(MARKS, found, strict=True)):
            printed = TABLE_3[label][3 * at + place]
            # Clusterings of one forest are not independent of each other: forests count, not runs.
            forests = many / len(CLUSTERINGS)
            error = 200 * np.sqrt(max(printed / 100 * (1 - printed / 100), 0.01) / forests)
            row[f"{index} {mark}"] = Value(share, printed, None if twelve else error, digits=1)
    return row


def _findings(runs: Runs) -> list[Finding]:
    shares = {index: outcomes(runs, index, {}) for index in INDICES}
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
