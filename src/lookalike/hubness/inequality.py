"""Inequality of the k-occurrence as one number.

All take the occurrences that ``k_occurrence`` returns. The measures beside the skewness are those
of Feldbauer, Leodolter, Plant, Flexer (2018), Fast Approximate Hubness Reduction for Large
High-Dimensional Data, doi:10.1109/ICBK.2018.00055, and of the program that grew out of it:
Feldbauer, Rattei, Flexer (2020), scikit-hubness, doi:10.21105/joss.01957.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput
from lookalike.saving.fields import Real


def skewness(occurrence: Any) -> float:
    """Return the skewness of occurrences: 0 if symmetric, above about 1.4 there are strong hubs.

    ``m3 / m2**1.5`` with the central moments of the n occurrences, without bias correction; 0 if
    all are equal. With lists of k = 5 it is the S5 of the literature [1]_.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    References
    ----------
    .. [1] Radovanovic, Nanopoulos, Ivanovic (2010). Hubs in Space: Popular Nearest Neighbors in
       High-Dimensional Data. Journal of Machine Learning Research 11, 2487-2531.

    Examples
    --------
    >>> from lookalike.hubness import skewness
    >>> round(skewness([2, 3, 3, 0]), 6)
    -0.816497
    """
    counts = _counts(occurrence, "skewness")
    deviations = counts - counts.mean()
    variance = float((deviations**2).mean())
    # Shared ties are fractions: equal occurrences may differ in the last bits.
    if variance <= (1e-12 * counts.mean()) ** 2:
        return 0.0
    return float((deviations**3).mean() / variance**1.5)


def robin_hood(occurrence: Any) -> float:
    """Return the share of occurrences to be moved for all rows to have equally many.

    ``sum |N_i - mean N| / (2 sum N)``; 0 for equal shares, below 1 always.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import robin_hood
    >>> robin_hood([2, 3, 3, 0])
    0.25
    """
    counts = _counts(occurrence, "robin_hood")
    total = float(counts.sum())
    return float(np.abs(counts - counts.mean()).sum() / (2 * total)) if total > 0 else 0.0


def gini(occurrence: Any) -> float:
    """Return the Gini index of the occurrences: 0 for equal shares, near 1 if one row has all.

    ``sum_ij |N_i - N_j| / (2 n sum N)``.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import gini
    >>> gini([2, 3, 3, 0])
    0.3125
    """
    counts = np.sort(_counts(occurrence, "gini"))
    n, total = len(counts), float(counts.sum())
    if total == 0:
        return 0.0
    # In ascending order entry i is the larger one in i pairs and the smaller one in n - 1 - i.
    return float(((2 * np.arange(n) - n + 1) * counts).sum() / (n * total))


def atkinson(occurrence: Any, epsilon: float = 0.5) -> float:
    """Return the Atkinson index of the occurrences: 0 for equal shares, at most 1.

    ``1 - (mean N**(1 - e))**(1 / (1 - e)) / mean N``, and for e = 1 one minus the geometric mean
    over the mean. The larger e, the more the orphans count.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``
    epsilon : float from 0 to 1

    Examples
    --------
    >>> from lookalike.hubness import atkinson
    >>> round(atkinson([2, 3, 3, 0]), 4)
    0.2563
    """
    Real(0.0, 1.0).check("atkinson", "epsilon", epsilon, "Choose a number in this range")
    counts = _counts(occurrence, "atkinson")
    mean = float(counts.mean())
    if mean == 0:
        return 0.0
    if epsilon == 1:
        level = float(np.exp(np.log(counts).mean())) if (counts > 0).all() else 0.0
    else:
        level = float((counts ** (1 - epsilon)).mean() ** (1 / (1 - epsilon)))
    return max(0.0, 1 - level / mean)


def groupie_ratio(occurrence: Any) -> float:
    """Return the share of rows that have the largest hub in their list: ``max N / n``.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import groupie_ratio
    >>> groupie_ratio([2, 3, 3, 0])
    0.75
    """
    counts = _counts(occurrence, "groupie_ratio")
    return float(counts.max() / len(counts))


def antihub_occurrence(occurrence: Any) -> float:
    """Return the share of rows that are in no list (anti-hubs, or orphans).

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import antihub_occurrence
    >>> antihub_occurrence([2, 3, 3, 0])
    0.25
    """
    return float((_counts(occurrence, "antihub_occurrence") == 0).mean())


def hub_occurrence(occurrence: Any, factor: float = 5.0) -> float:
    """Return the share of all occurrences that are those of hubs.

    ``sum of N over rows with N > factor * k / sum N``, where k, the length of the lists, is the
    mean of N.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``
    factor : float
        How many times k a hub has; 5 as in ``hubs_and_orphans``. scikit-hubness takes 2.

    Examples
    --------
    >>> from lookalike.hubness import hub_occurrence
    >>> hub_occurrence([2, 3, 3, 0], factor=1.2)
    0.75
    """
    counts = _counts(occurrence, "hub_occurrence")
    total = float(counts.sum())
    hubs = counts > factor * counts.mean()
    return float(counts[hubs].sum() / total) if total > 0 else 0.0


def _counts(occurrence: Any, who: str) -> np.ndarray:
    counts = np.asarray(occurrence, dtype=np.float64)
    if counts.ndim != 1 or not len(counts) or not np.isfinite(counts).all() or (counts < 0).any():
        needed, found = "a finite occurrence >= 0 for each row", f"an array of shape {counts.shape}"
        raise InvalidInput(who, needed, found, "Pass what k_occurrence returns")
    return counts
