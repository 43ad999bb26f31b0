"""The contenders of the paper, the seven scales, and plots with a panel for each set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lookalike.datasets import transforms
from lookalike.measures import ForestProximity, Measure, Ranked, StochasticForest, Vector
from studies.palette import COLOURS, MARKERS, tidy
from studies.result import Plot

DISTANCES = ("cityblock", "euclidean", "cosine", "chebyshev")
PLAIN = DISTANCES
RANKED = tuple(f"ranked {name}" for name in DISTANCES)
SCALES = ("as it is", "exp", "square", "sqrt", "log", "inverse", "exp_minus")
KEPT = SCALES[:5]  # the scales that keep the order of values; the last two reverse it


def scales(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return a table of numbers in [0, 1] on its own scale and on six others."""
    return {"as it is": x, **transforms(x)}


def make(name: str, seed: int | None = 0, trees: int = 1000, height: int = 5) -> Measure:
    """Return a measure of the paper by its name; "SimUSF" and "SimURF" are the forests."""
    forests: dict[str, Any] = {
        "SimUSF": lambda: StochasticForest(trees, height, on_fail="relax", random_state=seed),
        "SimURF": lambda: ForestProximity("oob", n_estimators=trees, random_state=seed),
    }
    if name in forests:
        measure: Measure = forests[name]()
        return measure
    if name.startswith("ranked "):
        return Ranked(name.removeprefix("ranked "))
    return Vector(name)


Scores = dict[str, dict[str, dict[str, float]]]


# One colour for a measure in every figure of the paper.
DRAWN = ("SimUSF", "SimURF", *DISTANCES, "ReFeat")


def _style(measure: str) -> dict[str, Any]:
    """Give a measure and its ranked form one colour; ranks are dashed."""
    base = measure.removeprefix("ranked ")
    at = DRAWN.index(base)
    return {
        "color": COLOURS[at],
        "marker": MARKERS[at],
        "linestyle": "--" if measure != base else "-",
        "markersize": 3,
        "linewidth": 1.0,
        "markerfacecolor": "white" if measure != base else COLOURS[at],
    }


def panel_plot(name: str, found: Scores, measures: Sequence[str], y: str, across: int) -> Plot:
    """Return a plot with a panel for each set."""
    down = -(-len(found) // across)

    def draw(figure: Any) -> None:
        grid = figure.subplots(down, across, squeeze=False)
        for axes, (title, scores) in zip(grid.ravel(), found.items(), strict=False):
            shown = [scale for scale in SCALES if scale in next(iter(scores.values()))]
            for measure in measures:
                values = [scores[measure][scale] for scale in shown]
                axes.plot(shown, values, label=measure, **_style(measure))
            axes.tick_params(axis="x", rotation=45, labelsize=8)
            tidy(axes, "", y, title)
        for axes in grid.ravel()[len(found) :]:
            axes.set_visible(False)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False,
                      fontsize=8)  # fmt: skip

    alt = f"{y} on each scale for {len(found)} sets: forests and ranks are flat, distances move"
    width = 2.9 * across if across > 1 else 6.0
    return Plot(name, alt, draw, (width, 2.1 * down + 1.0))
