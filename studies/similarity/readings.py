"""Two readings of the forests on scalar sets: SF with the package's cuts, RSF without bootstrap.

The paper ran SF by a public package whose cuts are not those of its description (``package``), and
it does not say whether the trees of RSF are grown on bootstrap samples or on all rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from studies.result import Finding, Result, Sheet
from studies.similarity.areas import areas_of_numbers
from studies.similarity.notes import PACKAGE_NEARER, READINGS_CAUSES, WHOLE_NEARER
from studies.similarity.published import SCALAR
from studies.similarity.sets import FILES, load_scalar
from studies.similarity.table1 import all_areas, judge, repeats
from studies.work import Work

# Name -> the method, its options, and the place of the printed value.
READINGS: dict[str, tuple[str, dict[str, Any], int]] = {
    "SF": ("SF", {}, 2),
    "SF, package's thresholds": ("SF, package", {}, 2),
    "RSF": ("RSF", {}, 1),
    "RSF, all rows per tree": ("RSF", {"bootstrap": False}, 1),
}


def run(work: Work) -> Result:
    """Run both readings of both forests."""
    some = ("german", "heart", "sonar", "svmguide3")
    every = [name for name in SCALAR if name != "liver"]
    names = work.available({name: FILES[name] for name in work.pick(some, every, every)})
    rows: list[dict[str, Any]] = []
    gaps: dict[str, list[float]] = {label: [] for label in READINGS}
    for name in work.each("readings of the forests", names):
        x, y = load_scalar(work.data, name)
        row: dict[str, Any] = {"set": name}
        for label, (method, options, place) in READINGS.items():
            if options:
                found = [
                    area
                    for repetition in range(repeats(work))
                    for area in work.once(
                        f"{name}|{label}|{repetition}",
                        partial(areas_of_numbers, x, y, method, repetition, **options),
                    )
                ]
            else:
                found = all_areas(work, name, x, y, [method])[method]
            printed = SCALAR[name].areas[place]
            row[label] = judge(found, printed)
            gaps[label].append(float(np.mean(found)) - printed)
        rows.append(row)
    about = f"{repeats(work)} repetitions of two folds. Sets: {', '.join(names)}."
    miss = {label: float(np.mean(np.abs(some))) for label, some in gaps.items()}
    findings = [
        _nearer("the printed SF", "SF, package's thresholds", "SF", miss, PACKAGE_NEARER),
        _nearer("the printed RSF", "RSF, all rows per tree", "RSF", miss, WHOLE_NEARER),
    ]
    return Result(
        [Sheet("readings", "SF and RSF, two interpretations each", rows, about, READINGS_CAUSES)],
        findings,
    )


def _nearer(what: str, reading: str, usual: str, miss: dict[str, float], cause: str) -> Finding:
    return Finding(
        f"{what} is nearer to '{reading}' than to ours",
        miss[reading] < miss[usual],
        f"mean absolute difference to the printed values: {usual} {miss[usual]:.3f}, "
        f"{reading} {miss[reading]:.3f}",
        cause,
    )
