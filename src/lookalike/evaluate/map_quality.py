"""Quality of a map (a projection to the plane): true neighbors shown, area used."""

from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows
from lookalike.evaluate.space import as_space, needs_distances

SAMPLE_ROWS = 2000  # rows whose neighbors are compared; chosen by hand
ROWS_PER_CELL = 4  # of the grid of ``spread``, on average; chosen by hand


def trustworthiness(
    space: Any, coordinates: Any, k: int = 10, *, sample: int = SAMPLE_ROWS, random_state: Any = 0
) -> float:
    """Measure whether rows that are neighbors on a map are alike.

    Rows that are among the k nearest on the map but not in the space count against it, the more
    the higher their rank in the true list (trustworthiness [1]_). 1: the map shows no false
    neighbors; about 1/2: it shows nothing.

    Parameters
    ----------
    space : fitted measure or square matrix of distances
    coordinates : array of shape (n, 2)
        Of the rows on the map; any number of columns will do.
    k : int
        Number of neighbors, below half of the rows.
    sample : int
        With more rows, only so many are scored; their neighbors are still searched among all.
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
    return _preserved(space, coordinates, k, sample, random_state, "trustworthiness")


def continuity(
    space: Any, coordinates: Any, k: int = 10, *, sample: int = SAMPLE_ROWS, random_state: Any = 0
) -> float:
    """Measure whether rows that are alike are neighbors on a map.

    Rows that are among the k nearest in the space but not on the map count against it, the more the
    higher their rank in the map's list (continuity [1]_). 1: no neighbors are torn apart.

    Parameters
    ----------
    space : fitted measure or square matrix of distances
    coordinates : array of shape (n, 2)
        Of the rows on the map; any number of columns will do.
    k : int
        Number of neighbors, below half of the rows.
    sample : int
        With more rows, only so many are scored; their neighbors are still searched among all.
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
    return _preserved(space, coordinates, k, sample, random_state, "continuity")


def spread(coordinates: Any) -> float:
    """Return how much of its bounding square a map uses.

    The share of the cells of a square grid over the map that hold a row, by the share that as many
    rows drawn from a uniform distribution would fill. Near 1: the whole square is used; near 0: the
    rows lie on a line, or in a few tight clusters.

    Parameters
    ----------
    coordinates : array of shape (n, 2)

    Returns
    -------
    float
        Above 1 where rows lie more evenly than a uniform sample.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.evaluate import spread
    >>> square = np.random.default_rng(0).random((4000, 2))
    >>> line = square * [1, 0]
    >>> round(spread(square), 1), round(spread(line), 2)
    (1.0, 0.03)
    """
    points = _read_coordinates(coordinates, None, "spread")
    n, width = points.shape
    if width != 2:
        needed = "two coordinates for each row"
        raise InvalidInput("spread", needed, f"{width} coordinates", "Pass a map")
    cells = max(1, int(np.sqrt(n / ROWS_PER_CELL)))
    side = float(np.ptp(points, axis=0).max())
    if side == 0:
        return 1.0 if n == 1 else 0.0
    # The largest coordinate lies on the far edge of the last cell, not beyond it.
    cell = np.minimum(((points - points.min(axis=0)) / side * cells).astype(np.int64), cells - 1)
    used = len(np.unique(cell[:, 0] * cells + cell[:, 1]))
    # A uniform sample leaves a cell empty with probability (1 - 1 / cells**2)**n.
    return float(used / cells**2 / (1 - (1 - 1 / cells**2) ** n))


def _read_coordinates(coordinates: Any, n: int | None, who: str) -> np.ndarray:
    points = np.asarray(coordinates, dtype=np.float64)
    fits = points.ndim == 2 and len(points) > 0 and (n is None or len(points) == n)
    if not fits or not np.isfinite(points).all():
        found = "values that are not finite" if fits else f"an array of shape {points.shape}"
        needed = "coordinates for each row" if n is None else f"coordinates for each of {n} rows"
        raise InvalidInput(who, needed, found, "Pass the map of the same rows")
    return points


def _preserved(
    space: Any, coordinates: Any, k: int, sample: int, random_state: Any, who: str
) -> float:
    """Return 1 minus the scaled penalty of neighbors that only one of the two sides has."""
    measure = needs_distances(as_space(space, who), who)
    n = len(measure.rows_)
    points = _read_coordinates(coordinates, n, who)
    # From k = n / 2 on, the penalty of the worst map (below) is no longer the largest possible.
    if not isinstance(k, int | np.integer) or not 1 <= k < n / 2:
        needed, hint = "k >= 1 and k < n / 2", Phrase("Lower ", Param("k"), ", or add rows")
        raise TooFewRows(Param("k", k, of=who), needed, Param("n_samples", n), hint)
    rng = make_generator(random_state)
    sampled = np.sort(rng.choice(n, sample, replace=False)) if n > sample else np.arange(n)
    penalty = 0
    for part in blocks(len(sampled), max(1, 2**21 // n)):  # 16 MB of distances at a time
        rows = sampled[part]
        true = _ranks(measure.block(measure.rows_[rows], measure.rows_), rows)
        shown = _ranks(((points[rows, None] - points) ** 2).sum(axis=2), rows)
        listed, ranks = (shown, true) if who == "trustworthiness" else (true, shown)
        penalty += int(np.maximum(ranks[(listed >= 1) & (listed <= k)] - k, 0).sum())
    # Worst map: all k listed rows of each row have the highest ranks, n - k to n - 1.
    worst = len(sampled) * k * (2 * n - 3 * k - 1) / 2
    return float(1 - penalty / worst)


def _ranks(distances: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return for each row its rank in each list, from 1; the row itself has rank 0."""
    distances[np.isnan(distances)] = np.inf  # pairs that cannot be compared are the farthest
    distances[np.arange(len(own)), own] = -1.0
    order = np.argsort(distances, axis=1, kind="stable")  # ties to the lower index
    return np.argsort(order, axis=1)
