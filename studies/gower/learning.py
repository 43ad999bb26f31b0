"""One random split of one table: learn on the training part, tune inside it, count test errors.

Everything that is chosen (k, the number of prototypes) is chosen by 5-fold cross-validation on the
training part, in which each fold fits its own measure and takes its own prototypes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike._runtime.folds import assign_folds
from lookalike.evaluate.vote import class_totals, winners
from lookalike.measures import Gower, Measure, Vector
from lookalike.measures.task import read_source
from lookalike.represent.prototypes import (
    PrototypeSelector,
    compare_with_prototypes,
    cross_validate_prototypes,
    shares_to_try,
)
from studies.gower.problems import Problem, split_rows

LARGEST_K = 15
FOLDS = 5
METHODS = {
    "medoids_similarity": "medoids, similarity space",
    "medoids": "medoids, data space",
    "relieff": "ReliefF",
    "cfs": "CFS",
}
LEARNERS = ("logistic", "LDA", "linear SVM")


def make_learners() -> dict[str, Any]:
    """Return the learners: with two classes the logistic model, with more the multinomial one."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    return {
        "logistic": LogisticRegression(C=1e4, solver="newton-cholesky"),  # hardly any penalty
        "LDA": LinearDiscriminantAnalysis(),
        "linear SVM": SVC(kernel="linear"),
    }


# -- nearest neighbors -----------------------------------------------------------------------------


def votes_by_k(near: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return the answers of 1, 2, ..., 15 nearest rows; ties go to the class that comes first.

    Parameters
    ----------
    near : array of shape (m, k), positions of neighbors, nearest first
    y : labels of the rows they are among
    """
    classes, codes = np.unique(y, return_inverse=True)
    votes = codes[near]
    found = []
    for k in range(1, near.shape[1] + 1):
        few = votes[:, :k]
        totals = class_totals(few, np.ones(few.shape), len(classes))
        found.append(classes[winners(totals, few, "first")])
    # Fewer than 15 known rows: larger k give the same answer as the largest possible one.
    return found + [found[-1]] * (LARGEST_K - len(found))


def nearest_answers(
    measure: Measure, known: Any, y: np.ndarray, asked: Any
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the answers by each k for asked rows, and the lists they come from."""
    fitted = clone(measure).fit(known, y)  # splits run side by side
    k = min(LARGEST_K, len(y))
    near = fitted.kneighbors(asked, n_neighbors=k, return_distance=False)
    return votes_by_k(near, y), near


def tuned_nearest(
    measure: Measure, table: Any, y: np.ndarray, known: np.ndarray, held: np.ndarray, seed: int
) -> tuple[list[float], int]:
    """Return the test error by each k from 1 to 15, and the k that cross-validation chooses.

    Parameters
    ----------
    measure : Measure, fitted anew in each fold
    table : Table or array
    y : labels of all rows
    known, held : positions of the two parts
    seed : int, of the folds
    """
    # k is chosen inside the training part; the test rows take no part in it.
    inside = y[known]
    folds = assign_folds(inside, len(known), FOLDS, seed, "studies gower")
    wrong = np.zeros(LARGEST_K)
    for fold in range(FOLDS):
        train, test = known[folds != fold], known[folds == fold]
        found, _ = nearest_answers(measure, table[train], y[train], table[test])
        wrong += [float((one != y[test]).sum()) for one in found]
    found, _ = nearest_answers(measure, table[known], inside, table[held])
    errors = [float((one != y[held]).mean()) for one in found]
    return errors, int(wrong.argmin()) + 1


def nearest_error(problem: Problem, seed: int, form: str, measure: Measure | None = None) -> float:
    """Return the test error of nearest neighbors, k chosen among 1..15.

    Parameters
    ----------
    problem : Problem
    seed : int, number of the split
    form : "raw" (Euclidean distances of scaled numbers) or "Gower" (the typed table)
    measure : Measure, instead of the form's own
    """
    known, held = split_rows(problem, seed)
    table: Any = problem.raw if form == "raw" else problem.table
    # The thesis scales plain numbers by their standard deviation and writes zeros for missing
    # values; the typed table keeps both.
    own: Measure = Vector(scale="standard") if form == "raw" else Gower()
    errors, k = tuned_nearest(measure or own, table, problem.y, known, held, seed)
    return errors[k - 1]


# -- learners on similarities to prototypes --------------------------------------------------------


def learner_answers(
    inside: np.ndarray, y: np.ndarray, outside: np.ndarray, names: Sequence[str] = LEARNERS
) -> list[np.ndarray]:
    """Return the answers of each learner, fitted to the columns of the training rows."""
    found = []
    for name, learner in make_learners().items():
        if name in names:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns that say the same, steps that ran out
                found.append(learner.fit(inside, y).predict(outside))
    return found


def all_answers(inside: np.ndarray, y: np.ndarray, outside: np.ndarray) -> list[np.ndarray]:
    """Return the answers of neighbors by each k in the space of the columns, and of learners."""
    return nearest_answers(Vector(), inside, y, outside)[0] + learner_answers(inside, y, outside)


def prototype_errors(
    problem: Problem, seed: int, methods: Sequence[str], measure: Measure | None = None
) -> dict[str, dict[str, float]]:
    """Return test errors by method of choosing prototypes and learner, their number tuned.

    Parameters
    ----------
    problem : Problem
    seed : int, number of the split
    methods : names of ``METHODS``
    measure : Measure; None: Gower with equal weights
    """
    known, held = split_rows(problem, seed)
    y, true = problem.y[known], problem.y[held]
    new = problem.table[held]
    rng = np.random.default_rng(seed)
    source, _ = read_source(measure or Gower(), problem.table[known], y, "studies gower")
    folds = assign_folds(y, len(y), FOLDS, rng, "studies gower")
    places = {"kNN": slice(0, LARGEST_K)} | {
        name: slice(LARGEST_K + at, LARGEST_K + at + 1) for at, name in enumerate(LEARNERS)
    }
    errors: dict[str, dict[str, float]] = {}
    for method in methods:
        # CFS determines the number of prototypes itself.
        sizes = [0] if method == "cfs" else shares_to_try(len(y))
        tuned = cross_validate_prototypes(
            source, y, y, method, sizes, all_answers, lambda a, b: a != b, folds, rng
        )
        # After the number is chosen, prototypes are selected again from the whole training part.
        fitted, rows = source.fit(y)
        selector = PrototypeSelector(fitted, rows, y, method, rng)
        asked = fitted.encode(new)
        kept: dict[int, list[np.ndarray]] = {}
        errors[method] = {}
        for name, place in places.items():
            part = tuned[:, place]
            # The first of the least: fewer prototypes, fewer neighbors.
            size, setting = map(int, np.unravel_index(int(part.argmin()), part.shape))
            if size not in kept:
                prototypes = rows[selector.select(sizes[size])]
                inside, outside = (
                    compare_with_prototypes(fitted, one, prototypes, None) for one in (rows, asked)
                )
                kept[size] = all_answers(inside, y, outside)
            errors[method][name] = float(np.mean(kept[size][place.start + setting] != true))
    return errors
