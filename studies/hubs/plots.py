"""Figures 5, 6 and 7: bars for each set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from studies.hubs.published import SPACES
from studies.palette import COLOURS, tidy
from studies.result import Plot

Found = dict[str, dict[str, dict[str, float]]]


def bars(
    axes: Any,
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    colours: Sequence[str],
    x: str,
) -> None:
    """Draw horizontal bars, one group for each name, the first on top."""
    height = 0.8 / len(series)
    at = np.arange(len(names))
    for place, (title, values) in enumerate(series.items()):
        axes.barh(at + (place - (len(series) - 1) / 2) * height, values, height, label=title,
                  color=colours[place])  # fmt: skip
    axes.set_yticks(at, names, fontsize=8)
    if not axes.yaxis_inverted():  # panels that share an axis turn together
        axes.invert_yaxis()
    tidy(axes, x)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.axvline(0, color="black", linewidth=0.6)


def gain_plot(found: Found, k: int) -> Plot:
    """Return Figure 5 (k = 1) or 6 (k = 5): gain in accuracy, and hubness before and after."""

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        names = list(found)
        gains: dict[str, Sequence[float]] = {
            space: [one[space][f"C{k}"] - one["original"][f"C{k}"] for one in found.values()]
            for space in SPACES[1:]
        }
        bars(left, names, gains, COLOURS[:2], f"gain of C{k}, percentage points")
        hubs: dict[str, Sequence[float]] = {
            space: [one[space][f"S{k}"] for one in found.values()] for space in SPACES
        }
        bars(right, names, hubs, ("#999999", *COLOURS[:2]), f"hubness S{k}")
        right.tick_params(labelleft=False)
        right.legend(frameon=False, fontsize=8, loc="lower right")

    alt = f"Bars per set: gain of C{k} by NICDM and MP, and hubness before and after"
    return Plot(f"figure{5 if k == 1 else 6}", alt, draw, (8.0, 6.5))


def symmetry_plot(found: Found) -> Plot:
    """Return Figure 7: the share of neighbors that are mutual."""

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, key, title in (
            (panels[0], "symmetric 5", "k = 5"),
            (panels[1], "symmetric 10 %", "k = 10 % of n"),
        ):
            series: dict[str, Sequence[float]] = {
                space: [one[space][key] for one in found.values()] for space in SPACES
            }
            bars(axes, list(found), series, ("#999999", *COLOURS[:2]),
                 f"mutual neighbors, %, {title}")  # fmt: skip
        panels[1].tick_params(labelleft=False)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                      frameon=False, fontsize=8)  # fmt: skip

    alt = (
        "Bars per set: share of mutual neighbors before and after scaling, in short and long lists"
    )
    return Plot("figure7", alt, draw, (8.0, 6.5))
