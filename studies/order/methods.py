"""The contenders of the paper, and the seven scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.datasets import transforms
from lookalike.measures import ForestProximity, Measure, Ranked, StochasticForest, Vector

DISTANCES = ("cityblock", "euclidean", "cosine", "chebyshev")
PLAIN = DISTANCES
RANKED = tuple(f"ranked {name}" for name in DISTANCES)
SCALES = ("as it is", "exp", "square", "sqrt", "log", "inverse", "exp_minus")
KEPT = SCALES[:5]  # the scales that keep the order of values; the last two reverse it


def scales(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return a table of numbers in [0, 1] on its own scale and on six others."""
    return {"as it is": x, **transforms(x)}


def make(name: str, seed: int | None = 0, trees: int = 1000, height: int = 5) -> Measure:
    """Return a measure of the paper by its name; "SimUSF" and "SimURF" are the forests."""
    forests: dict[str, Any] = {
        "SimUSF": lambda: StochasticForest(trees, height, on_fail="relax", random_state=seed),
        "SimURF": lambda: ForestProximity("oob", n_estimators=trees, random_state=seed),
    }
    if name in forests:
        measure: Measure = forests[name]()
        return measure
    if name.startswith("ranked "):
        return Ranked(name.removeprefix("ranked "))
    return Vector(name)
