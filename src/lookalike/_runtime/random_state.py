"""Random numbers: one rule for ``random_state`` everywhere."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param
from lookalike.saving.params import Rule


class _RandomState(Rule):
    """Whatever ``make_generator`` takes."""

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if value is None or isinstance(value, np.random.Generator | np.random.RandomState):
            return True
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and int(value) >= 0

    def wants(self) -> str:
        """Say what is allowed, in words."""
        return "None, a whole number of at least 0, a numpy Generator or RandomState"

    def advice(self, value: Any) -> str:
        """Say what to do about a wrong value."""
        return "Use a number such as 0 to repeat a result"


RANDOM_STATE = _RandomState()


def make_generator(random_state: Any) -> np.random.Generator:
    """Turn None, a whole number, a Generator or a RandomState into a Generator."""
    if not RANDOM_STATE.fits(random_state):
        wants, advice = RANDOM_STATE.wants(), RANDOM_STATE.advice(random_state)
        raise InvalidInput(Param("random_state"), wants, repr(random_state), advice)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)


def make_seed(random_state: Any) -> int:
    """Return a whole number for those who hand seeds on; a whole number is its own seed."""
    if RANDOM_STATE.fits(random_state) and isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(make_generator(random_state).integers(2**31))
