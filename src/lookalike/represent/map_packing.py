"""Separate parts of a map, put side by side."""

from __future__ import annotations

import numpy as np

GAP = 1.5  # between two parts, in sides of the square that belongs to one row
SHAPE = 1.25  # width by height that the whole drawing aims at
WIDTHS = np.geomspace(1.0, 2.5, 13)  # tried: these times the narrowest that is possible


def fit_square(places: np.ndarray) -> np.ndarray:
    """Put the middle of a map at (0, 0) and make its longer side 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    longer = float((high - low).max())
    centered = places - (low + high) / 2
    return np.asarray(centered / longer) if longer > 0 else np.zeros_like(places)


def pack(sides: np.ndarray, gap: float = GAP) -> np.ndarray:
    """Return the lower left corners of rectangles put on shelves, in the order given.

    The first shelf begins with the first rectangle; shelves are filled from the left and stand on
    each other. Of several widths the one is taken whose drawing wastes least of a page.

    Parameters
    ----------
    sides : float array of shape (m, 2)
        Widths and heights; best the largest first.
    gap : float
        Left free between two of them.

    Returns
    -------
    float array of shape (m, 2)
    """
    padded = sides + gap
    least = max(float(padded[:, 0].max()), float(np.sqrt(padded.prod(axis=1).sum())))
    best, found = np.inf, np.zeros_like(sides)
    for width in least * WIDTHS:
        corners, wide, tall = _shelves(padded, float(width))
        page = max(wide / SHAPE, tall)
        if page < best:
            best, found = page, corners
    return found


def _shelves(padded: np.ndarray, width: float) -> tuple[np.ndarray, float, float]:
    """Fill shelves of one width; return corners, and the width and height that are used."""
    corners = np.empty_like(padded)
    x = y = tall = wide = 0.0
    for at, (across, up) in enumerate(padded.tolist()):
        if x > 0 and x + across > width * (1 + 1e-12):
            x, y, tall = 0.0, y + tall, 0.0
        corners[at] = x, y
        x, tall = x + across, max(tall, up)
        wide = max(wide, x)
    return corners, wide, y + tall
