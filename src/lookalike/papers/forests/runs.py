"""The runs behind Tables 2 to 5: forests x measures x clusterings on each set.

One forest is grown per set, parametrisation and repetition, all six measures read it, and all four
methods cluster each with the true number of classes. Kept of a run: rows in the majority class of
their cluster, the same without the set's last row (see ``table5``), the adjusted Rand index, and
the silhouette in the measure's own distance.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from lookalike.papers.forests.published import CLUSTERINGS, GRID, MEASURES, SETS
from lookalike.papers.forests.sets import load_set
from lookalike.papers.work import Work

__all__ = ["Run", "Runs", "affinity_repeats", "make_runs", "repeats", "settings"]

LARGE = 350  # rows above which affinity propagation takes ten seconds a run


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


def settings(work: Work) -> list[tuple[int, str]]:
    """Return the parametrisations: trees, and columns per node."""
    return work.pick([one for one in GRID if one[0] != 100], GRID, GRID)


def repeats(work: Work) -> int:
    """Return the forests per set and parametrisation."""
    return work.times(1, 5, 30)


def affinity_repeats(work: Work) -> int:
    """Return the forests of large sets on which affinity propagation is run."""
    return work.times(0, 1, 30)


def make_runs(work: Work) -> Runs:
    """Make all runs, or take them from an earlier table."""
    memory = work.beside("forests-runs", inspect.getsource(sys.modules[__name__]))
    found: list[Run] = []
    for name in memory.each("forests and clusterings", SETS):
        x, y = load_set(work.data, name)
        for trees, columns in settings(work):
            for seed in range(repeats(work)):
                fast = [label for label in CLUSTERINGS if label != "AP"]
                parts = [("fast", fast)]
                if len(y) <= LARGE or seed < affinity_repeats(work):
                    parts.append(("AP", ["AP"]))
                for part, methods in parts:
                    key = f"{name}|{trees}|{columns}|{seed}|{part}"
                    made = memory.once(key, partial(_cluster, x, y, trees, columns, seed, methods))
                    found += [
                        Run(name, trees, columns, seed, method, measure, len(y), *figures)
                        for measure, method, figures in made
                    ]
    return Runs(found)


def _cluster(
    x: np.ndarray, y: np.ndarray, trees: int, columns: str, seed: int, methods: Iterable[str]
) -> list[tuple[str, str, list[float]]]:
    """Grow one forest, read it in six ways and cluster each."""
    from lookalike.cluster import SimilarityClustering, adjusted_rand, silhouette
    from lookalike.forests import SyntheticForest
    from lookalike.measures import ForestProximity

    # Another seed for each parametrisation: forests that share their synthetic rows err alike.
    seed = len(GRID) * seed + GRID.index((trees, columns))
    grower = SyntheticForest(trees, max_features=0.5 if columns == "Half" else "all")
    grown = ForestProximity("shi", grower, random_state=seed).fit(x)
    out = []
    for measure in MEASURES:
        read = ForestProximity(measure, grown.forest_).fit(x).frozen()
        distances = read.distance()
        for method in methods:
            model = SimilarityClustering(
                read, int(y.max()) + 1, method=CLUSTERINGS[method], random_state=seed
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LookalikeWarning)  # AP near the wanted number
                labels = model.fit(x).labels_
            alone = len(np.unique(labels)) < 2
            figures = [
                count_hits(y, labels),
                count_hits(y[:-1], labels[:-1]),
                adjusted_rand(y, labels),
                -1.0 if alone else silhouette(distances, labels),
            ]
            out.append((measure, method, figures))
    return out


def count_hits(y: np.ndarray, labels: np.ndarray) -> int:
    """Return the rows that are of the most frequent class of their cluster."""
    from lookalike.cluster import purity

    return round(purity(y, labels) * len(y))


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

        The spread of single runs is taken within set, method and columns, over forests of all
        sizes: the number of trees hardly matters, and one forest of each size is enough to see it.
        """
        found = self.take(measure, **only)
        total = 0.0
        for name, methods in found.items():
            inside = 0.0
            for label, some in methods.items():
                inside += self._variance(name, measure, label, index) / len(some)
            total += inside / len(methods) ** 2
        return float(np.sqrt(total) / max(1, len(found)))

    def _variance(self, name: str, measure: str, method: str, index: str) -> float:
        by_columns: Mapping[str, list[float]] = {"Half": [], "All": []}
        for run in self._groups[name, measure, method]:
            by_columns[run.columns].append(run.score(index))
        spreads = [np.var(some, ddof=1) for some in by_columns.values() if len(some) > 1]
        return float(np.mean(spreads)) if spreads else 0.0


def _mean(runs: Iterable[Run], index: str) -> float:
    return float(np.mean([run.score(index) for run in runs]))
