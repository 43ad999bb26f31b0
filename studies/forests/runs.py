"""The runs behind Tables 2 to 5: forests x measures x clusterings on each set.

One forest is grown per set, parametrisation and repetition, all six measures read it, and all four
methods cluster each with the true number of classes. Kept of a run: rows in the majority class of
their cluster, the same without the set's last row (see ``table5``), the adjusted Rand index, and
the silhouette in the measure's own distance.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from studies.forests.published import CLUSTERINGS, GRID, MEASURES, SETS
from studies.forests.sets import load_set
from studies.work import Work, source_of


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
        # Affinity propagation has fewer forests on large sets; averaging methods first gives it
        # the same weight as the others.
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
            # With one forest per setting there is no spread within a size, so all sizes are used.
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


LARGE = 350  # rows above which affinity propagation takes ten seconds a run


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
    memory = work.shared("forests-runs", source_of(sys.modules[__name__]))
    found: list[Run] = []
    for name in memory.each("forests and clusterings", work.available(SETS)):
        x, y = load_set(work.data, name)
        for trees, columns in settings(work):
            for seed in range(repeats(work)):
                fast = [label for label in CLUSTERINGS if label != "AP"]
                parts = [("fast", fast)]
                # Cached apart from the fast methods: it takes most of the time of large sets.
                if len(y) <= LARGE or seed < affinity_repeats(work):
                    parts.append(("AP", ["AP"]))
                for part, methods in parts:
                    key = f"{name}|{trees}|{columns}|{seed}|{part}"
                    made = memory.once(key, partial(_cluster, x, y, trees, columns, seed, methods))
                    found += [
                        Run(name, trees, columns, seed, method, measure, len(y), *statistics)
                        for measure, method, statistics in made
                    ]
    return Runs(found)


def _cluster(
    x: np.ndarray, y: np.ndarray, trees: int, columns: str, seed: int, methods: Iterable[str]
) -> list[tuple[str, str, list[float]]]:
    """Grow one forest, read it in six ways and cluster each."""
    from sklearn.metrics import adjusted_rand_score, silhouette_score

    from lookalike.clustering import SimilarityClustering
    from lookalike.measures import ForestProximity
    from lookalike.trees import SyntheticForest

    # Another seed for each parametrisation: forests that share their synthetic rows err alike.
    seed = len(GRID) * seed + GRID.index((trees, columns))
    # Columns are drawn at every node, as in the text; the released code draws them per tree
    # (part 'Paper and released code').
    grower = SyntheticForest(trees, max_features=0.5 if columns == "Half" else "all")
    grown = ForestProximity("shi", grower, random_state=seed).fit(x)
    out = []
    for measure in MEASURES:
        # All six proximities use the same forest, as in the paper: differences between them are
        # then not differences between forests.
        read = ForestProximity(measure, model=grown.forest_).fit(x).frozen()
        distances = read.distance()
        for method in methods:
            model = SimilarityClustering(
                read, int(y.max()) + 1, method=CLUSTERINGS[method], random_state=seed
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LookalikeWarning)  # AP near the wanted number
                labels = model.fit(x).labels_
            # The silhouette is undefined for one cluster; -1 keeps such a run from being chosen.
            alone = len(np.unique(labels)) < 2
            statistics = [
                count_hits(y, labels),
                # Printed purities are fractions of n - 1 rows (Table 5).
                count_hits(y[:-1], labels[:-1]),
                adjusted_rand_score(y, labels),
                -1.0 if alone else silhouette_score(distances, labels, metric="precomputed"),
            ]
            out.append((measure, method, statistics))
    return out


def count_hits(y: np.ndarray, labels: np.ndarray) -> int:
    """Return the rows that are of the most frequent class of their cluster."""
    from lookalike.clustering import purity

    return round(purity(y, labels) * len(y))
