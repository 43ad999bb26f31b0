"""Random similarity isolation forests: scores, depths and saving."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.prediction import (
    RandomSimilarityIsolationForest,
)
from lookalike.prediction.isolation_forest import average_depth


def test_average_depth_is_that_of_the_paper():
    def slow(n):  # the expected depth of a leaf when every split of n rows is equally likely
        return 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n

    assert average_depth(np.array([0, 1, 2])).tolist() == [0, 0, 1]
    for n in (3, 10, 256):
        assert average_depth(np.array([n]))[0] == pytest.approx(slow(n))


def test_scores_are_mean_depths():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    model = RandomSimilarityIsolationForest(7, max_samples=32, random_state=0).fit(X)
    trees, leaves = model.trees_, model.apply(X)
    for row in (0, 50, 99):
        depths = []
        for t in range(7):
            node = trees.offsets[t] + leaves[row, t]
            depths.append(trees.depth[node] + average_depth(trees.entries[node : node + 1])[0])
        score = -(2 ** (-np.mean(depths) / average_depth(np.array([32]))[0]))
        assert model.score_samples(X)[row] == pytest.approx(score)
    assert_allclose(model.decision_function(X), model.score_samples(X) + 0.5)


def test_numbers_are_isolated_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 3)), rng.normal(5, 1, (15, 3))])
    odd = np.repeat([0, 1], [300, 15])
    ours = RandomSimilarityIsolationForest(random_state=0).fit(X)
    theirs = IsolationForest(random_state=0).fit(X)
    assert roc_auc_score(odd, -ours.score_samples(X)) > 0.97
    assert np.corrcoef(ours.score_samples(X), theirs.score_samples(X))[0, 1] > 0.95


def test_odd_texts_and_sets_are_found():
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abc"), 5)) for _ in range(95)]
    names += ["".join(rng.choice(list("xyz"), 14)) for _ in range(5)]
    sets = [set(rng.choice(list("abcd"), 2).tolist()) for _ in range(95)]
    sets += [set(rng.choice(list("stuvwxyz"), 6).tolist()) for _ in range(5)]
    table = la.read_table({"name": names, "set": sets}, kinds={"name": "text", "set": "set"})
    model = RandomSimilarityIsolationForest(
        contamination=0.05, distances={"name": "levenshtein"}, random_state=0
    )
    found = model.fit_predict(table)
    assert (found == -1).sum() == 5
    odd = np.arange(100) >= 95
    assert roc_auc_score(odd, -model.score_samples(table)) > 0.9
    # Any two cells for a pair: what is far from everything lands in the middle between them.
    other = RandomSimilarityIsolationForest(pairs="random", random_state=0).fit(table)
    assert roc_auc_score(odd, -other.score_samples(table)) < 0.5


def test_isolation_forest_is_saved(tmp_path):
    table = la.read_table({"t": ["a", "ab", "abc", "x" * 20], "n": [1.0, 2.0, None, 90.0]})
    model = RandomSimilarityIsolationForest(20, random_state=0, kinds={"t": "text"}).fit(table)
    model.save(tmp_path / "m.lookalike")
    again = la.load(tmp_path / "m.lookalike")
    assert_array_equal(again.score_samples(table), model.score_samples(table))
    with pytest.raises(InvalidInput, match="contamination"):
        RandomSimilarityIsolationForest(contamination=0.7).fit(table)


@pytest.mark.parametrize("option", ["max_samples", "contamination"])
def test_a_share_of_no_rows_is_refused(option):
    model = RandomSimilarityIsolationForest(3, **{option: 0.0})
    with pytest.raises(InvalidInput, match=f"{option}=0.0"):
        model.fit(np.arange(12.0).reshape(6, 2))
