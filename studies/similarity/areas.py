"""Areas under the curve of the three forests, fold by fold.

Ten repetitions of stratified two-fold cross-validation in the paper; 100 trees for everybody, RSF
with half of the columns and one pair of examples per column and node, RF and SF at their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from studies.similarity.package import PackageForest


def halves(y: np.ndarray, repetition: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Cut rows into two halves with equal shares of the classes; each is known once."""
    from sklearn.model_selection import StratifiedKFold

    # Two folds as in the paper: each half is the training set once.
    split = StratifiedKFold(2, shuffle=True, random_state=repetition)
    yield from split.split(np.zeros(len(y)), y)


def make_forest(method: str, seed: int, n_trees: int = 100, **options: Any) -> Any:
    """Return one of the three forests, as the paper sets it."""
    from sklearn.ensemble import RandomForestClassifier

    from lookalike.prediction import RandomSimilarityForestClassifier, SimilarityForestClassifier

    if method == "RF":
        return RandomForestClassifier(n_trees, random_state=seed, **options)
    if method == "RSF":
        return RandomSimilarityForestClassifier(n_trees, random_state=seed, **options)
    return SimilarityForestClassifier(n_estimators=n_trees, random_state=seed, **options)


def _areas(
    y: np.ndarray, repetition: int, score: Callable[[np.ndarray, np.ndarray, int], np.ndarray]
) -> list[float]:
    """Return the areas of both halves; ``score`` learns from the first and scores the second."""
    from sklearn.metrics import roc_auc_score

    return [
        float(roc_auc_score(y[held], score(known, held, 2 * repetition + at)))
        for at, (known, held) in enumerate(halves(y, repetition))
    ]


def areas_of_numbers(
    x: np.ndarray, y: np.ndarray, method: str, repetition: int, **options: Any
) -> list[float]:
    """Return the areas of a forest on numbers; "SF, package" is the public package's split."""
    if method == "SF, package":
        gram = x @ x.T
        # Squared Euclidean distances: their difference to two examples is linear in x.
        square = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
        return areas_of_distances(square, y, method, repetition)

    def score(known: np.ndarray, held: np.ndarray, seed: int) -> np.ndarray:
        model = make_forest(method, seed, **options).fit(x[known], y[known])
        out: np.ndarray = model.predict_proba(x[held])[:, 1]
        return out

    return _areas(y, repetition, score)


def areas_of_table(table: Any, y: np.ndarray, repetition: int) -> list[float]:
    """Return the areas of RSF on a table of any columns."""

    def score(known: np.ndarray, held: np.ndarray, seed: int) -> np.ndarray:
        model = make_forest("RSF", seed).fit(table[known], y[known])
        out: np.ndarray = model.predict_proba(table[held])[:, 1]
        return out

    return _areas(y, repetition, score)


def areas_of_distances(
    matrix: np.ndarray, y: np.ndarray, method: str, repetition: int
) -> list[float]:
    """Return the areas of RSF, SF or the package's SF on objects known by their distances."""
    from lookalike.table import read_table

    # The column holds positions in the matrix, so rows can be split without slicing it.
    places = read_table({"at": np.arange(len(y), dtype=float)}, kinds={"at": "number"})

    def score(known: np.ndarray, held: np.ndarray, seed: int) -> np.ndarray:
        out: np.ndarray
        if method == "RSF":
            model = make_forest("RSF", seed, distances={"at": matrix})
            out = model.fit(places[known], y[known]).predict_proba(places[held])[:, 1]
            return out
        inner, outer = matrix[np.ix_(known, known)], matrix[np.ix_(held, known)]
        if method == "SF":
            model = make_forest("SF", seed, measure="precomputed").fit(inner, y[known])
            out = model.predict_proba(outer)[:, 1]
            return out
        return PackageForest(seed).fit(inner, y[known]).score(outer)

    return _areas(y, repetition, score)
