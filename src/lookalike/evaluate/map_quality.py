"""What a map is worth: whether it shows the neighbors that there are, and uses the drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows
from lookalike.evaluate.space import as_space, needs_distances
from lookalike.measures.contract.base import Measure

SAMPLE = 2000  # rows whose neighbors are looked at
PER_CELL = 4  # rows that a cell of the grid of ``spread`` holds on average


def trustworthiness(
    space: Any, places: Any, k: int = 10, *, sample: int = SAMPLE, random_state: Any = 0
) -> float:
    """Say whether rows that a map shows side by side are alike.

    Rows that are among the k nearest on the map but not in the space count against it, the more
    the farther down in the true list they stand (trustworthiness [1]_). 1: the map shows no false
    neighbors; about 1/2: it shows nothing.

    Parameters
    ----------
    space : fitted measure or square matrix of distances
    places : array of shape (n, 2)
        Where the rows are on the map; any number of columns will do.
    k : int
        Number of neighbors, below half of the rows.
    sample : int
        With more rows, the neighbors of so many of them are looked at, among all.
    random_state : None, int, RandomState or Generator
        For the sample.

    References
    ----------
    .. [1] J. Venna, S. Kaski (2001). Neighborhood preservation in nonlinear projection methods: an
       experimental study. ICANN 2001, 485-491. doi:10.1007/3-540-44668-0_68

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.evaluate import continuity, trustworthiness
    >>> from lookalike.measures import Vector
    >>> rows = np.random.default_rng(0).random((50, 3))
    >>> measure = Vector().fit(rows)
    >>> trustworthiness(measure, rows, k=5), continuity(measure, rows, k=5)
    (1.0, 1.0)
    >>> flat = rows[:, :2]  # rows one above the other fall together: false neighbors
    >>> trustworthiness(measure, flat, k=5) < continuity(measure, flat, k=5)
    True
    """
    return _preserved(space, places, k, sample, random_state, "trustworthiness")


def continuity(
    space: Any, places: Any, k: int = 10, *, sample: int = SAMPLE, random_state: Any = 0
) -> float:
    """Say whether rows that are alike are side by side on a map.

    Rows that are among the k nearest in the space but not on the map count against it, the more the
    farther down in the map's list they stand (continuity [1]_). 1: no neighbors are torn apart.

    Parameters
    ----------
    space : fitted measure or square matrix of distances
    places : array of shape (n, 2)
        Where the rows are on the map; any number of columns will do.
    k : int
        Number of neighbors, below half of the rows.
    sample : int
        With more rows, the neighbors of so many of them are looked at, among all.
    random_state : None, int, RandomState or Generator
        For the sample.

    References
    ----------
    .. [1] J. Venna, S. Kaski (2001). Neighborhood preservation in nonlinear projection methods: an
       experimental study. ICANN 2001, 485-491. doi:10.1007/3-540-44668-0_68

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.evaluate import continuity
    >>> from lookalike.measures import Vector
    >>> line = np.arange(30.0)[:, None]
    >>> torn = np.where(line < 15, line, line + 100)  # neighbors across the gap are lost
    >>> round(continuity(Vector().fit(line), torn, k=3), 3)
    0.978
    """
    return _preserved(space, places, k, sample, random_state, "continuity")


def spread(places: Any) -> float:
    """Say how much of the drawing a map uses.

    The share of the cells of a square grid over the map that hold a row, by the share that as many
    rows strewn evenly at random would fill. Near 1: the whole drawing is used; near 0: the rows lie
    on a line, or in a few heaps with nothing between.

    Parameters
    ----------
    places : array of shape (n, 2)

    Returns
    -------
    float
        Above 1 where rows lie more evenly than chance would have it.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.evaluate import spread
    >>> square = np.random.default_rng(0).random((4000, 2))
    >>> line = square * [1, 0]
    >>> round(spread(square), 1), round(spread(line), 2)
    (1.0, 0.03)
    """
    where = _read_places(places, None, "spread")
    if where.shape[1] != 2:
        found = f"{where.shape[1]} coordinates"
        raise InvalidInput("spread", "two coordinates for each row", found, "Pass a map")
    n = len(where)
    cells = max(1, int(np.sqrt(n / PER_CELL)))
    side = float(np.ptp(where, axis=0).max())
    if side == 0:
        return 1.0 if n == 1 else 0.0
    at = np.minimum(((where - where.min(axis=0)) / side * cells).astype(np.int64), cells - 1)
    used = len(np.unique(at[:, 0] * cells + at[:, 1]))
    return float(used / cells**2 / (1 - (1 - 1 / cells**2) ** n))


def _read_places(places: Any, n: int | None, who: str) -> np.ndarray:
    where = np.asarray(places, dtype=np.float64)
    right = where.ndim == 2 and len(where) > 0 and (n is None or len(where) == n)
    if not right or not np.isfinite(where).all():
        found = f"an array of shape {where.shape}" if not right else "places that are not numbers"
        needed = "a place for each row" if n is None else f"a place for each of {n} rows"
        raise InvalidInput(who, needed, found, "Pass the map of the same rows")
    return where


def _preserved(space: Any, places: Any, k: int, sample: int, random_state: Any, who: str) -> float:
    """Return 1 minus the scaled penalty of neighbors that only one of the two sides has."""
    measure = needs_distances(as_space(space, who), who)
    n = len(measure.rows_)
    where = _read_places(places, n, who)
    if not isinstance(k, int | np.integer) or not 1 <= k < n / 2:
        hint = Phrase("Lower ", Param("k"), ", or add rows")
        raise TooFewRows(
            Param("k", k, of=who), "k of at least 1, below n / 2", Param("n_samples", n), hint
        )
    rng = make_generator(random_state)
    at = np.sort(rng.choice(n, sample, replace=False)) if n > sample else np.arange(n)
    penalty = 0
    for part in blocks(len(at), max(1, 2**21 // n)):
        some = at[part]
        true = _ranks(_true_distances(measure, some), some)
        shown = _ranks(((where[some, None] - where) ** 2).sum(axis=2), some)
        listed, ranks = (shown, true) if who == "trustworthiness" else (true, shown)
        penalty += int(np.maximum(ranks[(listed >= 1) & (listed <= k)] - k, 0).sum())
    # The penalty of the worst map that there can be.
    worst = len(at) * k * (2 * n - 3 * k - 1) / 2
    return float(1 - penalty / worst)


def _true_distances(measure: Measure, some: np.ndarray) -> np.ndarray:
    """Return the distances of some rows to all; pairs that cannot be compared are the farthest."""
    d = measure.block(measure.rows_[some], measure.rows_)
    return np.where(np.isnan(d), np.inf, d)


def _ranks(distances: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return for each row its place in each list, from 1; the row itself is at 0."""
    distances[np.arange(len(own)), own] = -1.0
    order = np.argsort(distances, axis=1, kind="stable")  # ties to the lower index
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(order.shape[1])[None], axis=1)
    return ranks
