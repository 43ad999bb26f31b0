"""Seeds for those who hand them on."""

import numpy as np
import pytest

from lookalike._runtime.random_state import make_generator, make_seed
from lookalike.errors import InvalidInput


def test_a_number_is_its_own_seed():
    assert make_seed(7) == 7
    assert make_seed(np.int64(7)) == 7


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_gives_the_seeds_of_its_state(make):
    source = make(3)
    assert (make_seed(source), make_seed(source)) != (make_seed(make(3)), make_seed(make(3)))
    assert make_seed(make(3)) == make_seed(make(3)) != make_seed(make(4))


def test_nothing_is_another_seed_each_time():
    assert len({make_seed(None) for _ in range(5)}) > 1


@pytest.mark.parametrize("bad", [-1, True, 0.5, "x"])
def test_what_is_not_a_seed_is_refused(bad):
    with pytest.raises(InvalidInput, match="an integer >= 0"):
        make_seed(bad)


def test_generators_repeat():
    rng = np.random.default_rng(3)
    assert make_generator(rng) is rng
    assert make_generator(7).random() == np.random.default_rng(7).random()
    old = [make_generator(np.random.RandomState(seed)).random() for seed in (1, 1, 2)]
    assert old[0] == old[1] != old[2]
    seeds = np.random.RandomState(1).randint(0, 2**31 - 1, size=4)
    assert old[0] == np.random.default_rng(seeds).random()
    assert make_generator(None).random() != make_generator(None).random()
    assert make_seed(np.random.default_rng(0)) == np.random.default_rng(0).integers(2**31)
