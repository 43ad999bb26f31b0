"""Random numbers: one rule for ``random_state`` everywhere."""

import math
import numbers
from typing import Any

import numpy as np

from lookalike.saving.fields import Either, Instance, Integer, Maybe

_DRAWN_FROM = (np.random.Generator, np.random.RandomState)
_DRAWS = Instance(*_DRAWN_FROM, named="a numpy Generator or RandomState")
# Seeds of any size: numpy recommends 128 bits.
RANDOM_STATE = Maybe(Either(Integer(0, high=math.inf), _DRAWS))


def make_generator(random_state: Any) -> np.random.Generator:
    """Turn None, an integer, a Generator or a RandomState into a Generator."""
    hint = "Use an integer such as 0 to repeat a result"
    RANDOM_STATE.check("", "random_state", random_state, hint)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        # Draws from it, as scikit-learn does: two fits with one RandomState differ.
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)


def make_seed(random_state: Any) -> int:
    """Return a seed to pass on; an integer is its own seed."""
    # Kept whole, not drawn from: scikit-learn's estimators given this integer agree with ours.
    if RANDOM_STATE.fits(random_state) and isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(make_generator(random_state).integers(2**31))
