"""Scatter plots and sparklines as SVG, and matplotlib figures."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lookalike._runtime.extras import needing
from lookalike.show.html.markup import COLORS, FOR, Html, color_key, escape, figure, svg


def new_figure(who: str, width: float, height: float) -> Any:
    """Return an empty matplotlib figure; without pyplot, so nothing global is touched.

    Parameters
    ----------
    who : str
        Who is drawing, for the message where matplotlib is missing.
    width, height : float
        In inches.
    """
    with needing("report", who):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout="constrained")


SPARK_WIDTH, SPARK_HEIGHT = 64, 16  # of a sparkline, in pixels
MAX_SPARK_VALUES = 64  # one for each pixel; more values are averaged in parts


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
    # NaN compares as false, so it becomes 0 as well.
    heights = [float(v) if abs(float(v)) < float("inf") else 0.0 for v in values]
    if len(heights) > MAX_SPARK_VALUES:  # averaged in parts
        ends = [len(heights) * i // MAX_SPARK_VALUES for i in range(MAX_SPARK_VALUES + 1)]
        heights = [sum(heights[a:b]) / (b - a) for a, b in pairwise(ends)]
    # Bars start at 0, a line fills its height: only its shape is wanted.
    low = min(0.0, *heights) if bars else min(heights)
    # A constant line would be 0 / 0.
    span = (max(heights) - low) or 1.0
    step = SPARK_WIDTH / len(heights)
    tops = [1 + (SPARK_HEIGHT - 2) * (1 - (height - low) / span) for height in heights]
    if bars:
        shape = "".join(
            f'<rect x="{i * step:.1f}" y="{top:.1f}" width="{max(step - 1, 0.5):.1f}" '
            f'height="{SPARK_HEIGHT - top:.1f}" fill="{FOR}"/>'
            for i, top in enumerate(tops)
        )
    else:
        points = " ".join(f"{(i + 0.5) * step:.1f},{top:.1f}" for i, top in enumerate(tops))
        shape = f'<polyline points="{points}" fill="none" stroke="{FOR}" stroke-width="1.5"/>'
    return svg(SPARK_WIDTH, SPARK_HEIGHT, label, [shape], view=False)


WIDTH = 480.0  # of the drawing; it grows and shrinks with the page
MARGIN = 8.0
# Font sizes on a drawing, in its units, on a wide page and on a phone (see page.css), and the mean
# width of a letter as a share of the font size.
FONT_WIDE, FONT_PHONE, LETTER_WIDTH = 10.0, 18.0, 0.62
TRIED_LINES = (0.0, -1.2, 1.2, -2.4, 2.4)  # up or down from the middle of a group


def frame(places: np.ndarray) -> tuple[np.ndarray, float]:
    """Return points in the units of a drawing, up the page, and its height; shapes are kept.

    Parameters
    ----------
    places : float array of shape (n, 2)
    """
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    # One scale for both axes: a map that is stretched would change its distances.
    scale = (WIDTH - 2 * MARGIN) / max(float(span[0]), float(span[1]) * 0.8, 1e-12)
    xy = (places - low) * scale + MARGIN
    # Rows on one horizontal line still need a drawing of some height.
    height = max(float(span[1]) * scale + 2 * MARGIN, 60.0)
    xy[:, 0] += (WIDTH - 2 * MARGIN - float(span[0]) * scale) / 2
    # SVG counts from the top.
    xy[:, 1] = height - xy[:, 1]
    return xy, round(height, 1)


def dots(xy: np.ndarray, color: str, size: float) -> Html:
    """Return one element that draws a dot at each point; equal points are drawn once.

    Parameters
    ----------
    xy : float array of shape (n, 2)
    color : str
    size : float
        Width of a dot.
    """
    if not len(xy):
        return Html("")
    # Half a unit is below a pixel: a map of many rows stays small.
    halves = np.unique(np.round(xy * 2).astype(np.int64), axis=0) / 2
    path = "".join(f"M{x:g} {y:g}h0" for x, y in halves.tolist())
    return Html(
        f'<path d="{path}" stroke="{color}" stroke-width="{size:g}" stroke-linecap="round" '
        'fill="none" stroke-opacity=".8"/>'
    )


def mark(point: Sequence[float] | np.ndarray, radius: float, color: str, title: str) -> Html:
    """Return a circle with a tooltip."""
    return Html(
        f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="{radius:.1f}" fill="{color}" '
        f'fill-opacity=".75" stroke="currentColor" stroke-width=".5">'
        f"<title>{escape(title)}</title></circle>"
    )


def words(
    point: Sequence[float], text: str, anchor: str = "middle", *, roomy: bool = False
) -> Html:
    """Return text on a drawing, outlined so that it can be read above dots.

    Parameters
    ----------
    point : x and y
    text : str
    anchor : {"start", "middle", "end"}
    roomy : bool
        Whether they are left out on a narrow page, where words are larger.
    """
    narrow, (x, y) = ' class="roomy"' if roomy else "", point
    return Html(
        f'<text{narrow} x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="11" '
        'font-weight="600" fill="currentColor" stroke="var(--ground,transparent)" '
        f'stroke-width="3" stroke-linejoin="round" paint-order="stroke">{escape(text)}</text>'
    )


def scatter(
    places: np.ndarray,
    groups: np.ndarray,
    names: Sequence[str],
    label: str,
    caption: str = "",
    notes: Sequence[str] = (),
) -> Html:
    """Return a map of points in groups: colored, named on the map, and counted in the key.

    Parameters
    ----------
    places : float array of shape (n, 2)
    groups : int array of n
        The group of each point, as a position in ``names``.
    names : sequence of str
        At most as many as there are colors get one of their own.
    label : str
        What it shows, for those who cannot see it.
    caption : str
    notes : sequence of str
        Added to each group in the key; empty: nothing.
    """
    xy, height = frame(places)
    counts = np.bincount(groups, minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    # Smaller dots for more rows, so that they do not merge into one area.
    size = float(np.clip(90 / np.sqrt(len(xy)), 2.2, 7.0))
    colors = [COLORS[min(i, len(COLORS) - 1)] for i in range(len(names))]
    # Large groups first, so that small ones lie on top of them.
    parts: list[str] = [dots(xy[groups == i], colors[i], size) for i in order.tolist()]
    parts += _names(xy, groups, names, order, height)
    suffixes = [f": {note}" if note else "" for note in notes] or [""] * len(names)
    texts = [f"{name} ({n:,}){end}" for name, n, end in zip(names, counts, suffixes, strict=True)]
    key = zip(colors, texts, strict=True)
    return figure(svg(WIDTH, height, label, parts) + color_key(key), caption, "map")


def _names(
    xy: np.ndarray, groups: np.ndarray, names: Sequence[str], order: np.ndarray, height: float
) -> list[str]:
    """Return the names of groups on the map, where they do not cover each other.

    Those that fit on a phone come first, then those that fit on a wide page.
    """
    placed: list[tuple[float, float, float]] = []  # half the letters, and the place, of each name
    out: list[str] = []
    left: list[int] = order.tolist()
    for size, roomy in ((FONT_PHONE, False), (FONT_WIDE, True)):
        tried, left = left, []
        for group in tried:
            members = xy[groups == group]
            if not len(members):
                continue
            # Within the group: the point nearest to its median, since groups may be bent.
            nearest = np.abs(members - np.median(members, axis=0)).sum(axis=1).argmin()
            half = LETTER_WIDTH * len(names[group]) / 2
            # Moved into the drawing, where a name would be cut at its edge.
            edge = half * size + 2
            x = float(np.clip(members[nearest][0], edge, max(edge, WIDTH - edge)))
            for lines in TRIED_LINES:
                y = float(members[nearest][1] + (0.35 + lines) * size)
                near = ((abs(x - u), abs(y - v), (half + h) * size) for h, u, v in placed)
                free = all(across >= wide or along >= 1.2 * size for across, along, wide in near)
                if free and size <= y <= height - 4:
                    placed.append((half, x, y))
                    out.append(words((x, y), names[group], roomy=roomy))
                    break
            else:
                left.append(group)
    return out
