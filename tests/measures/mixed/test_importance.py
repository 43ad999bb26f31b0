"""Weights by what a learner loses without a column."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.measures import Gower, importance_weights

RNG = np.random.default_rng(0)
N = 120
SOUND = RNG.choice(["meow", "woof", "moo"], N)
TABLE = {
    "luck": RNG.random(N),
    "sound": [None if i % 10 == 0 else s for i, s in enumerate(SOUND)],
    "weight": [None if i % 9 == 0 else float(v) for i, v in enumerate(RNG.random(N))],
    "tags": [{"pet", s[0]} if i % 2 else {"pet"} for i, s in enumerate(SOUND)],
    "day": RNG.choice(["mon", "tue"], N),
}
SMALL = RandomForestClassifier(30, min_samples_leaf=2, random_state=0)


def test_columns_that_tell_the_class_weigh_most():
    found = importance_weights({**TABLE, "animal": SOUND}, "animal", estimator=SMALL)
    assert found.shape == (len(TABLE),)
    assert found.dtype == np.float64
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    weights = dict(zip(TABLE, found, strict=True))
    assert weights["sound"] > 0.5
    assert weights["tags"] > max(weights["luck"], weights["day"], weights["weight"])
    by_position = Gower(weights=found).fit(TABLE).similarity()
    np.testing.assert_array_equal(by_position, Gower(weights=weights).fit(TABLE).similarity())


def test_shuffled_classes_tell_nothing_like_it():
    # Weights sum to 1, so with nothing to find any column may stand out in a single draw.
    shuffled = [np.random.default_rng(seed).permutation(SOUND) for seed in range(5)]
    weights = [importance_weights(TABLE, y, estimator=SMALL) for y in shuffled]
    assert np.mean(weights, axis=0)[list(TABLE).index("sound")] < 0.4


def test_a_target_of_numbers_and_another_learner():
    x = RNG.random((N, 3))
    y = 3 * x[:, 0] + x[:, 1]
    weights = importance_weights(x, y, estimator=LinearRegression())
    # Shuffling a column of a linear model costs twice its variance times the slope squared.
    expected = 9 * x[:, 0].var() / (9 * x[:, 0].var() + x[:, 1].var())
    assert weights[0] == pytest.approx(expected, abs=0.03)
    assert weights[2] < 0.01
    again = importance_weights(x, y, estimator=LinearRegression())
    np.testing.assert_array_equal(weights, again)
    other = importance_weights(x, y, estimator=LinearRegression(), random_state=1)
    assert (weights != other).any()


def test_nothing_to_learn_means_equal_weights_and_a_warning():
    x = np.zeros((20, 2))
    with pytest.warns(LookalikeWarning, match="all columns are weighted equally"):
        weights = importance_weights(x, [0, 1] * 10, estimator=DecisionTreeClassifier())
    assert weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("y", "words"),
    [(None, "Pass y"), (["a"] * N, "at least two classes"), (["a"], "one target value")],
)
def test_bad_targets(y, words):
    with pytest.raises(InvalidInput, match=words):
        importance_weights(TABLE, y)


@pytest.mark.parametrize("endless", [np.inf, -np.inf])
def test_infinite_numbers_are_refused_in_our_words(endless):
    rows = {"x": [1.0, endless, 2.0, 3.0] * 5, "z": list(range(20))}
    with pytest.raises(InvalidInput, match=r"column 'x', row 1: needs finite numbers"):
        importance_weights(rows, [0, 1] * 10)


@pytest.mark.parametrize("unit", [1e150, 1e-150, 1e300])
@pytest.mark.long
def test_importance_has_no_unit(unit):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=60), rng.normal(size=60)
    plain = importance_weights({"x": x, "noise": noise}, x, random_state=0)
    found = importance_weights({"x": x * unit, "noise": noise}, x * unit, random_state=0)
    assert found[0] == pytest.approx(plain[0], abs=0.02)
    assert found[0] > 0.9
