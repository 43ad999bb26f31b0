"""Trees that are grown in parts are the trees that are grown at once."""

import numpy as np
import pytest

from lookalike.measures import ForestProximity
from lookalike.prediction import RandomSimilarityForestClassifier
from lookalike.trees import growers
from lookalike.trees.cells import growing as cell_growing

RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.random((60, 4))
CLASSES = np.where(NUMBERS[:, 0] + NUMBERS[:, 1] > 1, "big", "small")
CELLS = {
    "size": NUMBERS[:, 0],
    "gaps": np.where(NUMBERS[:, 1] > 0.8, np.nan, NUMBERS[:, 1]),
    "name": [f"{x:.3f}" for x in NUMBERS[:, 2]],
}


@pytest.mark.parametrize("module", [growers, cell_growing], ids=["numbers", "cells"])
def test_pauses_change_nothing(module, monkeypatch):
    calls = []
    usual = module.grow_by_parts

    def count(n_rows, grow):
        def counted(stack):
            calls.append(n_rows)
            grow(stack)

        return usual(n_rows, counted)

    def answer():
        calls.clear()
        if module is growers:
            values = ForestProximity(random_state=0).fit(NUMBERS).similarity()
        else:
            forest = RandomSimilarityForestClassifier(20, random_state=0)
            values = forest.fit(CELLS, CLASSES).predict_proba(CELLS)
        return values, len(calls)

    monkeypatch.setattr(module, "grow_by_parts", count)
    whole, trees = answer()
    monkeypatch.setattr(module, "PAUSE", 1)
    parts, steps = answer()
    assert trees > 0
    assert steps > 5 * trees
    assert np.array_equal(whole, parts)
