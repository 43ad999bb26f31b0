"""Random numbers for trees: one stream each, whatever the number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.kernels.growing import STATES


def tree_states(random_state: Any, n_trees: int) -> np.ndarray:
    """Return one state of the kernels' generator per tree."""
    return make_generator(random_state).integers(1, STATES, size=n_trees, dtype=np.int64)
