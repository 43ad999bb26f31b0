"""The scores as critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from studies.beyond.contenders import MEASURES, REDUCERS
from studies.beyond.questions import COMBINATIONS, FOUR, THREE, WINNERS, plain
from studies.beyond.scores import Scores
from studies.diagram import draw_diagram, rank_methods
from studies.result import Plot


def make_plots(scores: Scores) -> list[Plot]:
    """Return the diagrams."""
    numbers = scores.sets(sorts=["numbers"])

    def measures(figure: Any) -> None:
        grid = figure.subplots(4, 1)  # one below the other: a page is 700 pixels wide
        for axes, task in zip(grid, FOUR, strict=True):
            draw_diagram(axes, scores.rank(plain([*MEASURES, "auto"]), [task], numbers), task)

    def combinations(task: str) -> Callable[[Any], None]:
        def draw(figure: Any) -> None:
            ranking = scores.rank(WINNERS | COMBINATIONS, [task], numbers)
            draw_diagram(figure.add_subplot(), ranking, task)

        return draw

    def reducers(figure: Any) -> None:
        grid = figure.subplots(3, 1)
        for axes, task in zip(grid, THREE, strict=True):
            means = {
                reducer: [
                    float(np.mean([scores.by[name, one, reducer, task] for one in MEASURES]))
                    for name in numbers
                ]
                for reducer in REDUCERS
            }
            draw_diagram(axes, rank_methods(means), task)

    return [
        Plot(
            "measures",
            "Critical-difference diagrams of the measures alone, four tasks",
            measures,
            (8.0, 11.0),
        ),
        Plot(
            "reducers",
            "Critical-difference diagrams of the reducers, scores averaged over measures",
            reducers,
            (8.0, 7.0),
        ),
        *(
            Plot(
                f"combinations-{task}",
                f"Critical-difference diagram of the papers' winners and the combinations, {task}",
                combinations(task),
                (8.4, 3.1),
            )
            for task in THREE
        ),
    ]
