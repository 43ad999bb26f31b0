"""Shares of rows and columns, random streams, and pauses that change nothing."""

import numpy as np
import pytest

from lookalike.errors import InvalidInput
from lookalike.measures import ForestProximity
from lookalike.prediction import RandomSimilarityForestClassifier
from lookalike.trees import SyntheticForest, growing
from lookalike.trees.growing import (
    count_features,
    count_share,
    draw_both,
    grow_each,
    tree_states,
)

RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.random((60, 4))
CLASSES = np.where(NUMBERS[:, 0] + NUMBERS[:, 1] > 1, "big", "small")
CELLS = {
    "size": NUMBERS[:, 0],
    "gaps": np.where(NUMBERS[:, 1] > 0.8, np.nan, NUMBERS[:, 1]),
    "name": [f"{x:.3f}" for x in NUMBERS[:, 2]],
}


@pytest.mark.parametrize("cells", [False, True], ids=["numbers", "cells"])
def test_pauses_change_nothing(cells, monkeypatch):
    calls = []
    usual = growing.grow_by_parts

    def count(n_rows, tree, grow):
        def counted(stack):
            calls.append(n_rows)
            grow(stack)

        return usual(n_rows, tree, counted)

    def answer():
        calls.clear()
        if not cells:
            values = ForestProximity(random_state=0).fit(NUMBERS).similarity()
        else:
            forest = RandomSimilarityForestClassifier(20, random_state=0)
            values = forest.fit(CELLS, CLASSES).predict_proba(CELLS)
        return values, len(calls)

    monkeypatch.setattr(growing, "grow_by_parts", count)
    whole, trees = answer()
    monkeypatch.setattr(growing, "ROWS_BEFORE_PAUSE", 1)
    parts, steps = answer()
    assert trees > 0
    assert steps > 5 * trees
    assert np.array_equal(whole, parts)


def test_shares_must_be_shares():
    for bad in (0, 0.0, -0.5, 1.5, True, "half"):
        with pytest.raises(InvalidInput, match="max_samples="):
            SyntheticForest(max_samples=bad).grow(NUMBERS)
    cases = {1: 10, 0.8: 8, 256: 10, 2: 2, 0.01: 1, 0.7: 7}
    assert {share: count_share(share, 10) for share in cases} == cases


def test_columns_tried_must_be_a_number_of_columns():
    for bad in (0, -1, 0.0, 1.5, True, "half"):
        with pytest.raises(InvalidInput, match="max_features="):
            SyntheticForest(max_features=bad).grow(NUMBERS)
    cases = {"all": 10, "sqrt": 3, 4: 4, 40: 10, 0.5: 5, 0.01: 1}
    assert {share: count_features(share, 10) for share in cases} == cases
    assert count_features("sqrt", 1) == 1


def test_trees_come_in_their_order_whatever_the_threads(monkeypatch):
    for per_task, n_jobs in ((1, 1), (3, 1), (4, 3)):
        monkeypatch.setattr(growing, "TREES_PER_TASK", per_task)
        assert grow_each(lambda t: t, 10, n_jobs) == list(range(10))


def test_every_tree_has_a_stream_of_its_own():
    states = tree_states(7, 50)
    assert len(set(states.tolist())) == 50
    assert (states > 0).all()
    assert np.array_equal(states, tree_states(7, 50))
    assert not np.array_equal(states, tree_states(8, 50))


@pytest.mark.parametrize("replace", [False, True])
def test_samples_hold_both_labels(replace):
    labels, state = np.zeros(50, np.uint8), np.array([5], np.int64)
    labels[7] = 1
    rows = draw_both(labels, 25, replace, state)
    assert 7 in rows
    assert replace or len(set(rows.tolist())) == 25
    assert np.array_equal(np.sort(draw_both(np.array([0, 1]), 2, False, state)), [0, 1])
    with pytest.raises(InvalidInput, match="samples of 25 with one kind only"):
        draw_both(np.zeros(50, np.uint8), 25, replace, state)
