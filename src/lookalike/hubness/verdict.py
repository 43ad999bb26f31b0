"""The verdict on hubs: no problem, one that the reduction helps with, or one that it does not.

Decided here for all surfaces. The reduction is tried before it is offered: where distances do not
suffer from the dimension, it may make the largest hub larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.evaluate.space import Space
from lookalike.hubness.inequality import skewness
from lookalike.hubness.mutual_proximity import default_reducer
from lookalike.hubness.occurrence import k_occurrence
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import square
from lookalike.measures.precomputed import Precomputed

Statistics = dict[str, float | None]

# Skewness of the k-occurrence above which hubs are a problem; the literature speaks of strong
# hubness from 1.4 (Flexer and Schnitzer 2015).
HUB_PROBLEM = 1.0
# The reduction helps if it takes a quarter of the skewness or more, and the largest hub is in fewer
# lists; chosen by hand: less is not worth another space.
MAX_KEPT_SKEWNESS = 0.75
# All pairs of so many rows are compared, 32 MB; of more rows a fixed sample is tried.
MAX_TRIED_ROWS = 2_000


@dataclass(frozen=True)
class HubVerdict:
    """Whether hubs are a problem, and whether a reduction helps.

    Parameters
    ----------
    found : mapping of statistic to number
        Of the rows as they are compared.
    before, after : the same, optional
        Of the rows that a reduction was tried on; None: it was not tried.
    how : str
        The reduction and the rows in words, where they have to be said.

    Examples
    --------
    >>> few = {"skewness": 0.2, "largest": 13.0, "orphans": 16.0}
    >>> print(HubVerdict(few))
    No hub problem here: the largest hub is in 13 lists, skewness 0.20, rows in no list 16.
    >>> many = {"skewness": 5.2, "largest": 108.0, "orphans": 90.0}
    >>> print(HubVerdict(many, many, few))
    Hubs are a problem, and the reduction helps: the largest hub is in 108 -> 13 lists, \
skewness 5.20 -> 0.20, rows in no list 90 -> 16.
    """

    found: Statistics
    before: Statistics | None = None
    after: Statistics | None = None
    how: str = ""

    @property
    def problem(self) -> bool:
        """Whether a few rows fill so many lists that something should be done."""
        return _value(self.found, "skewness") > HUB_PROBLEM

    @property
    def reduction_helps(self) -> bool:
        """Whether there is a problem and the reduction, tried on the same rows, made it smaller."""
        before, after = self.before, self.after
        if not self.problem or before is None or after is None:
            return False
        kept = MAX_KEPT_SKEWNESS * _value(before, "skewness")
        smaller = _value(after, "largest") < _value(before, "largest")
        return smaller and _value(after, "skewness") <= kept

    def __str__(self) -> str:
        if not self.problem:
            return f"No hub problem here: {_describe(self.found)}."
        if self.before is None or self.after is None:
            tried = "the reduction cannot be tried without distances"
            return f"Hubs are a problem: {_describe(self.found)}; {tried}."
        helps = self.reduction_helps
        words = ", and the reduction helps" if helps else " that the reduction does not solve"
        how = f" ({self.how})" if self.how else ""
        return f"Hubs are a problem{words}: {_describe(self.before, self.after)}{how}."


def try_reduction(space: Space, k: int) -> tuple[Statistics, Statistics, str] | None:
    """Count hubs before and after the default reduction, on the same rows.

    Parameters
    ----------
    space : fitted measure or NeighborGraph
    k : int
        Length of the lists.

    Returns
    -------
    before, after : mapping of statistic to number
    how : str
        The reduction and the rows in words. None for a graph, which has few distances.
    """
    if not isinstance(space, Measure):
        return None
    n = len(space.rows_)
    how, rows = "mutual proximity", space.rows_
    if n > MAX_TRIED_ROWS:
        how = f"{how}, tried on a sample of {MAX_TRIED_ROWS:,} rows"
        sample = np.random.default_rng(0).choice(n, MAX_TRIED_ROWS, replace=False)
        rows = rows[np.sort(sample)]
    distances = square(space, rows, undefined="keep")
    # Rows with nothing to compare are in no list of each other: as far as the farthest.
    undefined = ~np.isfinite(distances)
    distances[undefined] = np.max(distances, initial=1.0, where=~undefined)
    np.fill_diagonal(distances, 0.0)
    known = Precomputed(symmetric=space.traits.symmetric)
    reducer = default_reducer(known, len(rows)).fit(distances)
    k = min(k, len(rows) - 1)
    before, after = (count_hubs(k_occurrence(one, k)) for one in (reducer.measure_, reducer))
    return before, after, how


def count_hubs(counts: np.ndarray) -> Statistics:
    """Return the statistics that a verdict is about, for the k-occurrence of every row."""
    orphans = float((counts == 0).sum())
    return {"skewness": skewness(counts), "largest": float(counts.max()), "orphans": orphans}


def _value(statistics: Statistics, name: str) -> float:
    return statistics.get(name) or 0.0


def _describe(*spaces: Statistics) -> str:
    shown = {"largest": ",.0f", "skewness": ".2f", "orphans": ",.0f"}
    texts = {
        name: " -> ".join(format(_value(one, name), form) for one in spaces)
        for name, form in shown.items()
    }
    return (
        f"the largest hub is in {texts['largest']} lists, skewness {texts['skewness']}, "
        f"rows in no list {texts['orphans']}"
    )
