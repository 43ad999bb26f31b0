"""The pictures of the study: one panel for each set, and lines that can be distinguished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# Okabe and Ito's colors, which colour-blind readers can distinguish; markers for the others.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "osD^vPX"

Curve = tuple[Sequence[Any], Sequence[float]]


def draw_curves(
    axes: Any,
    curves: Mapping[str, Curve],
    line: float | None = None,
    line_name: str = "",
    *,
    small: bool = False,
) -> None:
    """Draw named curves on one pair of axes, and a level to compare with."""
    for at, (name, (x, y)) in enumerate(curves.items()):
        style = {"color": COLORS[at % len(COLORS)], "marker": MARKERS[at % len(MARKERS)]}
        axes.plot(x, y, label=name, lw=1.3, ms=3.5 if small else 5, **style)
    if line is not None:
        axes.axhline(line, color="0.35", ls="--", lw=1, label=line_name)
    words = [x for x, _ in curves.values() if len(x) and isinstance(x[0], str)]
    if words and len(axes.figure.axes) > 1:  # side by side, level words would touch
        axes.set_xticks(range(len(words[0])), words[0], rotation=25, ha="right")
    steps = sorted({one for x, _ in curves.values() for one in x if not isinstance(one, str)})
    if steps:  # layers and powers are few: no tick at a power that was not tried
        axes.set_xticks(steps)
    axes.grid(alpha=0.25, lw=0.5)
    axes.tick_params(labelsize=7 if small else 9)


def draw_panels(
    figure: Any,
    panels: Mapping[str, Mapping[str, Curve]],
    lines: Mapping[str, float] | None = None,
    line_name: str = "",
    *,
    x_label: str = "",
    y_label: str = "test error, %",
    columns: int = 4,
) -> None:
    """Draw one small panel for each set and one legend for all."""
    rows = int(np.ceil((len(panels) + 1) / columns))
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (name, curves) in zip(grid, panels.items(), strict=False):
        level = None if lines is None else lines.get(name)
        draw_curves(axes, curves, level, line_name, small=True)
        axes.set_title(name, fontsize=9)
    for axes in grid[len(panels) :]:
        axes.axis("off")
    handles, labels = grid[0].get_legend_handles_labels()
    grid[-1].legend(handles, labels, loc="center", fontsize=8, frameon=False)
    figure.supxlabel(x_label, fontsize=9)
    figure.supylabel(y_label, fontsize=9)
