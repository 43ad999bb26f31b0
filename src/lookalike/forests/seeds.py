"""Random numbers for trees: one stream each, whatever the number of threads."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, message

__all__ = ["make_generator", "tree_states"]


def make_generator(random_state: Any) -> np.random.Generator:
    """Turn None, a whole number, a Generator or a RandomState into a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if random_state is None or (whole and int(random_state) >= 0):
        return np.random.default_rng(random_state)
    raise InvalidInput(
        message(
            "random_state",
            "None, a whole number of at least 0 or a numpy Generator",
            repr(random_state),
            "Use a number such as 0 to repeat a result",
        )
    )


def tree_states(random_state: Any, n_trees: int) -> np.ndarray:
    """Return one state of the kernels' generator per tree."""
    from lookalike.kernels.draw import STATES

    return make_generator(random_state).integers(1, STATES, size=n_trees, dtype=np.int64)
