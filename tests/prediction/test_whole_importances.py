"""Shuffling a column of whole rows changes their distances, column by column."""

import numpy as np
import pytest

from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.prediction import SimilarityForestClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * [10.0, 1.0, 1.0]
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("measure", ["euclidean", Gower()], ids=str)
def test_only_the_column_that_tells_matters(measure):
    model = SimilarityForestClassifier(measure, 20, random_state=0).fit(X, Y)
    losses = model.permutation_importances(X, Y, n_repeats=3, random_state=0)
    means = {name: loss.mean() for name, loss in losses.items()}
    assert means["x0"] > 0.25
    assert abs(means["x1"]) < 0.2 > abs(means["x2"])
    assert means["x0"] > 2 * max(means["x1"], means["x2"])


def test_a_matrix_has_no_columns_to_shuffle():
    d = np.abs(X[:, :1] - X[:, 0])
    model = SimilarityForestClassifier("precomputed", 5, random_state=0).fit(d, Y)
    with pytest.raises(InvalidInput, match="columns to shuffle, found a matrix of distances"):
        model.permutation_importances(d, Y)
