"""Past the papers: halves are fixed beforehand, scores are honest, and what is ranked is there."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from lookalike.table import read_table
from studies import Work
from studies.beyond import questions
from studies.beyond.combinations import make_result
from studies.beyond.contenders import MEASURES, REDUCERS, applies, distances_of, score_one
from studies.beyond.rule import best_limit, score_everyday
from studies.beyond.scores import Scores, duel_of
from studies.beyond.sets import FAMILIES, half_of, load_set
from studies.recipes import shared_sets


def test_families_stay_together_and_both_halves_have_enough(data_folder):
    names = Work(data_folder, "quick").available(shared_sets())
    assert len(names) == 56
    for family in set(FAMILIES.values()):
        assert len({half_of(name) for name, one in FAMILIES.items() if one == family}) == 1
    halves = [half_of(name) for name in names]
    assert min(halves.count("selection"), halves.count("validation")) >= 20


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("iris", "numbers"),
        ("colon_cancer", "numbers"),
        ("hepatitis", "mixed"),
        ("audiology", "mixed"),
        ("promoters", "objects"),
        ("wgs_ovarian", "objects"),
    ],
)
def test_sets_are_what_they_are(data_folder, name, sort):
    found = load_set(data_folder, name, 60)
    assert found.sort == sort
    assert len(found.table) == len(found.y) == 60
    assert "target" not in found.table.names


def test_every_repair_is_scored_on_every_task(data_folder):
    found = load_set(data_folder, "iris", 60)
    d = distances_of(found, "Gower", 0)
    for reducer in REDUCERS:
        scores = score_one(reducer, d, found.y)
        assert scores["neighbors"] > 0.8
        assert scores["retrieval"] > 0.6
    shuffled = np.random.default_rng(0).permutation(found.y)
    assert score_one("none", d, shuffled)["neighbors"] < 0.6


def toy(better=("Gower on ranks", "NICDM")):
    """Scores in which one combination leads by a tenth and nothing else matters."""
    rng = np.random.default_rng(0)
    sorts = {f"s{at}": ("numbers", "mixed", "objects")[at % 5 // 2] for at in range(40)}
    halves = {name: "selection" if at % 2 else "validation" for at, name in enumerate(sorts)}
    by = {}
    for name, sort in sorts.items():
        for measure in MEASURES:
            if not applies(measure, sort):
                continue
            for reducer in REDUCERS:
                for task in questions.FOUR:
                    lead = 0.1 if (measure, reducer) == better else 0.0
                    by[name, measure, reducer, task] = 0.5 + lead + rng.normal(0, 0.01)
        for task in questions.FOUR:
            by[name, "auto", "none", task] = 0.5
    return Scores(by, sorts, halves)


def test_a_leader_is_found_and_confirmed():
    scores = toy()
    assert questions.best_of(scores, ["numbers"]) == "NICDM on Gower on ranks"
    result = make_result(scores, 100, 1)
    confirmed = [one for one in result.findings if "selection half" in one.says]
    assert [one.holds for one in confirmed] == [True] * 3
    duel = scores.duel(("Gower on ranks", "NICDM"), questions.AUTO, "neighbors", scores.sets())
    assert duel.gain == pytest.approx(0.1, abs=0.01)
    assert (duel.wins, duel.losses) == (40, 0)


def test_without_a_leader_nothing_is_confirmed():
    result = make_result(toy(better=None), 100, 1)
    assert not any(one.holds for one in result.findings if "selection half" in one.says)


def test_combinations_meet_the_winners_that_take_the_same_tables():
    scores = toy()
    combinations, winners = questions.duelists(scores, "mixed")
    assert list(winners) == ["RatioRF (forest clustering)", "Gower (mixed data)"]
    assert "RatioRF on cells" in combinations
    assert "MP on SimUSF" not in combinations
    assert questions.duelists(scores, "numbers") == (questions.COMBINATIONS, questions.WINNERS)
    beaten = [
        one for one in make_result(scores, 100, 1).findings if "a combination beats" in one.says
    ]
    assert len(beaten) == 6
    assert all("NICDM on Gower on ranks" in one.values for one in beaten)


def test_the_limit_gains_for_lists_and_costs_no_clusters():
    def duels(lists, medoids):
        gains = {"neighbors": lists, "retrieval": lists, "medoids": medoids}
        return {task: duel_of([gain, gain]) for task, gain in gains.items()}

    found = {0.2: duels(0.09, -0.01), 0.5: duels(0.05, 0.0), 1.4: duels(0.01, 0.2)}
    assert best_limit(found) == 0.5
    assert best_limit({0.2: found[0.2]}) == 0.2  # all of them cost something


def test_a_duel_counts_what_is_more_than_half_a_point():
    ahead = np.array([0.02, 0.004, -0.02, 0.03, 0.01, 0.02, 0.05, 0.01])
    duel = duel_of(ahead)
    assert (duel.n_sets, duel.wins, duel.losses) == (8, 6, 1)
    assert duel.gain == pytest.approx(ahead.mean())
    assert duel.p == pytest.approx(wilcoxon(ahead).pvalue)
    assert duel_of([0.0] * 8).p == 1.0


def test_everyday_tables_are_scored_with_and_without_the_repair():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 150)
    columns = {f"x{at}": rng.normal(size=150) + (y == "a") for at in range(3)}
    found = score_everyday(read_table(columns), y)
    assert set(found) == {"uneven", "auto", "none", "MP"}
    assert all(0.6 < found[way]["neighbors"] <= 1 for way in ("auto", "none", "MP"))
    assert found["none"]["retrieval"] != found["MP"]["retrieval"]
    numbers = score_everyday(read_table(columns), columns["x0"] + columns["x1"])
    assert set(numbers["auto"]) == {"neighbors"}
    assert score_everyday(read_table({"x": np.arange(60.0)}), y[:60])["uneven"] is None
