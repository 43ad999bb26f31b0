"""Clusters of labelled mixed tables: the default and automatic ones beside k-prototypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.board.cells import Problem, prepare_problem
from studies.board.contest import Contender, Contest


def agreement(problem: Problem, labels: Any) -> float:
    """Return the adjusted Rand index of clusters and classes."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(problem.y, labels))


def n_classes(problem: Problem) -> int:
    """Return the number of classes, for the methods that need one."""
    return len(np.unique(problem.y))


def default(problem: Problem) -> float:
    """Return the agreement of the default with the number of classes given."""
    from lookalike import cluster

    return agreement(problem, cluster(problem.table, n_classes(problem)).labels)


def automatic(problem: Problem) -> float:
    """Return the agreement of the default that also chooses the number."""
    from lookalike import cluster

    return agreement(problem, cluster(problem.table).labels)


def prototypes(problem: Problem) -> float:
    """Return the agreement of k-prototypes on z-scores and categories (Huang 1998)."""
    from kmodes.kprototypes import KPrototypes

    frame = problem.imputed()
    numbers = frame[problem.numbers]
    frame[problem.numbers] = (numbers - numbers.mean()) / numbers.std().replace(0.0, 1.0)
    model = KPrototypes(n_classes(problem), init="Huang", n_init=3, random_state=0)
    words = [frame.columns.get_loc(word) for word in problem.words]
    return agreement(problem, model.fit_predict(frame.to_numpy(), categorical=words))


def means(problem: Problem) -> float:
    """Return the agreement of k-means on one-hot columns and z-scores."""
    from sklearn.cluster import KMeans

    model = KMeans(n_classes(problem), n_init=10, random_state=0)
    return agreement(problem, model.fit_predict(problem.one_hot()))


def density(problem: Problem) -> float:
    """Return the agreement of HDBSCAN on one-hot columns and z-scores."""
    from sklearn.cluster import HDBSCAN

    return agreement(problem, HDBSCAN(copy=True).fit_predict(problem.one_hot()))


CONTEST = Contest(
    "clusters",
    "Clusters",
    "Adjusted Rand index of clusters and published classes, on tables of numbers and categories. "
    "Automatic clusters and HDBSCAN find the number of clusters themselves.",
    "labelled",
    prepare_problem,
    {
        "cluster": Contender(default, ours=True),
        "cluster, automatic": Contender(automatic, ours=True),
        "k-prototypes": Contender(prototypes, needs="kmodes"),
        "k-means, one-hot": Contender(means),
        "HDBSCAN, one-hot": Contender(density),
    },
    quick=15,
)
