"""Six ways to write the same numbers on another scale."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput

# Before a transform values lie from SHIFT * SPREAD on: the logarithm of 0 would be infinite.
SHIFT, SPREAD = 0.0001, 100.0

TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "square": np.square,
    "sqrt": np.sqrt,
    "log": np.log,
    "inverse": np.reciprocal,
    "exp_minus": lambda x: np.exp(-x),
}


def transforms(X: Any) -> dict[str, np.ndarray]:
    """Write a matrix of numbers on six other scales, to see whether a measure cares.

    Each column is scaled to [0, 1], moved to ``100 * (x + 0.0001)``, transformed, and scaled to
    [0, 1] again [1]_. The first four keep the order of the values, "inverse" and "exp_minus"
    reverse it. A measure that looks at ranks alone answers the same for all six.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Finite numbers. Float32 is promoted, since exp(100) does not fit into it.

    Returns
    -------
    dict of str to float64 array of the shape of X
        Under "exp", "square", "sqrt", "log", "inverse" and "exp_minus". A constant column is all
        zeros.

    References
    ----------
    .. [1] Fernando and Webb (2017), "SimUSF: an efficient and effective similarity measure that is
       invariant to violations of the interval scale assumption", Data Mining and Knowledge
       Discovery 31, doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> from lookalike.datasets import transforms
    >>> scales = transforms([[1.0], [3.0], [5.0]])
    >>> scales["square"].ravel().round(8).tolist()
    [0.0, 0.25004999, 1.0]
    """
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.size == 0 or not np.isfinite(values).all():
        found = f"an array of shape {values.shape}"
        if values.ndim == 2 and values.size:
            row, column = np.argwhere(~np.isfinite(values))[0]
            found = f"{values[row, column]} in row {row}, column {column}"
        hint = "Fill or drop such rows"
        raise InvalidInput("transforms", "a matrix of finite numbers", found, hint)
    start = SPREAD * (_scaled(values) + SHIFT)
    return {name: _scaled(change(start)) for name, change in TRANSFORMS.items()}


def _scaled(values: np.ndarray) -> np.ndarray:
    low, high = values.min(axis=0), values.max(axis=0)
    with np.errstate(over="ignore"):
        # The span of a column from -1e308 to 1e308 is not a float: there all numbers are halved.
        # Elsewhere they are not, because half of the smallest number is 0.
        share = np.where(np.isinf(high - low), 0.5, 1.0)
    span = high * share - low * share
    scaled = np.zeros_like(values)
    np.divide(values * share - low * share, span, out=scaled, where=span > 0)
    return scaled
