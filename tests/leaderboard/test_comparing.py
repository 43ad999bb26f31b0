"""The leaderboard: scores as defined, no label ever leaks, one bad measure spoils nothing."""

import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import StratifiedKFold

import lookalike as la
from lookalike.datasets import load_penguins
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, TooLarge
from lookalike.evaluate import loo_accuracy
from lookalike.hubness import NICDM, MutualProximity
from lookalike.leaderboard import compare
from lookalike.leaderboard.comparing import N_FOLDS
from lookalike.measures import (
    MEASURES,
    ForestProximity,
    Gower,
    Measure,
    Precomputed,
    Ranked,
    StochasticForest,
    Vector,
)
from lookalike.prediction import NeighborClassifier
from lookalike.trees import SyntheticForest

RNG = np.random.default_rng(0)
BLOBS = np.concatenate([RNG.normal(size=(40, 3)), RNG.normal(size=(40, 3)) + 2.0])
NAMES = np.repeat(["left", "right"], 40)
LEARNED = Gower(weights="relieff")


def vote(labels):
    """The label with the most votes; among equals the one that comes first in the list."""
    counts = {label: labels.count(label) for label in labels}
    return next(label for label in labels if counts[label] == max(counts.values()))


# -- scores ----------------------------------------------------------------------------------------


def test_five_neighbors_vote_unless_said():
    assert compare(BLOBS, [Vector()], NAMES).k == 5


def test_with_labels_each_row_is_left_out():
    for k in [1, 4]:
        board = compare(BLOBS, [Vector("cityblock")], NAMES, k=k)
        right = same = 0
        for i, row in enumerate(BLOBS):
            far = np.abs(BLOBS - row).sum(axis=1)
            order = sorted((j for j in range(80) if j != i), key=lambda j: (far[j], j))[:k]
            near = [str(NAMES[j]) for j in order]
            right += vote(near) == NAMES[i]
            same += sum(name == NAMES[i] for name in near)
        (entry,) = board.entries
        assert entry.scored_by == "leave-one-out", k
        assert entry.score == entry.values["accuracy"] == pytest.approx(right / 80), k
        assert entry.values["precision"] == pytest.approx(same / (80 * k)), k
        assert entry.score == loo_accuracy(Vector("cityblock").fit(BLOBS), NAMES, k), k
        assert board.chance == 0.5, k


def test_without_labels_the_score_is_the_mean_of_four():
    board = compare(BLOBS, [Gower(), StochasticForest(n_estimators=20, height=3)], k=3)
    for entry in board.entries:
        f = entry.values
        parts = [f["stability"], 1 / (1 + max(f["hubness"], 0)), (1 + f["silhouette"]) / 2]
        assert entry.score == pytest.approx(np.mean([*parts, 1 - f["ties"]]))
        assert entry.scored_by == "no labels"
    assert board["Gower"].values["stability"] == 1
    random = next(entry for entry in board.entries if entry.name != "Gower")
    one, two = (
        StochasticForest(n_estimators=20, height=3, random_state=seed).fit(BLOBS) for seed in (0, 1)
    )
    agreement = la.leaderboard.ranking_agreement(one, two).mean
    assert random.values["stability"] == pytest.approx(agreement)
    assert 0 < agreement < 1
    assert "Only labels can show" in board.reason


# -- the table -------------------------------------------------------------------------------------


def test_best_first_with_hubness_reducers_of_the_best():
    board = compare(load_penguins(), y="species", k=3)
    names = [entry.name for entry in board.entries]
    scores = [entry.score for entry in board.usable]
    assert scores == sorted(scores, reverse=True)
    assert {"Gower", "ForestProximity", "StochasticForest", "Vector", "Ranked"} <= set(names)
    inner = re.search(r"NICDM\((.*)\)$", next(n for n in names if n.startswith("NICDM")))[1]
    alone = [entry for entry in board.usable if "(" not in entry.name or "=" in entry.name]
    alone = [e for e in alone if not e.name.startswith(("NICDM", "Mutual", "Local"))]
    assert board[inner].score == max(entry.score for entry in alone)
    assert "found 8 missing values" in board["Vector"].error  # last, with the reason
    assert names.index("Vector") >= len(board.usable)
    assert np.isnan(board["Vector"].score)
    assert "leaves out 'island', 'sex'" in board["StochasticForest"].notes[0]


@pytest.fixture
def broken(monkeypatch):
    """A measure written elsewhere that fails in its own way."""

    class _Broken(Vector):
        def _fit(self, table, y):
            raise ZeroDivisionError("of its own")

    monkeypatch.setitem(MEASURES, "Broken", _Broken)
    return _Broken


def test_an_error_is_a_line(broken):
    board = compare(BLOBS, {"broken": broken(), "fine": Vector()}, NAMES)
    assert [entry.name for entry in board.entries] == ["fine", "broken"]
    assert board["broken"].error == "ZeroDivisionError: of its own"
    assert "not used: broken: ZeroDivisionError" in str(board)
    none = compare(BLOBS, {"broken": broken()}, NAMES)
    assert "None of the measures could be used" in str(none)
    with pytest.raises(InvalidInput, match="none of 1"):
        _ = none.best
    with pytest.raises(KeyError, match="'fine'"):
        _ = board["gone"]


def test_measures_written_elsewhere_are_tried_too(broken):
    board = compare(BLOBS[:, :2], y=NAMES, k=3)
    assert board["_Broken"].error == "ZeroDivisionError: of its own"


def test_same_answer_for_any_number_of_threads():
    boards = [compare(BLOBS, ["gower", "stochastic-forest"], NAMES, n_jobs=n) for n in (1, 3)]
    for name in ("Gower", "StochasticForest"):
        one, two = (
            {
                key: value
                for key, value in board[name].values.items()
                if not key.endswith(("seconds", "bytes"))
            }
            for board in boards
        )
        assert one == two
    assert boards[0]["Gower"].measure.n_jobs == 1


def test_names():
    made = [Gower(), "vector", "stochastic_forest", Gower(), NICDM(Gower(missing="midpoint"))]
    made.append(StochasticForest(n_estimators=7))
    board = compare(BLOBS, made, k=2)
    assert {entry.name for entry in board.entries} == {
        "Gower",
        "Vector",
        "StochasticForest",
        "Gower (2)",
        "NICDM(Gower(missing='midpoint'))",
        "StochasticForest(n_estimators=7)",
    }
    assert board["StochasticForest"].measure.random_state == 0


def test_sample_and_time_budget():
    rows = np.random.default_rng(0).random((3000, 2))
    board = compare(rows, [Vector()], sample=50)
    assert (board.n, board.n_all) == (50, 3000)
    assert "50 of 3,000 rows" in board.title
    assert compare(rows, [Vector()]).n == 2000
    other = compare(rows, [Vector()], sample=50, random_state=1)
    assert other.entries[0].values["hubness"] != board.entries[0].values["hubness"]
    late = compare(BLOBS, [Vector(), Ranked(), Gower()], max_seconds=0)
    assert [entry.name for entry in late.entries] == ["Vector"]
    assert late.notes == ("not tried in 0 seconds: Ranked, Gower",)


@pytest.mark.parametrize("labels", [NAMES, None])
def test_reducers_of_the_best_are_as_if_tried_alone(labels):
    rows = BLOBS.copy()
    rows[::7, 1] = np.nan
    board = compare(rows, y=labels, k=3)
    reduced = {entry.name: entry.measure for entry in board.entries if "(measure" in repr(entry)}
    best = {name.partition("(")[2][:-1] for name in reduced}
    assert len(reduced) == 3
    assert len(best) == 1
    alone = compare(rows, reduced, labels, k=3)
    for name in reduced:
        one, two = board[name], alone[name]
        assert repr(one.measure) == repr(two.measure)
        assert one.notes == two.notes
        assert (one.partial, one.scored_by) == (two.partial, two.scored_by)
        assert one.values.keys() == two.values.keys()
        for key, value in two.values.items():
            assert one.values[key] == value or key.endswith(("seconds", "bytes"))


def test_a_matrix_of_distances():
    d = Vector().fit(BLOBS).distance()
    given = {"as is": Precomputed(), "repaired": MutualProximity(Precomputed())}
    board = compare(d, given, NAMES)
    assert board["as is"].score == compare(BLOBS, [Vector()], NAMES).entries[0].score
    assert board["repaired"].score == loo_accuracy(MutualProximity(Vector()).fit(BLOBS), NAMES)
    assert compare(d, given, NAMES, sample=30).n == 30
    with pytest.raises(InvalidInput, match="measures of tables, or measures of matrices"):
        compare(d, [Precomputed(), Vector()], NAMES)
    with pytest.raises(InvalidInput, match="Pass the labels as an array"):
        compare(d, [Precomputed()], "species")


# -- forms -----------------------------------------------------------------------------------------


# -- bad input -------------------------------------------------------------------------------------


def test_bad_parameters_are_errors():
    for options, error, words in [
        ({"y": NAMES[:79]}, InvalidInput, "one label for each of the 80 rows, found 79"),
        ({"y": [None, *NAMES[1:]]}, InvalidInput, "1 missing.*, the first in row 0"),
        (
            {"y": np.r_[np.nan, np.zeros(79)]},
            InvalidInput,
            "1 missing.*, the first in row 0",
        ),
        ({"y": ["a"] * 80}, InvalidInput, "at least two classes"),
        ({"y": BLOBS[:, 0]}, InvalidInput, "an amount"),
        ({"y": "species"}, InvalidInput, "the name of a column, found 'species'"),
        ({"k": 0}, InvalidInput, "an integer >= 1"),
        ({"k": 80}, TooFewRows, "n_samples=80. Use k=79"),
        ({"k": 5, "sample": 4}, TooFewRows, "n_samples=4"),
        ({"sample": 1}, InvalidInput, "an integer >= 3"),
        ({"max_seconds": -1}, InvalidInput, "a number >= 0"),
        ({"random_state": -1}, InvalidInput, "an integer >= 0"),
        ({"kinds": "number"}, InvalidInput, "a mapping of column to kind"),
        ({"n_jobs": 0}, InvalidInput, "n_jobs"),
        ({"measures": []}, InvalidInput, "at least one measure"),
        ({"measures": ["gowr"]}, InvalidInput, "Did you mean 'gower'"),
        ({"measures": [Gower]}, InvalidInput, "Pass instances"),
        ({"measures": 7}, InvalidInput, "Pass instances"),
    ]:
        with pytest.raises(error, match=words):
            compare(BLOBS, **{"measures": [Vector()], **options})


def test_labels_may_be_a_column_that_was_set_aside_but_not_the_only_one():
    table = la.read_table({"x": BLOBS[:, 0], "who": NAMES.tolist()}, kinds={"who": "aside"})
    assert compare(table, [Vector()], "who").chance == 0.5
    with pytest.raises(InvalidInput, match="more columns than its labels"):
        compare({"who": NAMES.tolist()}, [Gower()], "who")
    gaps = {"x": BLOBS[:, 0], "who": [None, *NAMES[1:].tolist()]}
    with pytest.raises(InvalidInput, match="a target without missing values"):
        compare(gaps, [Gower()], "who")


def test_seeds_come_as_everywhere():
    for seed in [7, np.random.RandomState(7), np.random.default_rng(7), None]:
        forest = StochasticForest(n_estimators=5)
        board = compare(BLOBS, [forest], NAMES, sample=60, random_state=seed)
        chosen = board.best.random_state
        assert isinstance(chosen, int), seed
        assert chosen == 7 or not isinstance(seed, int), seed
        again = compare(BLOBS, [forest], NAMES, sample=60, random_state=chosen)
        assert again.entries[0].score == board.entries[0].score, seed


def test_kinds_are_passed_to_the_table():
    table = {"wheels": np.arange(80) * 7 % 10, "x": BLOBS[:, 0]}
    plain, reported = (
        compare(table, [Gower()], NAMES, kinds=kinds) for kinds in (None, {"wheels": "category"})
    )
    own = compare(la.read_table(table, kinds={"wheels": "category"}), [Gower()], NAMES)
    assert reported["Gower"].values["hubness"] == own["Gower"].values["hubness"]
    assert reported["Gower"].values["hubness"] != plain["Gower"].values["hubness"]


def test_too_few_rows_for_folds_is_a_line():
    board = compare(BLOBS[36:44], {"learned": LEARNED, "plain": Gower()}, NAMES[36:44], k=7)
    assert not board["plain"].error
    assert "needs" in board["learned"].error


def test_a_class_without_a_row_in_the_sample_is_an_error():
    labels = np.where(np.arange(80) == 17, "once", "else")
    with pytest.raises(InvalidInput, match="at least two classes"):
        compare(BLOBS, [Vector()], labels, sample=10)


def test_identical_rows():
    board = compare(np.zeros((30, 2)), [Vector(), Gower()], k=3)
    for entry in board.entries:
        assert not entry.error, entry.error
        assert entry.values["ties"] == 1
        assert entry.values["hubness"] == 0


def test_lists_work_where_the_matrix_does_not_fit():
    with la.config(memory_limit="50KB"):
        with pytest.raises(TooLarge):
            Vector().fit(np.zeros((200, 1))).distance()
        board = compare(np.random.default_rng(0).random((200, 2)), [Vector()])
    assert not board.entries[0].error


# -- one measure on one table ----------------------------------------------------------------------


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
        assert entry.values["peak_bytes"] >= 400 * 6 * 8 / 2


def test_pairs_with_nothing_to_compare_are_noted():
    table = {"a": [1.0, None, 3.0, 2.0, 2.5], "b": [None, 1.0, 5.0, 5.0, 4.0]}
    (entry,) = compare(table, [Gower()], k=2).entries
    assert entry.notes == ("10.0% of the pairs have nothing to compare",)


def test_warnings_of_measures_become_notes_and_nothing_else_is_heard(recwarn):
    compare({"a": BLOBS[:, 0], "b": NAMES.tolist()}, [Vector()])
    assert not [w for w in recwarn if issubclass(w.category, LookalikeWarning)]
