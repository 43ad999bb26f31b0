"""The paper's tests: which of three methods is significantly better on one set.

If Shapiro and Wilk's test does not reject normality of the areas: analysis of variance, then
Tukey's honest significant differences; otherwise Friedman's test over the folds, then Nemenyi's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from studies.diagram import rank_methods

ALPHA = 0.05


def mark_methods(areas: Mapping[str, Sequence[float]]) -> tuple[dict[str, str], str]:
    """Return a mark for each method and the test that gave it.

    Parameters
    ----------
    areas : mapping of method to its areas on the same folds

    Examples
    --------
    >>> from studies.similarity.compare import mark_methods
    >>> some = {"a": [0.90, 0.91, 0.92], "b": [0.80, 0.81, 0.82], "c": [0.81, 0.80, 0.83]}
    >>> mark_methods(some)
    ({'a': '*', 'b': '', 'c': ''}, 'Tukey')
    """
    from scipy.stats import shapiro

    values = [np.asarray(some, dtype=float) for some in areas.values()]
    # Shapiro and Wilk's test is not defined for constant values.
    flat = any(np.ptp(some) == 0 for some in values)
    normal = not flat and all(shapiro(some).pvalue >= ALPHA for some in values)
    better = _by_tukey(areas) if normal else _by_nemenyi(areas)
    marks = {
        name: "*" if count == len(areas) - 1 else "o" if count else ""
        for name, count in better.items()
    }
    return marks, "Tukey" if normal else "Nemenyi"


def _by_tukey(areas: Mapping[str, Sequence[float]]) -> dict[str, int]:
    """Return how many others each method is significantly better than, by Tukey's test."""
    from scipy.stats import f_oneway, tukey_hsd

    values = [np.asarray(some, dtype=float) for some in areas.values()]
    if f_oneway(*values).pvalue >= ALPHA:
        return dict.fromkeys(areas, 0)
    apart = tukey_hsd(*values).pvalue < ALPHA
    means = np.array([some.mean() for some in values])
    np.fill_diagonal(apart, False)
    counts = (apart & (means[:, None] > means)).sum(axis=1)
    return dict(zip(areas, counts.tolist(), strict=True))


def _by_nemenyi(areas: Mapping[str, Sequence[float]]) -> dict[str, int]:
    """Return how many others each method is significantly better than, by Nemenyi's test."""
    ranking = rank_methods(areas, alpha=ALPHA)
    if ranking.p >= ALPHA:
        return dict.fromkeys(areas, 0)
    return {
        name: sum(
            ranking.apart(name, other) and ranking.ranks[name] < ranking.ranks[other]
            for other in areas
            if other != name
        )
        for name in areas
    }
