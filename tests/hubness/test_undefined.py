"""Rows with nothing to compare share the places at the end of the lists."""

import numpy as np
import pytest

from lookalike.hubness import k_occurrence
from lookalike.measures import Gower

ROWS = {"x": [1.0, None, 2.0, 9.0, 4.0], "c": ["a", None, "b", "c", "a"]}


@pytest.mark.parametrize("ties", ["index", "expected", "random"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_every_place_is_given_once(ties, k):
    counts = k_occurrence(Gower().fit(ROWS), k=k, ties=ties)
    assert counts.sum() == pytest.approx(5 * k)


def test_an_empty_row_gives_everybody_the_same():
    shared = k_occurrence(Gower().fit(ROWS), k=1, ties="expected")
    without = {name: [v for i, v in enumerate(values) if i != 1] for name, values in ROWS.items()}
    alone = k_occurrence(Gower().fit(without), k=1, ties="expected")
    assert shared[[0, 2, 3, 4]] == pytest.approx(alone + 0.25)
    assert shared[1] == 0
    assert np.isfinite(shared).all()
