"""Time series: neighbors by dynamic time warping and similarity forests beside aeon's neighbors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.columns import DTW, MSM, TWE, Distance
from lookalike.measures import Gower
from lookalike.prediction import NeighborClassifier, RandomSimilarityForestClassifier
from studies.board.contest import Contender, Contest
from studies.board.split import Entry
from studies.recipes import MissingSet

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # series and classes, twice
WINDOW = 0.1  # of warping, as a share of the length


def prepare(entry: Entry, data: Path, most: int) -> Split:
    """Return the published training and test series; of large sets the first of each."""
    spec = find_spec("aeon")
    if spec is None or spec.origin is None:
        raise MissingSet(entry.name, "package aeon is not installed")
    folder = Path(spec.origin).parent / "datasets" / "data" / entry.name
    known, held = (_read(folder / f"{entry.name}_{part}.ts") for part in ("TRAIN", "TEST"))
    return *_some(*known, most), *_some(*held, most)


def _read(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return series of equal length and their classes, from a file of aeon."""
    lines = file.read_text("utf-8").splitlines()
    begin = next(at for at, line in enumerate(lines) if line.strip().lower() == "@data")
    cells = [line.rsplit(":", 1) for line in lines[begin + 1 :] if line.strip()]
    rows = np.array([np.fromstring(numbers, sep=",") for numbers, _ in cells])
    return rows, np.array([label.strip() for _, label in cells])


def _some(rows: np.ndarray, y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    chosen = np.random.default_rng(0).permutation(len(y))
    n = min(len(y), most, max(60, most * 100 // rows.shape[1]))
    return rows[chosen[:n]], y[chosen[:n]]


def as_table(rows: np.ndarray) -> Any:
    """Return series as a table of one column."""
    from lookalike.table import read_table

    return read_table({"series": [row.tolist() for row in rows]}, kinds={"series": "series"})


def ours(model: Any, problem: Split) -> float:
    """Return the accuracy of a model of ours on the test series."""
    rows, y, held, answers = problem
    return float((model.fit(as_table(rows), y).predict(as_table(held)) == answers).mean())


def nearest(make: Callable[[int], Distance], problem: Split) -> float:
    """Return the accuracy of the nearest neighbor; ``make`` is given the window of warping."""
    distance = make(round(WINDOW * problem[0].shape[1]))
    return ours(NeighborClassifier(Gower(distances={"series": distance}), n_neighbors=1), problem)


def forest(problem: Split) -> float:
    """Return the accuracy of the random similarity forest."""
    return ours(RandomSimilarityForestClassifier(random_state=0), problem)


def rival(distance: str, params: dict[str, float], problem: Split) -> float:
    """Return the accuracy of aeon's nearest neighbor under one of its distances."""
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    rows, y, held, answers = problem
    model = KNeighborsTimeSeriesClassifier(distance, n_neighbors=1, distance_params=params)
    return float((model.fit(rows[:, None], y).predict(held[:, None]) == answers).mean())


DISTANCES = {"euclidean": {}, "dtw": {"window": WINDOW}, "msm": {}, "twe": {}}
CONTEST = Contest(
    "series",
    "Time series",
    "Accuracy on the published test series of sets in the wheel of aeon. Dynamic time warping is "
    "within a tenth of the length; MSM (move, split, merge) and TWE (edits) have their defaults.",
    "series",
    prepare,
    {
        "1-NN, DTW": Contender(partial(nearest, lambda window: DTW(window=window)), ours=True),
        "1-NN, MSM": Contender(partial(nearest, lambda window: MSM()), ours=True),
        "1-NN, TWE": Contender(partial(nearest, lambda window: TWE()), ours=True),
        "RandomSimilarityForest": Contender(forest, ours=True),
    }
    | {
        f"aeon 1-NN, {name}": Contender(partial(rival, name, params), needs="aeon")
        for name, params in DISTANCES.items()
    },
    quick=3,
)
