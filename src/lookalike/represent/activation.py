"""The activation function of similarity networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.saving.fields import Real


def similarity_activation(x: Any, p: Any) -> np.ndarray:
    """Sharpen similarities: small ones smaller, large ones larger, 0, 1/2 and 1 as they are.

    With a = (-1/2 + sqrt(1/4 + 4 p)) / 2, the value is -p / ((x - 1/2) - a) - a up to 1/2 and
    -p / ((x - 1/2) + a) + a + 1 from there on. A large p changes little, a small one is nearly a
    step, and p = 0 is the step itself [1]_.

    Parameters
    ----------
    x : array of similarities
        Cut to [0, 1].
    p : float, or array that is broadcast with x
        At least 0: one for all, or one for each unit (column).

    Returns
    -------
    array of the shape of x

    References
    ----------
    .. [1] L. A. Belanche and J. Hernandez (2014). Similarity networks for classification: a case
       study in the Horse Colic problem. doi:10.48550/arXiv.1403.4540

    Examples
    --------
    >>> from lookalike.represent import similarity_activation
    >>> similarity_activation([0, 0.25, 0.5, 0.75, 1], 0.1).round(3)
    array([0.   , 0.095, 0.5  , 0.905, 1.   ])
    """
    for each in np.unique(p).tolist() if isinstance(p, list | np.ndarray) else [p]:
        Real(0.0).check("similarity_activation", "p", each, "Raise it")
    v = np.clip(np.asarray(x, dtype=np.float64), 0.0, 1.0) - 0.5
    p = np.asarray(p, dtype=np.float64)
    # Beside the two limits, 0 (a step, with 1/2 at 1/2) and infinity (no change, where a / a would
    # be NaN), a solves a^2 + a/2 = p; this form keeps its digits for a small p.
    curve = np.where((p == 0) | np.isinf(p), 1.0, p)
    a = 2.0 * curve / (0.5 + np.sqrt(0.25 + 4.0 * curve))
    # For a large p the two terms would cancel; over a common denominator the lower half is
    # a (1/2 + v) / (a - v) with v = x - 1/2, and the upper one its mirror image.
    low = a * (0.5 + np.minimum(v, 0.0)) / (a - np.minimum(v, 0.0))
    high = 1.0 - a * (0.5 - np.maximum(v, 0.0)) / (a + np.maximum(v, 0.0))
    bent = np.where(v < 0, low, np.where(v > 0, high, 0.5 + 0.0 * v))
    return np.where(p == 0, (np.sign(v) + 1) / 2, np.where(np.isinf(p), v + 0.5, bent))
