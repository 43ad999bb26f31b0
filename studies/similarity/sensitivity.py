"""Figures 3 and 4: columns tried per node, and number of trees.

Eleven of the twelve sets of Geurts, Ernst and Wehenkel (2006, doi:10.1007/s10994-006-6226-1) that
the paper most likely used: three are generated, two are in the data folder, six in packages.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from studies.result import Finding, Plot, Result, Sheet, Value
from studies.similarity.areas import areas_of_numbers
from studies.similarity.notes import COLUMNS, RISES
from studies.similarity.published import METHODS
from studies.similarity.sets import SENSITIVITY, load_sensitivity
from studies.similarity.table1 import COLORS
from studies.work import Work

GENERATED = ("waveform", "twonorm", "ringnorm")
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)  # 0: a single column
NARROW = 0.04  # the least height of a panel
TREES = (1, 3, 10, 30, 100, 200)


def _mean_area(
    work: Work, problem: tuple[str, Any, Any], method: str, n_trees: int, columns: int, many: int
) -> float:
    name, x, y = problem
    areas = [
        work.once(
            f"{name}|{len(y)}|{n_trees}|{method}|{columns}|{repetition}",
            partial(
                areas_of_numbers, x, y, method, repetition, n_trees=n_trees, max_features=columns
            ),
        )
        for repetition in range(many)
    ]
    return float(np.mean(areas))


def run_columns(work: Work) -> Result:
    """Figure 3: the area against the columns tried per node."""
    many, n_rows = work.times(1, 5, 10), work.times(200, 500, 1000)
    n_trees = work.times(50, 100, 100)
    curves: dict[tuple[str, str], list[float]] = {}
    places: dict[str, list[int]] = {}
    names = [*GENERATED, *work.available(SENSITIVITY, needed=False)]
    for name in work.each("columns per node", names):
        x, y = load_sensitivity(work.data, name, n_rows)
        # A set removes duplicates: on narrow tables several shares give the same number of columns.
        places[name] = sorted({max(1, round(share * x.shape[1])) for share in SHARES})
        for method in ("RF", "RSF"):
            curves[name, method] = [
                _mean_area(work, (name, x, y), method, n_trees, columns, many)
                for columns in places[name]
            ]
    rows: list[dict[str, Any]] = []
    for name in names:
        for method in ("RF", "RSF"):
            row: dict[str, Any] = {"set": f"{name}, {method}", "columns": places[name][-1]}
            for columns, area in zip(places[name], curves[name, method], strict=True):
                row[_share(columns, places[name][-1])] = Value(area)
            rows.append(row)
    about = (
        f"{n_rows} rows of each set, {many} x 2 folds, {n_trees} trees; no values are printed. "
        "The first half of the classes against the rest. Columns of this table are shares of a "
        "set's columns."
    )

    def half(name: str, method: str) -> float:
        """Return the area with half of the columns."""
        return curves[name, method][places[name].index(max(1, round(0.5 * places[name][-1])))]

    rises = [name for name in names if half(name, "RSF") > curves[name, "RSF"][0]]
    best = {
        method: float(
            np.mean(
                [
                    places[name][int(np.argmax(curves[name, method]))] / places[name][-1]
                    for name in names
                ]
            )
        )
        for method in ("RF", "RSF")
    }
    gains = {
        method: float(np.mean([half(name, method) - curves[name, method][0] for name in names]))
        for method in ("RF", "RSF")
    }
    findings = [
        Finding(
            "RSF is better with half of the columns than with a single one, on every set",
            len(rises) == len(names),
            f"on {len(rises)} of {len(names)}: {', '.join(rises)}",
            RISES,
        ),
        Finding(
            "RSF needs more columns per node than RF",
            best["RSF"] > best["RF"],
            f"the best share is {best['RSF']:.2f} of the columns for RSF and {best['RF']:.2f} for "
            "RF, on the mean of the sets",
            COLUMNS,
        ),
        Finding(
            "RSF gains more than RF from half of the columns instead of a single one",
            gains["RSF"] > gains["RF"],
            f"RSF {gains['RSF']:+.3f}, RF {gains['RF']:+.3f}, on the mean of the sets",
            COLUMNS,
        ),
    ]
    plot = Plot(
        "fig3",
        "Area under the curve against columns per node for RF and RSF",
        lambda figure: _panels(figure, curves, places),
        (9.0, 0.4 + 2.4 * -(-len(names) // 3)),
    )
    return Result([Sheet("columns", "Figure 3, columns per node", rows, about)], findings, [plot])


def _share(columns: int, of: int) -> str:
    """Name a column of the table by the nearest share."""
    share = min(SHARES[1:], key=lambda one: abs(one - columns / of))
    return "one" if columns == 1 else f"{share:g} p"


def run_trees(work: Work) -> Result:
    """Figure 4: the area against the number of trees on Waveform."""
    many, n_rows = work.times(2, 10, 10), work.times(300, 1000, 1000)
    x, y = load_sensitivity(work.data, "waveform", n_rows)
    curves: dict[str, list[float]] = {method: [] for method in METHODS}
    for trees in work.each("number of trees", TREES):
        for method in METHODS:
            areas = [
                work.once(
                    f"waveform|{n_rows}|{method}|{trees}|{repetition}",
                    partial(areas_of_numbers, x, y, method, repetition, n_trees=trees),
                )
                for repetition in range(many)
            ]
            curves[method].append(float(np.mean(areas)))
    rows: list[dict[str, Any]] = [
        {"forest": method, **{f"{n}": Value(area) for n, area in zip(TREES, curve, strict=True)}}
        for method, curve in curves.items()
    ]
    gains = {method: curve[-1] - curve[TREES.index(100)] for method, curve in curves.items()}
    about = f"{n_rows} rows, {many} x 2 folds; no values are printed. Columns: number of trees."
    finding = Finding(
        "100 trees are enough for all three forests",
        max(gains.values()) < 0.005,
        "gained from 100 to 200 trees: "
        + ", ".join(f"{method} {gain:+.4f}" for method, gain in gains.items()),
    )
    plot = Plot(
        "fig4",
        "Area under the curve against the number of trees for three forests on Waveform",
        lambda figure: _curves(figure, curves),
        (6.0, 3.8),
    )
    sheet = Sheet("trees", "Figure 4, number of trees on Waveform", rows, about)
    return Result([sheet], [finding], [plot])


def _panels(
    figure: Any, curves: dict[tuple[str, str], list[float]], places: dict[str, list[int]]
) -> None:
    axes = figure.subplots(-(-len(places) // 3), 3, squeeze=False)
    for axis in axes.flat[len(places) :]:
        axis.set_axis_off()
    for axis, name in zip(axes.flat, places, strict=False):
        for method in ("RF", "RSF"):
            axis.plot(
                places[name], curves[name, method], "o-", ms=4, color=COLORS[method], label=method
            )
        low, high = axis.get_ylim()
        if high - low < NARROW:  # noise should not look like a slope
            axis.set_ylim((low + high - NARROW) / 2, (low + high + NARROW) / 2)
        axis.axvline(
            0.5 * places[name][-1], color="0.7", lw=1, ls="--", label="half of the columns"
        )
        axis.set_title(name)
    for axis in axes.flat[max(0, len(places) - 3) : len(places)]:
        axis.set_xlabel("columns per node")
    for axis in axes[:, 0]:
        axis.set_ylabel("area under the curve")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)


def _curves(figure: Any, curves: dict[str, list[float]]) -> None:
    axes = figure.subplots()
    for method, curve in curves.items():
        axes.plot(TREES, curve, "o-", ms=4, color=COLORS[method], label=method)
    axes.set_xscale("log")
    axes.set_xticks(TREES, [str(n) for n in TREES])
    axes.minorticks_off()
    axes.set_xlabel("trees")
    axes.set_ylabel("area under the curve")
    axes.legend(frameon=False, loc="lower right")
