"""Table 5: for each set and measure the one run with the highest silhouette.

Printed purities are not shares of all rows: most are k/(n-1) for a whole k, and Parkinsons prints
0.753, which is below the share of its larger class, 147/195 = 0.754. A wrong divisor alone would
print at least 147/194 = 0.758; 0.753 is 146/194, so one row took no part. Purity is therefore given
twice, of all rows and without the last row (which one it was is not known).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.forests.notes import CHOSEN, CHOSEN_CAUSES
from studies.forests.published import INDICES, MEASURES, TABLE_5
from studies.forests.runs import Run, Runs, make_runs
from studies.forests.table2 import column, counts, mean_label
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

# Rows by Table 1 of the paper.
ROWS = {
    "Iris": 150,
    "Wine": 178,
    "Glass": 214,
    "WBC": 683,
    "BTissue": 106,
    "Heart": 297,
    "Lung": 32,
    "Parkinsons": 195,
    "Auto-mpg": 398,
    "Pima": 768,
    "Volcano": 1078,
    "Energy": 1500,
}
KINDS = ("purity", "purity, one row less", "ARI")


def run(work: Work) -> Result:
    """Choose by silhouette and score the chosen."""
    runs = make_runs(work)
    chosen = {
        (name, measure): max(
            (one for one in runs.all if one.set == name and one.measure == measure),
            key=lambda one: one.silhouette,
        )
        for name in runs.sets
        for measure in MEASURES
    }
    sheets = [_sheet(runs, chosen, kind, work) for kind in KINDS]
    return Result(sheets, _findings(chosen, runs.sets))


def count_divisors(less: int) -> tuple[int, int]:
    """Return how many printed purities are exact fractions of n - less rows, and of how many."""
    found = [
        abs(round(purity * (n - less)) / (n - less) - purity) <= 0.0005 + 1e-9
        for name, n in ROWS.items()
        for purity in TABLE_5[name][: len(MEASURES)]
    ]
    return sum(found), len(found)


def _score(one: Run, kind: str) -> float:
    if kind == KINDS[1]:
        return one.hits_without_last / (one.n - 1)
    return one.score(kind)


def _sheet(runs: Runs, chosen: dict[tuple[str, str], Run], kind: str, work: Work) -> Sheet:
    index = "ARI" if kind == "ARI" else "purity"
    rows: list[dict[str, Any]] = []
    for name in runs.sets:
        row: dict[str, Any] = {"set": name}
        for measure in MEASURES:
            single = [
                one.score(index) for one in runs.all if (one.set, one.measure) == (name, measure)
            ]
            row[measure] = Value(
                _score(chosen[name, measure], kind),
                TABLE_5[name][column(index, measure)],
                # The row that the paper lost is no difference of purity.
                2 * float(np.std(single, ddof=1)) + (1 / ROWS[name] if index == "purity" else 0),
            )
        picked = chosen[name, "ratio"]
        row["ratio chose"] = f"{picked.method}, {picked.trees} {picked.columns}"
        rows.append(row)
    last: dict[str, Any] = {"set": mean_label(runs.sets)}
    for measure in MEASURES:
        last[measure] = Value(
            float(np.mean([_score(chosen[name, measure], kind) for name in runs.sets])),
            float(np.mean([TABLE_5[name][column(index, measure)] for name in runs.sets])),
        )
    rows.append(last)
    about = counts(work) + (
        " One run each, the one with the highest silhouette in the measure's own distance, of as "
        "many as there are; tolerance: two standard deviations of single runs of the set and "
        "measure."
    )
    return Sheet(f"automatic-{KINDS.index(kind)}", f"Table 5, {kind}", rows, about, CHOSEN_CAUSES)


def _findings(chosen: dict[tuple[str, str], Run], names: Sequence[str]) -> list[Finding]:
    means = {
        index: {
            measure: float(np.mean([chosen[name, measure].score(index) for name in names]))
            for measure in MEASURES
        }
        for index in INDICES
    }
    first = {index: max(MEASURES, key=lambda one: means[index][one]) for index in INDICES}
    best = [
        name
        for name in names
        if chosen[name, "ratio"].hits >= max(chosen[name, one].hits for one in MEASURES)
    ]
    printed = [name for name in names if TABLE_5[name][5] >= max(TABLE_5[name][: len(MEASURES)])]
    less, many = count_divisors(1)
    return [
        Finding(
            "chosen by silhouette, RatioRF is the best measure on the mean, by both indices",
            set(first.values()) == {"ratio"},
            "; ".join(
                f"{index}: " + ", ".join(f"{one} {mean:.3f}" for one, mean in means[index].items())
                for index in INDICES
            ),
            CHOSEN,
        ),
        Finding(
            f"chosen by silhouette, RatioRF is best or tied by purity on most sets "
            f"({len(printed)} of these {len(names)} in print)",
            2 * len(best) > len(names),
            f"on {len(best)}: {', '.join(best)}",
            CHOSEN,
        ),
        Finding(
            "printed purities leave one row of each set out",
            less > count_divisors(0)[0],
            f"{less} of {many} are fractions of n - 1 rows, {count_divisors(0)[0]} of n rows; "
            "Parkinsons prints 0.753 = 146/194, below the share of its larger class of all rows",
        ),
    ]
