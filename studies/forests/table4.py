"""Table 4: what the number of trees, the columns per node and the clustering do to RatioRF."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from studies.forests.notes import CAUSES, HALF, ORDER, TREES
from studies.forests.published import CLUSTERINGS, INDICES, PARAMETERS, TABLE_4
from studies.forests.runs import LARGE, Runs, affinity_repeats, make_runs
from studies.forests.table2 import COLORS, counts, tolerance
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

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


def with_all(runs: Runs) -> list[str]:
    """Return the sets on which all four clusterings were run."""
    found = runs.take("ratio")
    return [name for name in found if len(found[name]) == len(CLUSTERINGS)]


def _sheet(runs: Runs, work: Work, index: str) -> Sheet:
    rows: list[dict[str, Any]] = []
    complete = affinity_repeats(work) > 0
    for name in [*runs.sets, "Average"]:
        names = runs.sets if name == "Average" else [name]
        n = max(run.n for run in runs.all if run.set in names)
        whole = complete or n <= LARGE
        complete_sets = with_all(runs)
        row: dict[str, Any] = {"set": name}
        for parameter, only in ONLY.items():
            # The average of affinity propagation is over the sets on which it was run, in both.
            same = [one for one in names if parameter != "AP" or one in complete_sets]
            if not runs.take("ratio", sets=same, **only):  # not run with this effort
                row[parameter] = Value(None, printed(index, parameter, names))
                continue
            judged = whole or parameter in CLUSTERINGS
            row[parameter] = Value(
                runs.mean("ratio", index, sets=same, **only),
                printed(index, parameter, same),
                tolerance(runs, "ratio", index, n, sets=same, **only) if judged else None,
            )
        row["clustering significantly best"] = _winner(runs, index, names)
        rows.append(row)
    about = counts(work) + (
        " The printed average is that of the same sets as ours. Best clustering: ahead of each "
        "other by an unpaired t-test at 0.05."
    )
    return Sheet(f"impact-{index}", f"Table 4, {index} of RatioRF", rows, about, CAUSES)


def _winner(runs: Runs, index: str, names: list[str]) -> str:
    """Name the clustering that is significantly ahead of each other one, if any."""
    from scipy.stats import ttest_ind

    found: dict[str, list[float]] = {}
    for methods in runs.take("ratio", sets=names).values():
        for method, some in methods.items():
            found.setdefault(method, []).extend(one.score(index) for one in some)
    first = max(found, key=lambda one: float(np.mean(found[one])))
    for other, scores in found.items():
        if other == first:
            continue
        if np.ptp(found[first] + scores) == 0:
            return "none"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # no spread within: p is 0
            if ttest_ind(found[first], scores).pvalue >= 0.05:
                return "none"
    return first


def _findings(runs: Runs) -> list[Finding]:
    def index_of(parameter: str) -> float:
        return runs.mean("ratio", "ARI", **ONLY[parameter])

    many = list(dict.fromkeys(str(trees) for trees, _ in runs.grid))
    trees = [index_of(one) for one in many]
    same = with_all(runs)
    clusterings = [runs.mean("ratio", "ARI", sets=same, method=one) for one in CLUSTERINGS]
    ours = {label: runs.mean("ratio", "purity", sets=same, method=label) for label in CLUSTERINGS}
    order = sorted(CLUSTERINGS, key=lambda label: -ours[label])
    says = ", ".join(
        f"{label} {ours[label]:.3f} ({printed('purity', label, same):.3f})" for label in order
    )
    says += f" over {len(same)} sets"
    firsts = {name: _first(runs, name) for name in runs.sets}
    theirs = [name for name in runs.sets if _printed_first(name) == "SC"]
    ahead = [name for name, label in firsts.items() if label == "SC"]
    alone = [name for name in runs.sets if _winner(runs, "purity", [name]) == "SC"]
    return [
        Finding(
            "the number of trees matters far less than the clustering does (from worst to best the "
            "index changes by 0.007 and by 0.083)",
            bool(2 * np.ptp(trees) < np.ptp(clusterings)),
            f"by {np.ptp(trees):.3f} and by {np.ptp(clusterings):.3f}",
            headline=True,
        ),
        Finding(
            "the number of trees hardly matters (index 0.369, 0.376, 0.375 with 50, 100, 200)",
            bool(np.ptp(trees) < 0.02),
            ", ".join(f"{one} trees {mean:.3f}" for one, mean in zip(many, trees, strict=True)),
            TREES,
        ),
        Finding(
            "half of the columns per node are better than all (index 0.386 and 0.361)",
            index_of("Half") > index_of("Full"),
            f"{index_of('Half'):.3f} and {index_of('Full'):.3f}",
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
            order[-1] == "HC-CL" and ours["SC"] >= ours["HC-W"],
            says,
            ORDER,
        ),
        Finding(
            f"spectral clustering is best by purity on most sets ({len(theirs)} of these "
            f"{len(runs.sets)} in print)",
            2 * len(ahead) > len(runs.sets),
            f"on {len(ahead)} of {len(runs.sets)} ({', '.join(ahead)}), significantly on "
            f"{len(alone)}",
            ORDER,
        ),
    ]


def _first(runs: Runs, name: str) -> str:
    """Return the clustering with the highest purity of RatioRF on a set."""
    made = list(runs.take("ratio", sets=[name])[name])
    return max(made, key=lambda label: runs.mean("ratio", "purity", sets=[name], method=label))


def _printed_first(name: str) -> str:
    return max(CLUSTERINGS, key=lambda label: printed("purity", label, [name]))


def _plot(runs: Runs) -> Plot:
    same = with_all(runs)

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        made = [one for one in PARAMETERS if runs.take("ratio", sets=same, **ONLY[one])]
        for axis, index in zip(axes, INDICES, strict=True):
            at = np.arange(len(made))
            ours = [runs.mean("ratio", index, sets=same, **ONLY[one]) for one in made]
            errors = [2 * runs.error("ratio", index, sets=same, **ONLY[one]) for one in made]
            theirs = [printed(index, one, same) for one in made]
            axis.errorbar(at - 0.1, ours, errors, fmt="o", color=COLORS[5], label="ours")
            axis.plot(at + 0.1, theirs, "x", ms=7, mew=2, color=COLORS[2], label="printed")
            axis.set_xticks(at, made, rotation=45, ha="right")
            axis.set_ylabel(index)
        axes[0].legend(frameon=False, loc="lower left")
        figure.suptitle(f"RatioRF by trees, columns per node and clustering, {len(same)} sets")

    alt = "RatioRF by parameter, ours with two standard errors beside the printed means"
    return Plot("table4", alt, draw, (8.5, 4.0))
