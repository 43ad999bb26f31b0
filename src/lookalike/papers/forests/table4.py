"""Table 4: what the number of trees, the columns per node and the clustering do to RatioRF."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.papers.forests.notes import CAUSES, HALF, ORDER
from lookalike.papers.forests.published import CLUSTERINGS, INDICES, PARAMETERS, SETS, TABLE_4
from lookalike.papers.forests.runs import LARGE, Runs, affinity_repeats, make_runs
from lookalike.papers.forests.table2 import COLORS, counts, tolerance
from lookalike.papers.result import Finding, Plot, Result, Sheet, Value
from lookalike.papers.work import Work

__all__ = ["run"]

ONLY: dict[str, dict[str, Any]] = {
    "50": {"trees": 50},
    "100": {"trees": 100},
    "200": {"trees": 200},
    "Half": {"columns": "Half"},
    "Full": {"columns": "All"},
    **{label: {"method": label} for label in CLUSTERINGS},
}


def run(work: Work) -> Result:
    """Make the table of each parameter's effect."""
    runs = make_runs(work)
    sheets = [_sheet(runs, work, index) for index in INDICES]
    return Result(sheets, _findings(runs), [_plot(runs)])


def printed(index: str, parameter: str, names: list[str]) -> float:
    """Return the printed mean over some sets."""
    at = INDICES.index(index) * len(PARAMETERS) + PARAMETERS.index(parameter)
    return float(np.mean([TABLE_4[name][at] for name in names]))


def _sheet(runs: Runs, work: Work, index: str) -> Sheet:
    rows: list[dict[str, Any]] = []
    complete = affinity_repeats(work) > 0
    for name in [*SETS, "Average"]:
        names = list(SETS) if name == "Average" else [name]
        n = max(run.n for run in runs.all if run.set in names)
        whole = complete or n <= LARGE
        row: dict[str, Any] = {"set": name}
        for parameter, only in ONLY.items():
            ours = runs.mean("ratio", index, sets=names, **only)
            judged = whole or (parameter in CLUSTERINGS and parameter != "AP")
            allowed = tolerance(runs, "ratio", index, n, sets=names, **only) if judged else None
            known = None if np.isnan(ours) else ours
            row[parameter] = Value(known, printed(index, parameter, names), allowed)
        rows.append(row)
    about = counts(work) + " The printed average is that of the ten sets here."
    return Sheet(f"impact-{index}", f"Table 4, {index} of RatioRF", rows, about, CAUSES)


def _findings(runs: Runs) -> list[Finding]:
    by = {
        index: {name: runs.mean("ratio", index, **only) for name, only in ONLY.items()}
        for index in INDICES
    }
    trees = [by["ARI"][many] for many in ("50", "100", "200")]
    order = sorted(CLUSTERINGS, key=lambda label: -by["purity"][label])
    says = ", ".join(f"{label} {by['purity'][label]:.3f}" for label in order)
    return [
        Finding(
            "the number of trees hardly matters (index 0.369, 0.376, 0.375 with 50, 100, 200)",
            max(trees) - min(trees) < 0.02,
            ", ".join(f"{figure:.3f}" for figure in trees),
            headline=True,
        ),
        Finding(
            "half of the columns per node are better than all (index 0.386 and 0.361)",
            by["ARI"]["Half"] > by["ARI"]["Full"],
            f"{by['ARI']['Half']:.3f} and {by['ARI']['Full']:.3f}",
            HALF,
        ),
        Finding(
            "by purity spectral clustering is first, then affinity propagation, Ward, complete "
            "linkage",
            order == ["SC", "AP", "HC-W", "HC-CL"],
            says,
            ORDER,
        ),
        Finding(
            "complete linkage is the worst of the four and spectral clustering no worse than Ward",
            order[-1] == "HC-CL" and by["purity"]["SC"] >= by["purity"]["HC-W"],
            says,
            ORDER,
        ),
    ]


def _plot(runs: Runs) -> Plot:
    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        for axis, index in zip(axes, INDICES, strict=True):
            at = np.arange(len(PARAMETERS))
            ours = [runs.mean("ratio", index, **ONLY[one]) for one in PARAMETERS]
            theirs = [printed(index, one, list(SETS)) for one in PARAMETERS]
            axis.bar(at - 0.2, ours, 0.4, color=COLORS[5], label="ours")
            axis.bar(at + 0.2, theirs, 0.4, color=COLORS[1], label="printed")
            axis.set_xticks(at, PARAMETERS, rotation=45, ha="right")
            axis.set_ylabel(index)
            axis.set_ylim(0.9 * min(ours + theirs), 1.03 * max(ours + theirs))
        axes[0].legend(frameon=False, loc="upper left", ncols=2)
        figure.suptitle("RatioRF by number of trees, columns per node and clustering, ten sets")

    return Plot("table4", "RatioRF by parameter, ours beside the printed means", draw, (8.5, 4.0))
