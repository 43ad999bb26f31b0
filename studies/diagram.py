"""Many methods on many sets: mean ranks, Friedman's test, and the diagram of critical differences.

Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, 1-30: methods
are ranked on each set, Friedman's test asks whether the mean ranks differ at all, and Nemenyi's
critical difference says by how much two of them must differ to be distinguished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput


@dataclass(frozen=True)
class Ranking:
    """Methods ranked over sets, best first.

    Parameters
    ----------
    ranks : mapping of method to its mean rank, 1 being the best, in order
    n_sets : int
    chi2, p : float, Friedman's statistic and how often chance gives one as large
    difference : float, Nemenyi's critical difference of two mean ranks
    """

    ranks: Mapping[str, float]
    n_sets: int
    chi2: float
    p: float
    difference: float

    def groups(self) -> list[list[str]]:
        """Return the largest groups of methods in which no two can be distinguished."""
        names = list(self.ranks)
        found: list[list[str]] = []
        reached = 0
        for start, name in enumerate(names):
            inside = [
                other
                for other in names[start:]
                if self.ranks[other] - self.ranks[name] < self.difference
            ]
            if len(inside) > 1 and start + len(inside) > reached:
                found.append(inside)
                reached = start + len(inside)
        return found

    def apart(self, first: str, second: str) -> bool:
        """Whether two methods differ by more than the critical difference."""
        return abs(self.ranks[first] - self.ranks[second]) >= self.difference


def rank_methods(
    scores: Mapping[str, Sequence[float]], *, higher: bool = True, alpha: float = 0.05
) -> Ranking:
    """Rank methods on each set and test the mean ranks.

    Parameters
    ----------
    scores : mapping of method to its score on each set, the sets in one order
    higher : bool, whether a higher score is better
    alpha : float, of Nemenyi's test

    Examples
    --------
    >>> from studies.diagram import rank_methods
    >>> found = rank_methods({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.8, 0.6], "c": [0.1, 0.2, 0.3]})
    >>> {name: round(rank, 2) for name, rank in found.ranks.items()}
    {'a': 1.17, 'b': 1.83, 'c': 3.0}
    """
    from scipy.stats import chi2 as chi2_law
    from scipy.stats import rankdata

    table = np.array([list(column) for column in scores.values()], dtype=float)
    if table.ndim != 2 or min(table.shape) < 2 or np.isnan(table).any():
        do = "Leave out sets on which a method has no score"
        needed = "the scores of two methods or more on the same two sets or more"
        raise InvalidInput("rank_methods", needed, f"shape {table.shape}", do)
    k, n = table.shape
    # Scores that differ by rounding alone are the same score.
    signed = np.round(-table if higher else table, 12)
    ranks = np.column_stack([rankdata(signed[:, at]) for at in range(n)])
    # Friedman's statistic with the correction for ties: divided by the observed variance of
    # ranks instead of k (k + 1) / 12.
    spread = float(((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1)))  # smaller where ranks tie
    means = ranks.mean(axis=1)
    statistic = 0.0 if spread == 0 else float(n * ((means - (k + 1) / 2) ** 2).sum() / spread)
    order = np.argsort(means, kind="stable")
    names = list(scores)
    return Ranking(
        {names[at]: float(means[at]) for at in order},
        n,
        statistic,
        float(chi2_law.sf(statistic, k - 1)),
        critical_difference(k, n, alpha),
    )


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Return by how much two mean ranks must differ (Nemenyi).

    Examples
    --------
    >>> from studies.diagram import critical_difference
    >>> round(critical_difference(4, 14), 2)  # Demsar's own example has q = 2.569
    1.25
    """
    from scipy.stats import studentized_range

    # Demsar (2006): the studentized range with infinite degrees of freedom, divided by sqrt(2).
    q = float(studentized_range.ppf(1 - alpha, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def draw_diagram(axes: Any, ranking: Ranking, title: str = "") -> None:
    """Draw mean ranks on a line, best at the left, and bars that join what cannot be distinguished.

    Parameters
    ----------
    axes : matplotlib Axes, empty
    ranking : Ranking
    title : str

    Examples
    --------
    >>> from lookalike.show.html.drawings import new_figure
    >>> from studies import draw_diagram, rank_methods
    >>> axes = new_figure("studies", 6, 2).add_subplot()
    >>> draw_diagram(axes, rank_methods({"a": [3, 3, 1], "b": [2, 1, 2], "c": [1, 2, 3]}))
    """
    names = list(ranking.ranks)
    k = len(names)
    half = (k + 1) // 2
    low, high = 1.0, float(k)
    bars = ranking.groups()
    gap = 0.34  # between two bars, in lines of text
    first = 1.0 + gap * len(bars)  # depth of the first name
    deepest = first + max(half, k - half)
    margin = 0.55 * (high - low)
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(deepest, -2.6)
    axes.axis("off")
    axes.plot([low, high], [0, 0], color="black", lw=1)
    for tick in range(1, k + 1):
        axes.plot([tick, tick], [0, -0.25], color="black", lw=1)
        if k <= 12 or tick % 2 == 1:
            axes.text(tick, -0.4, str(tick), ha="center", va="bottom", fontsize=8)
    axes.plot([low, low + ranking.difference], [-1.7, -1.7], color="#0072b2", lw=2)
    axes.text(
        low + ranking.difference + 0.01 * (high - low),
        -1.7,
        f" critical difference {ranking.difference:.2f}",
        va="center",
        fontsize=8,
        color="#0072b2",
    )
    if title:
        axes.set_title(title, fontsize=10, loc="left")
    for at, name in enumerate(names):
        rank = ranking.ranks[name]
        left = at < half
        depth = first + (at if left else k - 1 - at)
        edge = low - 0.04 * (high - low) if left else high + 0.04 * (high - low)
        axes.plot([rank, rank, edge], [0, depth, depth], color="0.45", lw=0.8)
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        axes.text(edge, depth, f" {text} ", ha="right" if left else "left", va="center", fontsize=8)
    for at, group in enumerate(bars):
        depth = 0.6 + gap * at
        ends = [ranking.ranks[group[0]] - 0.06, ranking.ranks[group[-1]] + 0.06]
        axes.plot(ends, [depth, depth], color="#d55e00", lw=2.5, solid_capstyle="butt")
