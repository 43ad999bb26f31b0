"""With labels: the papers' classifiers against neighbors under combined measures, on every set.

Cross-validation with the same folds for all. Random similarity forests are the winner of their
paper, a linear learner on similarities to prototypes that of another; against them stand neighbors
under measures that no paper combined, one of them read out of the forest itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike._runtime.folds import assign_folds
from lookalike._runtime.threads import run as run_side_by_side
from lookalike.hubness import NICDM
from lookalike.measures import ForestProximity, Gower
from lookalike.prediction import NeighborClassifier, RandomSimilarityForestClassifier
from lookalike.represent import SimilarityRepresentation
from studies.beyond import notes
from studies.beyond.sets import Prepared, load_set
from studies.diagram import draw_diagram, rank_methods
from studies.recipes import shared_sets
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

K = 5
SHARE = 0.1  # of the rows as prototypes
RSF = "random similarity forest"


class _ForestNeighbors:
    """Neighbors under RatioRF, read out of a random similarity forest that has seen the labels."""

    def __init__(self, trees: int) -> None:
        self.trees = trees

    def fit(self, table: Any, y: np.ndarray) -> _ForestNeighbors:
        forest = RandomSimilarityForestClassifier(self.trees, random_state=0).fit(table, y)
        measure = ForestProximity("ratio", model=forest, undefined=0.0)
        self.model_ = NeighborClassifier(measure, n_neighbors=K, weights="uniform").fit(table, y)
        return self

    def predict(self, table: Any) -> np.ndarray:
        return np.asarray(self.model_.predict(table))


def _prototypes(measure: Gower) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.pipeline import make_pipeline

    columns = SimilarityRepresentation(measure, n_prototypes=SHARE, random_state=0)
    return make_pipeline(columns, LinearDiscriminantAnalysis())


CONTENDERS: dict[str, Callable[[int], Any]] = {
    RSF: lambda trees: RandomSimilarityForestClassifier(trees, random_state=0),
    "neighbors, RatioRF of that forest": _ForestNeighbors,
    "prototypes of Gower, LDA": lambda trees: _prototypes(Gower(undefined=0.0)),
    "prototypes of Gower on ranks, LDA": lambda trees: _prototypes(
        Gower(scale="rank", undefined=0.0)
    ),
    "neighbors, Gower": lambda trees: NeighborClassifier(
        Gower(undefined=0.0), n_neighbors=K, weights="uniform"
    ),
    "neighbors, Gower on ranks": lambda trees: NeighborClassifier(
        Gower(scale="rank", undefined=0.0), n_neighbors=K, weights="uniform"
    ),
    "neighbors, NICDM on Gower on ranks": lambda trees: NeighborClassifier(
        NICDM(Gower(scale="rank", undefined=0.0)), n_neighbors=K, weights="uniform"
    ),
}


def run(work: Work) -> Result:
    """Cross-validate every contender on every set."""
    every = work.available(shared_sets())
    names = work.pick(every[::3], every, every)
    rows = work.times(quick=120, default=400, full=2000)
    trees = work.times(quick=30, default=100, full=100)
    folds = work.times(quick=3, default=5, full=5)

    def one(name: str, label: str) -> float:
        key = f"{name}/{label}/{rows}/{trees}/{folds}"
        return float(work.once(key, lambda: _accuracy(work, name, label, rows, trees, folds)))

    parts = [(name, label) for name in names for label in CONTENDERS]
    made = run_side_by_side(one, parts, None, f"{work.name}: sets and learners")
    scores: dict[str, list[float]] = {label: [] for label in CONTENDERS}
    for (_, label), score in zip(parts, made, strict=True):
        scores[label].append(score)
    return _result(scores, names, rows, trees, folds)


def _accuracy(work: Work, name: str, label: str, rows: int, trees: int, folds: int) -> float:
    prepared: Prepared = load_set(work.data, name, rows)
    y = prepared.y
    # One seed: all contenders are tested on the same folds, so that scores are paired.
    fold = assign_folds(y, len(y), folds, 0, "studies beyond")
    right = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of one row, columns that repeat each other
        for at in range(folds):
            known, held = np.flatnonzero(fold != at), np.flatnonzero(fold == at)
            model = CONTENDERS[label](trees)
            model.fit(prepared.table[known], y[known])
            right += int((model.predict(prepared.table[held]) == y[held]).sum())
    return right / len(y)


def _result(
    scores: dict[str, list[float]], names: list[str], rows: int, trees: int, folds: int
) -> Result:
    ranking = rank_methods(scores)
    forest = np.array(scores[RSF])
    lines = []
    for label, rank in ranking.ranks.items():
        ahead = np.array(scores[label]) - forest
        line: dict[str, Any] = {"learner": label}
        line["accuracy, %"] = Value(100 * float(np.mean(scores[label])), digits=1)
        line["mean rank"] = Value(rank, digits=2)
        line["better : worse than the forest"] = (
            "" if label == RSF else f"{(ahead > 0.005).sum()} : {(ahead < -0.005).sum()}"
        )
        lines.append(line)
    about = notes.LEARNERS.format(sets=len(names), rows=rows, trees=trees, folds=folds)
    about += f" Friedman p {ranking.p:.2g}, critical difference {ranking.difference:.2f}."
    sheet = Sheet("learners", "Classifiers, cross-validated", lines, about)
    best = next(label for label in ranking.ranks if label != RSF)
    finding = Finding(
        "a combination beats random similarity forests by more than the critical difference",
        ranking.ranks[best] < ranking.ranks[RSF] and ranking.apart(best, RSF),
        f"mean rank of the best, {best}, {ranking.ranks[best]:.2f}, of the forest "
        f"{ranking.ranks[RSF]:.2f}, "
        f"critical difference {ranking.difference:.2f}",
        notes.FOREST_STANDS,
    )

    def draw(figure: Any) -> None:
        draw_diagram(figure.add_subplot(), ranking, f"right labels, {len(names)} sets")

    alt = "Critical-difference diagram of the classifiers"
    return Result([sheet], [finding], [Plot("learners", alt, draw, (9.0, 3.0))])
