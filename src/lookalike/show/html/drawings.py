"""Small drawings that stand in a line of text."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.show.html.markup import FOR, Html, svg

WIDTH, HEIGHT = 64, 16  # of a drawing, in pixels
MOST = 64  # values that are drawn; of more, neighbors are drawn as their mean


def spark_svg(values: Sequence[float], label: str, *, bars: bool = False) -> Html:
    """Return numbers as a line, or as bars, of the height of the text around it.

    Parameters
    ----------
    values : sequence of float
        What is not finite is drawn as 0.
    label : str
        What it shows, for those who cannot see it.
    bars : bool
        Whether to draw bars (a histogram) instead of a line (a series in time).
    """
    heights = [float(v) if abs(float(v)) < float("inf") else 0.0 for v in values]
    if len(heights) > MOST:
        ends = [len(heights) * i // MOST for i in range(MOST + 1)]
        parts = [heights[ends[i] : ends[i + 1]] for i in range(MOST)]
        heights = [sum(part) / len(part) for part in parts]
    low = min(0.0, *heights) if bars else min(heights)
    span = (max(heights) - low) or 1.0
    step = WIDTH / len(heights)
    tops = [1 + (HEIGHT - 2) * (1 - (height - low) / span) for height in heights]
    if bars:
        shape = "".join(
            f'<rect x="{i * step:.1f}" y="{top:.1f}" width="{max(step - 1, 0.5):.1f}" '
            f'height="{HEIGHT - top:.1f}" fill="{FOR}"/>'
            for i, top in enumerate(tops)
        )
    else:
        points = " ".join(f"{(i + 0.5) * step:.1f},{top:.1f}" for i, top in enumerate(tops))
        shape = f'<polyline points="{points}" fill="none" stroke="{FOR}" stroke-width="1.5"/>'
    return svg(WIDTH, HEIGHT, label, [shape], view=False)
