"""How much the cells of a column vary, for any kind of cell."""

from __future__ import annotations

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.columns.base import Cells, Distance, missing_rows

EXACT_UP_TO = 32  # cells; beyond it, all pairs cost more than a forest can spend in every node


def variance(
    distance: Distance, cells: Cells, random_state: np.random.Generator | int | None = None
) -> float:
    """Return how much cells vary: half the mean squared distance over all ordered pairs.

    For numbers this is the population variance. Missing cells are left out; fewer than two present
    ones do not vary. Numbers, categories, flags and levels have a short exact formula. Of the
    others, up to 32 cells are compared with each other; more are compared with one of them, drawn
    at random, and the mean squared distance to it is returned: an estimate, but 0 exactly when no
    cell is away from that one.

    Parameters
    ----------
    distance : Distance
        A fitted distance.
    cells : array or Ragged
        Cells that it encoded.
    random_state : numpy Generator or int, optional
        Where the random cell comes from; one number is drawn, and only where it is needed.

    Examples
    --------
    >>> from lookalike.columns.number import Absolute
    >>> from lookalike.table.model.table import Column, Kind
    >>> size = Column("size", Kind("number"), np.array([1.0, 3.0, 5.0]))
    >>> distance = Absolute().fit(size)
    >>> round(variance(distance, distance.encode(size)), 6)
    2.666667
    """
    missing = missing_rows(cells)
    here = cells[~missing] if missing.any() else cells
    n = len(here)
    if n < 2:
        return 0.0
    short = distance._variance(here)
    if short is not None:
        return short
    if n <= EXACT_UP_TO:
        return float((distance.compare(here, here) ** 2).sum() / (2 * n * n))
    pivot = int(make_generator(random_state).integers(n))
    return float((distance.compare(here[[pivot]], here) ** 2).mean())
