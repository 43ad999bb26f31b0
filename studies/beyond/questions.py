"""What is asked of the scores: who meets whom, on which tables and tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.beyond.contenders import MEASURES, REDUCERS
from studies.beyond.scores import Method, Scores

THREE = ("neighbors", "retrieval", "medoids")  # every reducer was put to these
FOUR = (*THREE, "spectral")
AUTO: Method = ("auto", "none")
TABLES = {"numbers": "tables of numbers", "mixed": "tables with mixed columns or missing values"}

SORTS = {"numbers": ["numbers"], "mixed": ["mixed"], "any": ["numbers", "mixed", "objects"]}

# What each paper would take, and the combinations that none of them could try.
WINNERS: dict[str, Method] = {
    "SimUSF (order and scale)": ("SimUSF", "none"),
    "MP on Euclidean (hubs)": ("Euclidean", "MP"),
    "RatioRF (forest clustering)": ("RatioRF", "none"),
    "Gower (mixed data)": ("Gower", "none"),
}
COMBINATIONS: dict[str, Method] = {
    "Gower on ranks": ("Gower on ranks", "none"),
    "MP on Gower on ranks": ("Gower on ranks", "MP"),
    "NICDM on Gower on ranks": ("Gower on ranks", "NICDM"),
    "MP on RatioRF": ("RatioRF", "MP"),
    "NICDM on RatioRF": ("RatioRF", "NICDM"),
    "MP on SimUSF": ("SimUSF", "MP"),
    "NICDM on SimUSF": ("SimUSF", "NICDM"),
    "RatioRF on cells": ("RatioRF on cells", "none"),
    "NICDM on RatioRF on cells": ("RatioRF on cells", "NICDM"),
    "NICDM on cosine": ("cosine", "NICDM"),
}


def plain(names: Sequence[str]) -> dict[str, Method]:
    """Return measures without a reducer."""
    return {name: (name, "none") for name in names}


def against_none(scores: Scores, reducer: str, task: str) -> tuple[float, int, int]:
    """Return the mean gain of a reducer, and how often it is ahead and behind."""
    ahead = np.array(
        [
            score - scores.by[name, measure, "none", task]
            for (name, measure, one, what), score in scores.by.items()
            if one == reducer and what == task
        ]
    )
    gain = float(ahead.mean()) if len(ahead) else 0.0
    return gain, int((ahead > 0.005).sum()), int((ahead < -0.005).sum())


def duelists(scores: Scores, sort: str) -> tuple[dict[str, Method], dict[str, Method]]:
    """Return the combinations and the papers' winners that can be put to a sort of tables."""
    sets = scores.sets(sorts=[sort])

    def able(methods: dict[str, Method]) -> dict[str, Method]:
        return {
            label: method
            for label, method in methods.items()
            if all(scores.has(method, task, sets) for task in THREE)
        }

    return able(COMBINATIONS), able(WINNERS)


def candidates(scores: Scores, sorts: Sequence[str]) -> dict[str, Method]:
    """Return every measure with every reducer that can be put to sorts of tables."""
    sets = scores.sets(sorts=sorts)
    return {
        measure if reducer == "none" else f"{reducer} on {measure}": (measure, reducer)
        for measure in MEASURES
        for reducer in REDUCERS
        if all(scores.has((measure, reducer), task, sets) for task in THREE)
    }


def best_of(scores: Scores, sorts: Sequence[str]) -> str:
    """Return the combination that leads on the selection half."""
    found = scores.rank(candidates(scores, sorts), THREE, scores.sets("selection", sorts))
    return next(iter(found.ranks))
