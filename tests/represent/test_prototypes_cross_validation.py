"""Shares of prototypes that are tried, and the loss on rows that were held out."""

import numpy as np

from lookalike.measures import Vector
from lookalike.measures.task import read_source
from lookalike.represent.prototypes import cross_validate_prototypes, shares_to_try


def test_shares_are_rounded_half_to_even_without_repeats():
    assert shares_to_try(50) == [2, 3, 4, 5]
    assert shares_to_try(2) == [2]
    assert shares_to_try(1) == []


def test_each_fold_is_predicted_by_prototypes_of_the_others():
    points = np.arange(8.0)[:, None]
    target = np.arange(8.0)
    source, _ = read_source(Vector(), points, None, "test")
    folds = np.arange(8) % 2
    widths = []

    def learn(inside, known, outside):
        widths.append((inside.shape, outside.shape))
        return [np.full(len(outside), known.mean()), np.zeros(len(outside))]

    def loss(found, true):
        return np.abs(found - true)

    rng = np.random.default_rng(0)
    losses = cross_validate_prototypes(
        source, target, target, "medoids", [2, 9], learn, loss, folds, rng
    )
    # More prototypes than a fold has rows means all of its rows.
    assert widths == [((4, 2), (4, 2)), ((4, 4), (4, 4))] * 2
    means = np.where(folds == 0, target[1::2].mean(), target[::2].mean())
    np.testing.assert_allclose(losses, [[np.abs(means - target).mean(), 3.5]] * 2)
