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
from functools import partial

import numpy as np

from lookalike.errors import LookalikeWarning
from studies.forests.means import Run, Runs
from studies.forests.published import CLUSTERINGS, GRID, MEASURES, SETS
from studies.forests.sets import load_set
from studies.work import Work, source_of

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
    memory = work.beside("forests-runs", source_of(sys.modules[__name__]))
    found: list[Run] = []
    for name in memory.each("forests and clusterings", work.available(SETS)):
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
    from lookalike.clustering import SimilarityClustering, adjusted_rand, silhouette
    from lookalike.measures import ForestProximity
    from lookalike.trees import SyntheticForest

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
    from lookalike.clustering import purity

    return round(purity(y, labels) * len(y))
