"""Neighbors: whether the nearest rows agree on a column that was hidden, and on the class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lookalike.measures import Gower
from lookalike.measures.default import default_measure
from studies.board.cells import Problem, prepare_problem
from studies.board.contest import Contender, Contest
from studies.defaults import Pairs, accuracy, agreement, nearest

N_HIDDEN = 5
Distances = Callable[[Problem], np.ndarray]


def default(problem: Problem) -> np.ndarray:
    """Return the distances of the default comparison."""
    return np.asarray(default_measure().fit(problem.table).distance())


def gower_package(problem: Problem) -> np.ndarray:
    """Return Gower's distances by the package of this name, which wants no missing cells."""
    import gower

    frame = problem.imputed()
    return np.asarray(gower.gower_matrix(frame, cat_features=frame.columns.isin(problem.words)))


def vectors(metric: str, problem: Problem) -> np.ndarray:
    """Return distances of one-hot columns and z-scores."""
    from sklearn.metrics import pairwise_distances

    return np.asarray(pairwise_distances(problem.one_hot(), metric=metric))


def lists(distances: Distances, problem: Problem) -> np.ndarray:
    """Return the nearest other rows of each row."""
    square = distances(problem).astype(float)
    np.fill_diagonal(square, np.inf)
    return nearest(square)


def without(problem: Problem, column: str) -> Problem:
    """Return the problem without a column."""
    kept = [name for name in problem.frame.columns if name != column]
    numbers, words = ([n for n in some if n != column] for some in (problem.numbers, problem.words))
    return replace(
        problem,
        table=problem.table.select(kept),
        frame=problem.frame[kept],
        numbers=numbers,
        words=words,
    )


def hidden(distances: Distances, problem: Problem) -> float:
    """Return how much nearer hidden cells of neighbors are than those of random pairs."""
    # By ranges, as the rivals compare numbers: the scale of the default would favor it.
    judge = Pairs(problem.table, "range").differences
    chosen = np.random.default_rng(0).permutation(len(judge))[:N_HIDDEN]
    names: Sequence[str] = Gower().fit(problem.table).plan_.names
    gains = [
        agreement(judge[j], lists(distances, without(problem, names[j]))) for j in sorted(chosen)
    ]
    return float(np.nanmean(gains))


def classes(distances: Distances, problem: Problem) -> float:
    """Return the leave-one-out accuracy of ten neighbors."""
    return accuracy(lists(distances, problem), problem.y)


WAYS: dict[str, Distances] = {
    "default comparison": default,
    "package gower": gower_package,
    "cosine, one-hot": partial(vectors, "cosine"),
    "Euclidean, one-hot": partial(vectors, "euclidean"),
}


def contenders(score: Callable[[Distances, Problem], float]) -> dict[str, Contender]:
    """Return the comparisons under one score."""
    return {
        name: Contender(
            partial(score, way),
            ours=way is default,
            needs="gower" if way is gower_package else None,
        )
        for name, way in WAYS.items()
    }


PREPARED = (
    "Numbers as z-scores and levels one-hot, or as the package gower compares them; missing "
    "numbers are then medians, missing categories a level."
)
HIDDEN = Contest(
    "hidden",
    "Neighbors, hidden columns",
    f"One column is hidden, ten neighbors are found by the others: 0 as random pairs, 100 if all "
    f"agree. Mean over at most {N_HIDDEN} columns. {PREPARED}",
    "mixed",
    prepare_problem,
    contenders(hidden),
    quick=15,
)
CLASSES = Contest(
    "classes",
    "Neighbors, classes",
    f"Leave-one-out accuracy of ten neighbors on tables with a published class. {PREPARED}",
    "labelled",
    prepare_problem,
    contenders(classes),
    quick=15,
)
