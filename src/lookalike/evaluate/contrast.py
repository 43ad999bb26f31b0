"""How far distances are apart from each other: whether nearest neighbors mean anything."""

from typing import Any, NamedTuple

import numpy as np

from lookalike.errors import TooFewRows
from lookalike.evaluate.space import as_space, distance_blocks, needs_distances


class DistanceContrast(NamedTuple):
    """Concentration and contrast of the distances of a space.

    Parameters
    ----------
    concentration : float
        Standard deviation over mean of all distances. Near 0 all rows are about as far from each
        other; it falls as the number of independent columns grows [1]_.
    relative_contrast : float
        Mean distance over the mean distance to the nearest other row. Near 1 the nearest row is
        hardly nearer than any [2]_. Infinite if every row has another at distance 0.

    References
    ----------
    .. [1] D. Francois, V. Wertz, M. Verleysen (2007). The concentration of fractional distances.
       IEEE Transactions on Knowledge and Data Engineering 19(7). doi:10.1109/TKDE.2007.1037
    .. [2] J. He, S. Kumar, S.-F. Chang (2012). On the difficulty of nearest neighbor search.
       International Conference on Machine Learning.

    Examples
    --------
    >>> from lookalike.evaluate import distance_contrast
    >>> found = distance_contrast([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> round(found.concentration, 3), round(found.relative_contrast, 3)
    (0.408, 1.5)
    """

    concentration: float
    relative_contrast: float


def distance_contrast(space: Any) -> DistanceContrast:
    """Return the concentration and the relative contrast of distances, over all pairs of rows.

    Parameters
    ----------
    space : fitted measure or square matrix of distances
        Pairs that cannot be compared are left out.

    Returns
    -------
    DistanceContrast

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.evaluate import distance_contrast
    >>> from lookalike.measures import Vector
    >>> rng = np.random.default_rng(0)
    >>> few, many = (Vector().fit(rng.normal(size=(200, columns))) for columns in (2, 200))
    >>> distance_contrast(few).concentration > 5 * distance_contrast(many).concentration
    True
    """
    who = "distance_contrast"
    measure = needs_distances(as_space(space, who), who)
    n = len(measure.rows_)
    count = total = squares = 0.0
    nearest, shift = np.full(n, np.inf), None
    for rows, _, d in distance_blocks(measure):
        known = d[np.isfinite(d)]
        if shift is None and len(known):
            shift = float(known.mean())
        # Around a value near the mean: squares of large, close distances would cancel.
        away = known - (shift or 0.0)
        count, total, squares = count + len(away), total + away.sum(), squares + (away**2).sum()
        nearest[rows] = np.fmin(nearest[rows], np.fmin.reduce(d, axis=1, initial=np.inf))
    found = nearest[np.isfinite(nearest)]
    if not count:
        raise TooFewRows(who, "two rows that can be compared", f"{n} rows", "Add rows")
    mean = (shift or 0.0) + total / count
    spread = float(np.sqrt(max(0.0, squares / count - (total / count) ** 2)))
    least = float(found.mean())
    with np.errstate(divide="ignore", invalid="ignore"):
        # Rows that are all alike have no contrast at all.
        ratios = np.divide([spread, mean], [mean, least])
    concentration, relative = np.where(mean > 0, ratios, [0.0, 1.0])
    return DistanceContrast(float(concentration), float(relative))
