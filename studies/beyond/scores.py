"""Scores by set, measure, reducer and task, and the comparisons made with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from studies.diagram import Ranking, rank_methods

Method = tuple[str, str]  # measure, reducer


@dataclass(frozen=True)
class Duel:
    """Two methods on the same sets.

    Parameters
    ----------
    n_sets : int
    gain : float, mean score of the first less that of the second
    wins, losses : int, sets on which the first is ahead, behind, by more than half a percent
    p : float, Wilcoxon's signed-rank test, two-sided
    """

    n_sets: int
    gain: float
    wins: int
    losses: int
    p: float

    def __str__(self) -> str:
        p = "p < 0.01" if self.p < 0.005 else f"p {self.p:.2f}"
        return f"{100 * self.gain:+.1f}, {self.wins} : {self.losses}, {p}".replace("-", "−")


def duel_of(differences: ArrayLike) -> Duel:
    """Return how the first of two fares, by its score less that of the second on each set."""
    from scipy.stats import wilcoxon

    ahead = np.asarray(differences, dtype=np.float64)
    # Ties carry no sign. With five or fewer differences the two-sided test cannot reach 0.05.
    different = np.round(ahead, 12) != 0
    p = float(wilcoxon(ahead[different]).pvalue) if different.sum() > 5 else 1.0
    # Half a point is one row of 200; smaller differences are not counted.
    wins, losses = int((ahead > 0.005).sum()), int((ahead < -0.005).sum())
    return Duel(len(ahead), float(ahead.mean()), wins, losses, p)


def beats(duels: Collection[Duel]) -> bool:
    """Whether the first is ahead on average in every task, and beyond chance in one of them."""
    return all(duel.gain > 0 for duel in duels) and any(duel.p < 0.05 for duel in duels)


@dataclass(frozen=True)
class Scores:
    """All scores.

    Parameters
    ----------
    by : mapping of (set, measure, reducer, task) to score
    sorts : mapping of set to "numbers", "mixed" or "objects"
    halves : mapping of set to "selection" or "validation"
    """

    by: Mapping[tuple[str, str, str, str], float]
    sorts: Mapping[str, str]
    halves: Mapping[str, str]

    def sets(self, half: str | None = None, sorts: Sequence[str] = ()) -> list[str]:
        """Return the names of sets, of one half or of some sorts."""
        return [
            name
            for name in self.sorts
            if (half is None or self.halves[name] == half)
            and (not sorts or self.sorts[name] in sorts)
        ]

    def column(self, method: Method, task: str, sets: Sequence[str]) -> list[float]:
        """Return the scores of a method on sets."""
        return [self.by[name, *method, task] for name in sets]

    def mean(self, method: Method, task: str, sets: Sequence[str]) -> float:
        """Return the mean score of a method."""
        return float(np.mean(self.column(method, task, sets)))

    def has(self, method: Method, task: str, sets: Sequence[str]) -> bool:
        """Whether a method was put to a task on all these sets."""
        return all((name, *method, task) in self.by for name in sets)

    def rank(
        self, methods: Mapping[str, Method], tasks: Sequence[str], sets: Sequence[str]
    ) -> Ranking:
        """Rank methods; with several tasks each set counts once for each of them."""
        return rank_methods(
            {
                label: [score for task in tasks for score in self.column(method, task, sets)]
                for label, method in methods.items()
            }
        )

    def duel(self, first: Method, second: Method, task: str, sets: Sequence[str]) -> Duel:
        """Return how the first fares against the second."""
        return duel_of(np.subtract(self.column(first, task, sets), self.column(second, task, sets)))
