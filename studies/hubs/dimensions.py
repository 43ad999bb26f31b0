"""Figures 10 and 11: hubness and intrinsic dimension of uniform data of more and more columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lookalike.evaluate import intrinsic_dimension
from lookalike.evaluate.dimension import classical_scaling
from lookalike.hubness import k_occurrence, skewness
from lookalike.measures import Vector
from studies.hubs.published import SPACES
from studies.hubs.spaces import distances_of, scaled
from studies.palette import COLOURS, MARKERS, tidy
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

ROWS = 1000
EVERY = tuple(range(5, 51, 5))
SOME = (5, 15, 30, 50)
Found = dict[int, dict[str, dict[str, float]]]


def run(work: Work) -> Result:
    """Draw uniform tables and measure them before and after scaling."""
    widths = work.pick(SOME, EVERY, EVERY)
    found: Found = {
        d: work.once(f"{d}", partial(_look, d)) for d in work.each("dimensions", widths)
    }
    rows = [
        {"d": d}
        | {
            f"{key}, {space}": Value(one[space][key], digits=2 if "S5" in key else 1)
            for key in ("S5", "S5 embedded", "d_mle embedded")
            for space in SPACES
        }
        | {"d_mle, original": Value(one["original"]["d_mle"], digits=1)}
        for d, one in found.items()
    ]
    about = (
        f"{ROWS} rows, uniform on [0, 1], one table for each d (seed d). Embedded: classical "
        "scaling of the distances of each space to 2d dimensions, then Euclidean. The figures "
        "show no numbers."
    )
    wide = {d: found[d]["original"]["S5"] for d in sorted(found) if d >= 30}
    first, last = min(wide), max(wide)
    least = min(wide, key=lambda d: wide[d])
    rises = [found[d]["original"]["d_mle"] for d in sorted(found)]
    never = [
        found[d][space]["d_mle embedded"] >= found[d]["original"]["d_mle embedded"]
        for d in found
        for space in SPACES[1:]
    ]
    # One table per d: a single S5 may fall below 2, so the mean from 30 columns on is judged.
    low = max(found[d][space]["S5"] for d in found for space in SPACES[1:])
    findings = [
        Finding(
            "Uniform data have hubs from 30 columns on: S5 above 2",
            wide[first] > 2 and float(np.mean(list(wide.values()))) > 2,
            f"S5 {wide[first]:.2f} at d = {first}, {wide[last]:.2f} at {last}, lowest from {first} "
            f"on {wide[least]:.2f} at {least}; one table for each d; scaled at most {low:.2f}",
            headline=True,
        ),
        Finding(
            "The estimated dimension rises with the number of columns",
            bool((np.diff(rises) > 0).all()),
            ", ".join(f"{v:.1f}" for v in rises),
        ),
        Finding(
            "Scaling does not lower the intrinsic dimension",
            all(never),
            f"{sum(never)} of {len(never)} embedded spaces have at least the dimension of the "
            "original",
        ),
    ]
    sheet = Sheet("dimensions", "Figures 10 and 11: hubness against dimension", rows, about)
    return Result([sheet], findings, [_plot10(found), _plot11(found)])


def _look(d: int) -> dict[str, dict[str, float]]:
    x = np.random.default_rng(d).random((ROWS, d))
    found: dict[str, dict[str, float]] = {}
    for title, space in scaled(distances_of(x, "euclidean")).items():
        points = Vector().fit(classical_scaling(space.distance(), 2 * d))
        found[title] = {
            "S5": skewness(k_occurrence(space, 5)),
            "S5 embedded": skewness(k_occurrence(points, 5)),
            "d_mle embedded": intrinsic_dimension(points),
        }
    found["original"]["d_mle"] = intrinsic_dimension(Vector().fit(x))
    return found


def _lines(axes: Any, found: Found, key: str, y: str, spaces: tuple[str, ...] = SPACES) -> None:
    for at, space in enumerate(spaces):
        axes.plot([*found], [one[space][key] for one in found.values()], color=COLOURS[at],
                  marker=MARKERS[at], markersize=4, label=space)  # fmt: skip
    tidy(axes, "columns d", y)
    axes.legend(frameon=False, fontsize=8)


def _plot10(found: Found) -> Plot:
    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        _lines(left, found, "S5", "hubness S5")
        _lines(right, found, "d_mle", "estimated dimension", SPACES[:1])

    return Plot("figure10", "Hubness and estimated dimension rise with the columns; scaled spaces "
                "stay low", draw, (8.0, 3.2))  # fmt: skip


def _plot11(found: Found) -> Plot:
    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        _lines(left, found, "S5 embedded", "hubness S5, embedded")
        _lines(right, found, "d_mle embedded", "estimated dimension, embedded")

    return Plot("figure11", "Hubness and estimated dimension of the three spaces after classical "
                "scaling", draw, (8.0, 3.2))  # fmt: skip
