"""Table 1 and the worked example: the sets, and a gap that makes Gower's matrix indefinite."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.measures import Gower
from studies.gower import notes
from studies.gower.problems import load_problem, split_rows
from studies.gower.published import EXAMPLE, SETS
from studies.gower.splits import sets_here
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work


def run(work: Work) -> Result:
    """Count the sets and compute the three similarities."""
    rows = []
    for name in sets_here(work):
        printed = SETS[name]
        problem = load_problem(work.data, name)
        counts = np.unique(problem.y, return_counts=True)[1]
        gaps = 100 * float(np.mean([column.missing for column in problem.table]))
        row: dict[str, Any] = {"set": name}
        row["rows"] = Value(len(problem.y), printed.rows, 0, digits=0)
        row["columns"] = Value(len(problem.table.columns), printed.inputs, 0, digits=0)
        row["classes"] = Value(len(counts), printed.classes, 0, digits=0)
        largest = 100 * float(counts.max() / counts.sum())
        row["largest class, %"] = Value(largest, printed.largest, 0.1, digits=1)
        row["missing, %"] = Value(gaps, printed.missing, 0.1, digits=1)
        kinds = [column.kind.name for column in problem.table]
        for title, kind, theirs in (
            ("real", "number", printed.numbers),
            ("nominal", "category", printed.nominal),
            ("ordinal", "order", printed.ordinal),
        ):
            row[title] = Value(kinds.count(kind), theirs, 0, digits=0)
        known, held = split_rows(problem, 0)
        row["to learn"] = Value(len(known), printed.learn, 0, digits=0)
        row["to test"] = Value(len(held), printed.test, 0, digits=0)
        rows.append(row)
    table1 = Sheet("table1", "Table 1: the sets", rows, notes.TABLE1, notes.TABLE1_CAUSES)
    return Result([table1, _example()], [_finding()])


def _similarities() -> np.ndarray:
    cells = [[np.nan if cell is None else float(cell) for cell in row] for row in EXAMPLE]
    ranges = {f"x{at}": 4.0 for at in range(4)}
    return Gower(ranges=ranges).fit(np.array(cells)).similarity()


def _example() -> Sheet:
    s = _similarities()
    rows: list[dict[str, Any]] = [
        {"pair": pair, "similarity": Value(float(s[i, j]), printed, 0, digits=6)}
        for pair, i, j, printed in (
            ("1, 2", 0, 1, 11 / 12),
            ("1, 3", 0, 2, 11 / 16),
            ("2, 3", 1, 2, 1.0),
        )
    ]
    det = float(np.linalg.det(s))
    rows.append({"pair": "determinant", "similarity": Value(det, -121 / 2304, 0, digits=6)})
    return Sheet(
        "example", "The worked example: three rows, one missing value", rows, notes.EXAMPLE
    )


def _finding() -> Finding:
    s = _similarities()
    lowest = float(np.linalg.eigvalsh(s).min())
    filled = []
    for value in np.linspace(1, 5, 9):
        cells = np.array([[value if c is None else float(c) for c in row] for row in EXAMPLE])
        full = Gower(ranges={f"x{at}": 4.0 for at in range(4)}).fit(cells).similarity()
        filled.append(float(np.linalg.eigvalsh(full).min()))
    return Finding(
        "missing values can make Gower's matrix indefinite; any value in place of the missing "
        "one restores it",
        lowest < 0 <= min(filled) + 1e-12,
        f"smallest eigenvalue {lowest:.4f} with the missing value, "
        f"{max(0.0, min(filled)):.4f} or more with one of nine values from 1 to 5",
        headline=True,
    )
