"""One measure on one table: cross-validation, seeds, time and memory, errors and notes."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import StratifiedKFold

from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.evaluate import loo_accuracy
from lookalike.hubness import NICDM
from lookalike.leaderboard import compare
from lookalike.leaderboard.trial import N_FOLDS
from lookalike.measures import (
    ForestProximity,
    Gower,
    Measure,
    StochasticForest,
    Vector,
)
from lookalike.prediction import NeighborClassifier
from lookalike.trees import SyntheticForest

RNG = np.random.default_rng(0)
BLOBS = np.concatenate([RNG.normal(size=(40, 3)), RNG.normal(size=(40, 3)) + 2.0])
NAMES = np.repeat(["left", "right"], 40)
LEARNED = Gower(weights="relieff")


def test_what_learns_from_labels_is_cross_validated():
    board = compare(BLOBS, {"learned": LEARNED}, NAMES, k=3, random_state=4)
    seed = int(np.random.default_rng(4).integers(2**31))
    codes = (NAMES == NAMES[-1]).astype(int)  # by first appearance
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    right = 0
    for known, asked in splitter.split(BLOBS, codes):
        model = NeighborClassifier(LEARNED, 3, weights="uniform").fit(BLOBS[known], NAMES[known])
        right += (model.predict(BLOBS[asked]) == NAMES[asked]).sum()
    assert board["learned"].scored_by == "cross-validation"
    assert board["learned"].score == pytest.approx(right / 80)
    assert "learned*" in str(board)


@pytest.mark.long
def test_labels_that_mean_nothing_score_chance():
    naive, honest, forest_naive, forest_honest = [], [], [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, labels = rng.random((120, 40)), rng.permutation(np.repeat(["a", "b"], 60))
        forest = RandomForestClassifier(20, random_state=0).fit(rows, labels)
        given = ForestProximity("shi", model=forest)
        board = compare(rows, {"w": LEARNED, "f": given, "r": NICDM(LEARNED)}, labels)
        assert {entry.scored_by for entry in board.entries} == {"cross-validation"}
        honest += [board["w"].score, board["r"].score]
        forest_honest.append(board["f"].score)
        naive.append(loo_accuracy(Gower(weights="relieff").fit(rows, labels), labels))
        forest_naive.append(loo_accuracy(given.fit(rows), labels))
    # The two wrong ways to score would not have noticed.
    assert np.mean(naive) > 0.58
    assert np.mean(forest_naive) > 0.9
    assert abs(np.mean(honest) - 0.5) < 0.08
    assert abs(np.mean(forest_honest) - 0.5) < 0.08


def test_no_label_of_a_row_reaches_the_measure_that_is_scored_on_it():
    seen = []

    class _Watching(Measure):
        def _fit(self, table, y):
            if y is None:
                raise InvalidInput("needs labels")
            seen.append(set(table["row"].values.astype(int).tolist()))
            self.inner_ = Vector().fit(table)

        def _encode(self, table, at):
            asked = set(table["row"].values.astype(int).tolist())
            if (at < 0).all():
                assert not asked & seen[-1]
            return self.inner_.encode(table, None if (at < 0).all() else at)

        traits = Vector().traits

        def compare(self, a, b):
            return self.inner_.compare(a, b)

    table = {"row": np.arange(80.0), "x": BLOBS[:, 0]}
    board = compare(table, [_Watching()], NAMES)
    assert not board.entries[0].error
    assert board.entries[0].scored_by == "cross-validation"
    assert sum(len(rows) == 64 for rows in seen) >= N_FOLDS


def test_a_forest_fitted_to_amounts_is_refused_with_labels():
    forest = RandomForestRegressor(5, random_state=0).fit(BLOBS, BLOBS[:, 0])
    given = {"f": ForestProximity("shi", model=forest)}
    assert "fitted to amounts" in compare(BLOBS, given, NAMES)["f"].error
    assert not compare(BLOBS, given)["f"].error


def test_a_frozen_measure_is_refused():
    frozen = Gower(weights="relieff").fit(BLOBS, NAMES).frozen()
    board = compare(BLOBS, {"a": frozen, "b": NICDM(frozen), "c": Gower()}, NAMES)
    assert "may have learned from these rows" in board["a"].error
    assert "may have learned from these rows" in board["b"].error
    assert board.best.get_params()["weights"] is None


def test_another_seed_is_another_one_whatever_the_user_chose():
    fixed = [StochasticForest(n_estimators=5, height=3, random_state=seed) for seed in (0, 1)]
    # The seed nearest to the trees counts, so it is the one to change.
    fixed.append(ForestProximity("ratio", SyntheticForest(5, random_state=1)))
    board = compare(BLOBS, dict(zip("abc", fixed, strict=True)))
    assert all(entry.values["stability"] < 1 for entry in board.entries)


def test_time_and_memory():
    board = compare(np.random.default_rng(0).random((400, 6)), [Vector(), NICDM(Vector())])
    for entry in board.entries:
        assert entry.values["fit_seconds"] > 0
        assert entry.values["search_seconds"] > 0
        assert entry.values["kept_bytes"] >= 400 * 6 * 8
        assert entry.values["peak_bytes"] >= 400 * 6 * 8 / 2


def test_pairs_with_nothing_to_compare_are_noted():
    table = {"a": [1.0, None, 3.0, 2.0, 2.5], "b": [None, 1.0, 5.0, 5.0, 4.0]}
    (entry,) = compare(table, [Gower()], k=2).entries
    assert entry.notes == ("10.0% of the pairs have nothing to compare",)


def test_warnings_of_measures_become_notes_and_nothing_else_is_heard(recwarn):
    compare({"a": BLOBS[:, 0], "b": NAMES.tolist()}, [Vector()])
    assert not [w for w in recwarn if issubclass(w.category, LookalikeWarning)]
