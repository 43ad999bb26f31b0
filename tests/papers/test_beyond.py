"""Past the papers: halves are fixed beforehand, scores are honest, and what is ranked is there."""

import numpy as np
import pytest

from lookalike.papers.beyond import tables
from lookalike.papers.beyond.contenders import MEASURES, REPAIRS, applies, distances_of, score_one
from lookalike.papers.beyond.scores import Scores
from lookalike.papers.beyond.sets import FAMILIES, half_of, load_set, names_of_sets


def test_families_stay_together_and_both_halves_have_enough(data_folder):
    names = names_of_sets(data_folder)
    assert len(names) == 56
    for family in set(FAMILIES.values()):
        assert len({half_of(name) for name, one in FAMILIES.items() if one == family}) == 1
    halves = [half_of(name) for name in names]
    assert min(halves.count("finding"), halves.count("checking")) >= 20


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
    for repair in REPAIRS:
        scores = score_one(repair, d, found.y)
        assert scores["neighbors"] > 0.8
        assert scores["retrieval"] > 0.6
    shuffled = np.random.default_rng(0).permutation(found.y)
    assert score_one("none", d, shuffled)["neighbors"] < 0.6


def toy(better=("Gower on ranks", "NICDM")):
    """Scores in which one combination leads by a tenth and nothing else matters."""
    rng = np.random.default_rng(0)
    sorts = {f"s{at}": ("numbers", "mixed", "objects")[at % 5 // 2] for at in range(40)}
    halves = {name: "finding" if at % 2 else "checking" for at, name in enumerate(sorts)}
    by = {}
    for name, sort in sorts.items():
        for measure in MEASURES:
            if not applies(measure, sort):
                continue
            for repair in REPAIRS:
                for task in tables.FOUR:
                    lead = 0.1 if (measure, repair) == better else 0.0
                    by[name, measure, repair, task] = 0.5 + lead + rng.normal(0, 0.01)
        for task in tables.FOUR:
            by[name, "auto", "none", task] = 0.5
    return Scores(by, sorts, halves)


def test_a_leader_is_found_and_confirmed():
    scores = toy()
    assert tables.best_of(scores, ["numbers"]) == "NICDM on Gower on ranks"
    result = tables.make(scores, 100, 1)
    confirmed = [one for one in result.findings if "leader" in one.says]
    assert [one.holds for one in confirmed] == [True] * 3
    duel = scores.duel(("Gower on ranks", "NICDM"), tables.AUTO, "neighbors", scores.sets())
    assert duel.gain == pytest.approx(0.1, abs=0.01)
    assert (duel.wins, duel.losses) == (40, 0)


def test_without_a_leader_nothing_is_confirmed():
    result = tables.make(toy(better=None), 100, 1)
    assert not any(one.holds for one in result.findings if "leader" in one.says)
