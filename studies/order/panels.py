"""One panel for each set: a score on each scale, a line for each measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.order.methods import DISTANCES, SCALES
from studies.palette import COLOURS, MARKERS, tidy
from studies.result import Plot

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
