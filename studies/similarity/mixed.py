"""Table I, mixed data: numbers and histograms (wgsovarian).

Of wgsovarian 125 of 219 rows are available, 6 of the smaller class, with 50 numbers and 6
histograms; the paper has 38 and 6. RF and SF get the total of each histogram. chickenpieces and
toolset are matrices of edit distances that are not available.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from studies.result import Finding, Result, Sheet, Value
from studies.similarity.areas import areas_of_numbers, areas_of_table
from studies.similarity.compare import mark_methods
from studies.similarity.published import METHODS, MIXED, ONLY_PRINTED
from studies.similarity.sets import load_ovarian
from studies.similarity.table1 import judge
from studies.work import Work


def run(work: Work) -> Result:
    """Run the three forests on the part of wgsovarian."""
    many = work.times(3, 10, 10)
    table, totals, y = load_ovarian(work.data)
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    for repetition in work.each("wgsovarian", range(many)):
        for method in METHODS:
            make = (
                partial(areas_of_table, table, y, repetition)
                if method == "RSF"
                else partial(areas_of_numbers, totals, y, method, repetition)
            )
            found[method] += work.once(f"wgsovarian|{method}|{repetition}", make)
    printed = MIXED["wgsovarian"]
    marks, test = mark_methods(found)
    row: dict[str, Any] = {"set": "wgsovarian, a part", "rows": f"{len(y)} ({printed.rows})"}
    for at, method in enumerate(METHODS):
        row[method] = judge(found[method], printed.areas[at])
        row[f"{method} marks"] = f"{marks[method] or '-'} ({printed.marks[at] or '-'})"
    rows = [row]
    for name, (rsf, sf) in ONLY_PRINTED.items():
        rows.append({"set": name, "RSF": Value(None, rsf), "SF": Value(None, sf)})
    about = (
        f"{many} repetitions of two folds ({test}). A fold holds three rows of the smaller "
        "class: its area takes few values and is not informative. chickenpieces and toolset are "
        "not available."
    )
    means = {method: sum(some) / len(some) for method, some in found.items()}
    finding = Finding(
        "on numbers with histograms RSF is better than RF and SF",
        means["RSF"] > max(means["RF"], means["SF"]),
        ", ".join(f"{method} {mean:.3f}" for method, mean in means.items()),
        "Six positive rows of 125 are too few; the other 94 rows are not available.",
    )
    causes = {
        ("*", "*"): "Another table: 125 of 219 rows, 6 of them positive, picked for a study of "
        "outliers, and 50 numbers where the paper has 38."
    }
    return Result([Sheet("mixed", "Table I, mixed data", rows, about, causes)], [finding])
