"""Runs of the forest clustering study, and their means and errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.forests.published import CLUSTERINGS


@dataclass(frozen=True)
class Run:
    """One clustering: how it came about, and how good it is."""

    set: str
    trees: int
    columns: str
    seed: int
    method: str
    measure: str
    n: int
    hits: int
    hits_without_last: int
    ari: float
    silhouette: float

    def score(self, index: str) -> float:
        """Return purity, or the adjusted Rand index."""
        return self.hits / self.n if index == "purity" else self.ari


class Runs:
    """All runs, and their means.

    A mean is taken over forests first, then over methods, then over sets, so that a method which
    was run on fewer forests counts no less.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self.all = list(runs)
        self._groups: dict[tuple[str, str, str], list[Run]] = {}
        for run in self.all:
            self._groups.setdefault((run.set, run.measure, run.method), []).append(run)
        self.sets = list(dict.fromkeys(run.set for run in self.all))
        self.grid = list(dict.fromkeys((run.trees, run.columns) for run in self.all))

    def take(
        self,
        measure: str,
        *,
        sets: Iterable[str] | None = None,
        method: str | None = None,
        trees: int | None = None,
        columns: str | None = None,
    ) -> dict[str, dict[str, list[Run]]]:
        """Return runs by set and method."""
        out: dict[str, dict[str, list[Run]]] = {}
        for name in self.sets if sets is None else sets:
            for label in CLUSTERINGS:
                if method not in (None, label):
                    continue
                some = [
                    run
                    for run in self._groups.get((name, measure, label), [])
                    if trees in (None, run.trees) and columns in (None, run.columns)
                ]
                if some:
                    out.setdefault(name, {})[label] = some
        return out

    def mean(self, measure: str, index: str, **only: Any) -> float:
        """Return the mean of an index; ``only`` as for ``take``."""
        found = self.take(measure, **only)
        if not found:
            return float("nan")
        return float(
            np.mean(
                [
                    np.mean([_mean(some, index) for some in methods.values()])
                    for methods in found.values()
                ]
            )
        )

    def error(self, measure: str, index: str, **only: Any) -> float:
        """Return the standard error of that mean over forests.

        Clusterings of one forest err alike, so they are averaged before the spread is taken. It is
        taken within set and columns, over forests of all sizes: the number of trees hardly matters,
        and one forest of each size is enough to see it.
        """
        wide = {key: value for key, value in only.items() if key != "trees"}
        few, every = self.take(measure, **only), self.take(measure, **wide)
        total = 0.0
        for name in few:
            spread, many = _spread(every[name], index), len(_by_forest(few[name], index))
            total += spread / max(1, many)
        return float(np.sqrt(total) / max(1, len(few)))


def _by_forest(methods: dict[str, list[Run]], index: str) -> dict[tuple[int, str, int], float]:
    """Return the mean over methods for each forest."""
    scores: dict[tuple[int, str, int], list[float]] = {}
    for some in methods.values():
        for one in some:
            scores.setdefault((one.trees, one.columns, one.seed), []).append(one.score(index))
    return {forest: float(np.mean(each)) for forest, each in scores.items()}


def _spread(methods: dict[str, list[Run]], index: str) -> float:
    """Return the variance between forests that draw the same share of the columns."""
    by_columns: dict[str, list[float]] = {}
    for (_, columns, _), score in _by_forest(methods, index).items():
        by_columns.setdefault(columns, []).append(score)
    spreads = [np.var(some, ddof=1) for some in by_columns.values() if len(some) > 1]
    return float(np.mean(spreads)) if spreads else 0.0


def _mean(runs: Iterable[Run], index: str) -> float:
    return float(np.mean([run.score(index) for run in runs]))
