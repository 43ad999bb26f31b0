"""Figure 2: a tight class inside a loose one, in the plane."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lookalike.evaluate import loo_predict
from studies.hubs.published import SPACES, TOY
from studies.hubs.spaces import distances_of, scaled
from studies.palette import COLOURS, tidy
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

ROWS, TIGHT = 125, 0.05  # of each class; deviations of the tight one in those of the loose one


def run(work: Work) -> Result:
    """Repeat the draw and count the rows that their neighbors name right."""
    repetitions = work.times(10, 50, 50)
    each = [
        work.once(f"{TIGHT} {seed}", partial(_look, seed))
        for seed in work.each("repetitions", range(repetitions))
    ]
    mean = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
    rows: list[dict[str, Any]] = [
        {"space": space}
        | {
            f"C{k} %": Value(
                mean[f"{space} {k}"],
                TOY.get((space, k)),
                digits=1,
                spread=float(np.std([one[f"{space} {k}"] for one in each])),
            )
            for k in (1, 5)
        }
        for space in SPACES
    ]
    about = (
        f"Two normal classes of {ROWS} rows with one center, one {TIGHT} times as wide as the "
        f"other; {repetitions} draws. The paper's sample is not given, so nothing is judged: its "
        "percentages are those of 250 rows."
    )
    finding = Finding(
        "Mutual proximity tells a tight class from the loose one around it better",
        all(mean[f"MP {k}"] > mean[f"original {k}"] for k in (1, 5)),
        ", ".join(f"C{k} {mean[f'original {k}']:.1f}, MP {mean[f'MP {k}']:.1f}" for k in (1, 5))
        + " % (96.4, 100 and 95.2, 98.8)",
    )

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for at, points in enumerate(np.split(_points(0), 2)):
            axes.plot(*points.T, ".", markersize=4, color=COLOURS[at])
        tidy(axes)
        axes.set_aspect("equal")

    alt = "One draw: a tight class in the middle of a loose one"
    sheet = Sheet("toy", "Figure 2: a tight class in a loose one", rows, about)
    return Result([sheet], [finding], [Plot("figure2", alt, draw, (4.0, 4.0))])


def _points(seed: int) -> np.ndarray:
    points: np.ndarray = np.random.default_rng(seed).normal(size=(2 * ROWS, 2))
    points[:ROWS] *= TIGHT
    return points


def _look(seed: int) -> dict[str, float]:
    y = np.repeat([0, 1], ROWS)
    found = {}
    for title, space in scaled(distances_of(_points(seed), "euclidean")).items():
        lists = space.neighbors(k=5)
        for k in (1, 5):
            found[f"{title} {k}"] = 100 * float((loo_predict(lists, y, k) == y).mean())
    return found
