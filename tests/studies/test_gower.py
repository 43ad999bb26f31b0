"""Gower's paper: printed values are consistent, and its headline findings are reproduced."""

import numpy as np
import pytest

from lookalike.measures import Gower, Vector
from studies import Work, find_paper, run_paper
from studies.gower import layers, powers, weights
from studies.gower.learning import nearest_error, tuned_nearest, votes_by_k
from studies.gower.problems import Reading, group, load_problem, split_rows
from studies.gower.published import SETS, TABLE3
from studies.gower.splits import mean_of, over_splits, twice_error


def test_table_1_adds_up():
    for one in SETS.values():
        assert one.rows == one.learn + one.test
        assert one.inputs == one.numbers + one.nominal + one.ordinal
        assert 100 / one.classes <= one.largest < 100
    assert min(TABLE3, key=TABLE3.get) == "Gower"
    assert max(TABLE3, key=TABLE3.get) == "relieff"


def test_the_sets_and_the_worked_example(data_folder):
    (done,) = run_paper(find_paper("gower"), data_folder, "quick", parts=["example"])
    table1, example = done.result.sheets
    assert [row["set"] for row in table1.rows] == list(SETS)
    assert not example.differences()
    assert all(cause for *_, cause in table1.differences())
    (finding,) = done.result.findings
    assert finding.headline
    assert finding.holds


def test_votes_are_counted_for_every_k():
    near = np.array([[0, 1, 2, 3], [3, 1, 2, 0]])
    y = np.array(["b", "a", "a", "b"])
    found = votes_by_k(near, y)
    assert [one.tolist() for one in found[:4]] == [["b", "b"], ["b", "b"], ["a", "a"], ["b", "b"]]
    assert len(found) == 15


def test_k_is_chosen_inside_the_training_part():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    y = (x[:, 0] > 0).astype(int)
    known, held = np.arange(40), np.arange(40, 60)
    errors, k = tuned_nearest(Vector(), x, y, known, held, 0)
    blind = y.copy()
    blind[held] = 1 - blind[held]  # the answers to the test must not matter
    other, again = tuned_nearest(Vector(), x, blind, known, held, 0)
    assert k == again
    assert np.allclose(np.add(errors, other), 1)


def test_readings_change_what_they_say(data_folder):
    assert group("cochlear_age") == "cochlear"
    assert group("bells_palsy", "none") == "bells_palsy"
    plain = load_problem(data_folder, "Colic 24")
    blind = load_problem(data_folder, "Colic 24", Reading(without="surgery"))
    assert set(plain.table.names) - set(blind.table.names) == {"surgery"}
    few = load_problem(data_folder, "Colic 24", Reading(rows="fewest gaps"))
    assert len(few.y) == SETS["Colic 24"].rows
    flags = load_problem(data_folder, "Hepatitis", Reading(two_valued="flag"))
    assert sum(column.kind.name == "flag" for column in flags.table) == 13
    known, held = split_rows(plain, 3)
    assert (len(known), len(held)) == (296, 68)
    assert not set(known) & set(held)
    source = load_problem(data_folder, "Colic 24", Reading(split="source"))
    assert split_rows(source, 1)[1].tolist() == list(range(300, 368))


def test_gowers_neighbors_are_no_worse_than_euclidean_ones(data_folder):
    sets = ("Colic 24", "Credit", "Audiology", "Heart", "Hepatitis")
    mean = {
        form: np.mean(
            [
                nearest_error(load_problem(data_folder, name), seed, form)
                for name in sets
                for seed in range(2)
            ]
        )
        for form in ("raw", "Gower")
    }
    assert mean["Gower"] < mean["raw"] + 0.02


def test_surgery_tells_the_lesion(data_folder):
    """The cause of most of the difference from print: without the column the error doubles."""
    error = {
        without: np.mean(
            [
                nearest_error(load_problem(data_folder, "Colic 24", reading), seed, "Gower")
                for seed in range(3)
            ]
        )
        for without, reading in (("", Reading()), ("surgery", Reading(without="surgery")))
    }
    assert error["surgery"] > error[""] + 0.08


def test_layers_blur_and_powers_hurt(data_folder):
    work = Work(data_folder, "quick")

    def deep(name, seed, many):
        problem = load_problem(data_folder, name)
        known, held = split_rows(problem, seed)
        model = layers.LayeredRepresentation(Gower(), many, n_prototypes=0.05)
        inside = model.fit_transform(problem.table[known], problem.y[known])
        answers = layers.learner_answers(
            inside, problem.y[known], model.transform(problem.table[held]), ["LDA"]
        )
        return float((answers[0] != problem.y[held]).mean())

    errors = [
        np.mean([deep(name, seed, many) for name in ("Pima", "Colic 24") for seed in range(2)])
        for many in (1, 5)
    ]
    assert errors[1] > errors[0]
    s = Gower(undefined=0.5).fit(load_problem(work.data, "Heart").table).similarity()
    spread = [float(powers.change(f"S{n}", s).std()) for n in (1, 2, 4, 8)]
    assert spread == sorted(spread, reverse=True)  # everything becomes alike


def test_weights_are_learned_from_the_rows_given(data_folder):
    problem = load_problem(data_folder, "Heart")
    some = np.arange(120)
    for name in ("relieff", "least_squares", "cluster", "global"):
        found = weights.learn_weights(name, problem.table[some], problem.y[some], 0)
        assert found.shape == (13,)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
    assert weights.learn_weights("equal", problem.table, problem.y, 0) is None


def test_means_and_their_error():
    errors = {"a": [10.0, 20.0], "b": [30.0, 30.0]}
    assert mean_of(errors) == 22.5
    by_hand = 2 * np.sqrt(50 * (1 / 2 + 1 / 20)) / 2
    assert twice_error(errors) == pytest.approx(by_hand)
    work = Work(".", "quick")
    found = over_splits(work, "x", lambda name, seed: len(name) + seed, 2, ["ab", "c"])
    assert found == {"ab": [2, 3], "c": [1, 2]}
