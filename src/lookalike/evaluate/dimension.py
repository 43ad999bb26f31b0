"""How distances spread: the dimension that they grow by, and whether they differ at all."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from lookalike.errors import InvalidInput, LookalikeWarning, Param, TooFewRows, UndefinedMeasure
from lookalike.evaluate.space import as_space, distance_blocks, needs_distances
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.vector import Vector
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Choice, Integer, Maybe

WHO = "intrinsic_dimension"
TIE_TOLERANCE = 1e-12  # relative; distances that differ by less differ by rounding (by hand)


def intrinsic_dimension(
    space: Any,
    k1: int = 6,
    k2: int = 12,
    *,
    average: str = "levina",
    scale: str | None = None,
    embed: int | None = None,
) -> float:
    """Estimate how many directions rows vary in, however many columns they have.

    With T_j the distance of a row to its j-th neighbor, its estimate for one k is the inverse of
    ``sum_{j<k} log(T_k / T_j) / (k - 2)``; the result is the mean over rows, then over k from k1
    to k2 [1]_. Duplicates are left out. In 3 dimensions 300 uniform points give about 2.8: the
    estimate is low by a little.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
        Best a ``Vector``. The formula is about Euclidean distances: a reducer such as
        ``MutualProximity`` is first embedded (see ``embed``), and a bare matrix is assumed to hold
        such distances, with a warning.
    k1, k2 : int
        Smallest and largest number of neighbors; k1 >= 3.
    average : {"levina", "mackay"}
        Mean over rows of the estimates, or of their inverses [2]_.
    scale : None, "std" or "variance"
        For a ``Vector``: center the columns and divide them first. The program of the paper that
        made the measure known among hub researchers divides by the variance.
    embed : int, optional
        Put the rows into a space of that many dimensions by classical scaling before the
        estimate. Default for reducers: twice the number of columns.

    References
    ----------
    .. [1] Levina, Bickel (2005). Maximum Likelihood Estimation of Intrinsic Dimension. Advances in
       Neural Information Processing Systems 17.
    .. [2] MacKay, Ghahramani (2005). Comments on 'Maximum Likelihood Estimation of Intrinsic
       Dimension' by E. Levina and P. Bickel.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.evaluate import intrinsic_dimension
    >>> from lookalike.measures import Vector
    >>> flat = np.random.default_rng(0).random((300, 2))
    >>> sheet = np.column_stack([flat, flat.sum(axis=1), flat @ [2.0, -1.0]])  # 4 columns, a plane
    >>> 1.8 < intrinsic_dimension(Vector().fit(sheet)) < 2.2
    True
    """
    if not Integer(3).fits(k1) or not Integer(3).fits(k2) or k2 < k1:
        found, where = f"{k1!r}, {k2!r}", Param("k1", k1, of=WHO)
        raise InvalidInput(where, "3 <= k1 <= k2", found, "Choose other ones")
    Choice("levina", "mackay").check(WHO, "average", average)
    Choice("std", "variance", None).check(WHO, "scale", scale)
    Maybe(Integer(1)).check(WHO, "embed", embed, "Raise it")
    if isinstance(space, np.ndarray | list):
        found = "a bare matrix, which need not be of such distances"
        hint = ("Pass a fitted Vector, or ", Param("embed"))
        warnings.warn(LookalikeWarning(WHO, "Euclidean distances", found, hint), stacklevel=2)
    checked, blur = as_space(space, WHO), 0.0
    if isinstance(checked, Measure):
        if scale is not None:
            checked = _rescaled(checked, scale)
        # A reducer rescales the distances of another measure, which are then no longer Euclidean.
        if embed is None and hasattr(checked, "measure_"):
            embed = 2 * int(checked.n_features_in_)
        if embed is not None:
            points = classical_scaling(checked.distance(), embed)
            # Eigenvectors are exact to rounding times the largest eigenvalue, which is an error of
            # squared distances: what lies nearer than its root is the same point.
            largest = np.square(points).sum(axis=0).max(initial=0.0)
            blur = float(np.sqrt(8 * np.finfo(np.float64).eps * largest))
            checked = Vector().fit(points)
    elif scale is not None or embed is not None:
        needed = "rows to scale or embed"
        raise InvalidInput(WHO, needed, "a NeighborGraph", "Pass the fitted measure")
    return _estimate(_near(checked, k2, blur), k1, k2, average, blur)


def _near(space: Measure | NeighborGraph, k: int, blur: float = 0.0) -> np.ndarray:
    """Return the distances to the k nearest among rows that are more than ``blur`` apart."""
    if isinstance(space, NeighborGraph):
        if space.k < k or (space.distances[:, 0] == 0).any():
            needed = f"lists of {k} neighbors without duplicates (distance 0)"
            found = f"lists of {space.k}, {int((space.distances[:, 0] == 0).sum())} duplicates"
            raise InvalidInput(WHO, needed, found, "Pass the fitted measure or the matrix")
        return space.distances[:, :k]

    def search(rows: Rows) -> np.ndarray:
        return space.nearest(rows, rows, k, exclude=np.arange(len(rows))).finish().distances

    rows = space.rows_
    # Most tables have no duplicates: one search shows it, and the loop over all pairs is saved.
    if len(rows) > k and ((near := search(rows))[:, 0] > blur).all():
        return near
    keep = np.ones(len(rows), dtype=bool)
    for down, across, d in distance_blocks(space):
        earlier = np.arange(across.start, across.stop) < np.arange(down.start, down.stop)[:, None]
        keep[down] &= ~((d <= blur) & earlier).any(axis=1)  # the first of equal rows is kept
    n = int(keep.sum())
    if n <= k:
        needed, hint = f"more than {k} different rows", ("Lower ", Param("k2"))
        raise TooFewRows(Param("k2", k, of=WHO), needed, Param("n_samples", n), hint)
    return search(rows[keep])


def _estimate(near: np.ndarray, k1: int, k2: int, average: str, blur: float = 0.0) -> float:
    logs = np.log(near)
    nearest = near[:, 0]
    estimates, skipped = [], 0
    for k in range(k1, k2 + 1):
        inverse = (logs[:, k - 1 : k] - logs[:, : k - 1]).sum(axis=1) / (k - 2)
        # All k neighbors equally far, but for rounding: the sum of logarithms is 0 or noise, its
        # inverse infinite or 1e11. The difference of squares is factored, so that it does
        # not cancel; an embedding is exact to ``blur`` in squared distances only.
        last = near[:, k - 1]
        tied = np.maximum(TIE_TOLERANCE * last * last, blur * blur)
        some = (last - nearest) * (last + nearest) > tied
        skipped += int((~some).sum())
        if not some.any():
            found = f"{k} equally far neighbors for every row"
            hint = ("Raise ", Param("k1"), ", or use a measure with fewer ties")
            raise UndefinedMeasure(WHO, "neighbors at different distances", found, hint)
        inverse = inverse[some]
        estimates.append((1 / inverse).mean() if average == "levina" else 1 / inverse.mean())
    share = skipped / (len(near) * len(estimates))
    if share > 0.1:
        needed = "neighbors at different distances"
        found = f"{share:.0%} of the rows with all equally far, which were left out"
        warnings.warn(LookalikeWarning(WHO, needed, found), stacklevel=3)
    return float(np.mean(estimates))


def _rescaled(measure: Measure, scale: str) -> Measure:
    if not isinstance(measure, Vector):
        who, found = Param("scale", scale, of=WHO), type(measure).__name__
        raise InvalidInput(who, "a fitted Vector", found, "Fit one")
    x = np.unique(np.asarray(measure.rows_.arrays["x"], dtype=np.float64), axis=0)
    x -= x.mean(axis=0)
    spread = x.std(axis=0, ddof=1) if len(x) > 1 else np.ones(x.shape[1])
    # A constant column has no spread; 1e-7 keeps it finite (at 0, since it is centered).
    return Vector().fit(x / ((spread if scale == "std" else spread**2) + 1e-7))


def classical_scaling(d: np.ndarray, width: int) -> np.ndarray:
    """Return coordinates whose Euclidean distances approximate those of a square matrix.

    Torgerson (1952), Multidimensional scaling: I. Theory and method, doi:10.1007/BF02288916.
    """
    from scipy.linalg import eigh

    n = len(d)
    squares = (d + d.T) ** 2 / 4  # the mean of both directions, for measures without symmetry
    means = squares.mean(axis=0)
    gram = (means[:, None] + means - squares - means.mean()) / 2
    width = min(width, n)
    values, vectors = eigh(gram, subset_by_index=(n - width, n - 1))
    # Negative eigenvalues are what no Euclidean space can show; they count as 0.
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


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
