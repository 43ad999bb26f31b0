"""SF on scalar sets with right cuts and with those of the package that the paper ran."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.papers.result import Finding, Result, Sheet
from lookalike.papers.similarity.notes import PACKAGE_CUTS, PACKAGE_NEARER
from lookalike.papers.similarity.published import SCALAR
from lookalike.papers.similarity.sets import load_scalar
from lookalike.papers.similarity.table1 import all_areas, judge
from lookalike.papers.work import Work

__all__ = ["run"]

METHODS = ("SF", "SF, package")


def run(work: Work) -> Result:
    """Run both on the scalar sets."""
    quick = ("heart", "sonar", "svmguide3")
    names = work.pick(quick, list(SCALAR), list(SCALAR))
    rows: list[dict[str, Any]] = []
    gaps = dict.fromkeys(METHODS, 0.0)
    for name in work.each("package's cuts", names):
        x, y = load_scalar(work.data, name)
        found = all_areas(work, name, x, y, METHODS)
        printed = SCALAR[name].areas[2]
        rows.append({"set": name, **{method: judge(found[method], printed) for method in METHODS}})
        for method in METHODS:
            gaps[method] += abs(float(np.mean(found[method])) - printed) / len(names)
    about = (
        f"Printed: SF. Sets: {', '.join(names)}. Right cuts are ours; the package's order its "
        "labels once too often before they are cut."
    )
    finding = Finding(
        "the printed SF is nearer to the package's cuts than to right ones",
        gaps["SF, package"] < gaps["SF"],
        "mean absolute difference to print: "
        + ", ".join(f"{method} {gap:.3f}" for method, gap in gaps.items()),
        PACKAGE_NEARER,
    )
    return Result([Sheet("package", "SF, two ways to cut", rows, about, PACKAGE_CUTS)], [finding])
