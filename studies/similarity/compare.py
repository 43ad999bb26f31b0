"""The paper's tests: which of three methods is significantly better on one set.

If Shapiro and Wilk's test lets the areas of each method pass as normal: analysis of variance,
then Tukey's honest differences; otherwise Friedman's test over the folds, then Nemenyi's.
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
    from scipy.stats import f_oneway, shapiro, tukey_hsd

    names = list(areas)
    values = [np.asarray(areas[name], dtype=float) for name in names]
    better = dict.fromkeys(names, 0)
    flat = [np.ptp(some) == 0 for some in values]
    normal = not any(flat) and all(shapiro(some).pvalue >= ALPHA for some in values)
    if normal:
        if f_oneway(*values).pvalue < ALPHA:
            apart = tukey_hsd(*values).pvalue < ALPHA
            for i, one in enumerate(names):
                better[one] = sum(
                    bool(apart[i, j]) and values[i].mean() > values[j].mean()
                    for j in range(len(names))
                    if j != i
                )
    else:
        ranking = rank_methods(areas, alpha=ALPHA)
        if ranking.p < ALPHA:
            for one in names:
                better[one] = sum(
                    ranking.apart(one, other) and ranking.ranks[one] < ranking.ranks[other]
                    for other in names
                    if other != one
                )
    marks = {
        name: "*" if count == len(names) - 1 else "o" if count else ""
        for name, count in better.items()
    }
    return marks, "Tukey" if normal else "Nemenyi"
