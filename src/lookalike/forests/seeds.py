"""Random numbers for trees: one stream each, whatever the number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._random import make_generator
from lookalike.kernels.draw import STATES

__all__ = ["tree_states"]


def tree_states(random_state: Any, n_trees: int) -> np.ndarray:
    """Return one state of the kernels' generator per tree."""
    return make_generator(random_state).integers(1, STATES, size=n_trees, dtype=np.int64)
