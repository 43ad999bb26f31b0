"""The study of order and scale: printed values, shapes of tiny parts, headline findings."""

import numpy as np
import pytest

from studies import Work
from studies.order import agreement, cost, density, parameters, retrieval, shared, transforms
from studies.order.methods import KEPT, SCALES, make, scales
from studies.order.published import DENSITY_SETS, TABLE_1, TABLE_5, TABLE_5_BEFORE


def test_printed_values_agree_with_the_text_of_the_paper():
    assert TABLE_1["SimUSF"][100][0] > TABLE_1["SimURF"][10000][0]
    ranked = [one["ranked cityblock"] for one in TABLE_5.values()]
    forest = [one["SimUSF"] for one in TABLE_5.values()]
    assert max(ranked) / min(ranked) > 1000
    assert max(forest) / min(forest) < 1.01
    assert TABLE_5_BEFORE[10000, 1000]["ranked cityblock"] > 1000
    assert TABLE_5_BEFORE.keys() == TABLE_5.keys()


def test_scales_keep_or_turn_the_order():
    x = np.random.default_rng(0).random((20, 1))
    order = np.argsort(x[:, 0])
    for name, values in scales(x).items():
        there = np.argsort(values[:, 0])
        assert (there == (order if name in KEPT else order[::-1])).all()
    assert list(scales(x)) == list(SCALES)
    assert [type(make(name)).__name__ for name in ("SimUSF", "SimURF", "ranked cosine", "cosine")
            ] == ["StochasticForest", "ForestProximity", "Ranked", "Vector"]  # fmt: skip


def test_forests_agree_in_the_order_of_the_paper(tmp_path, monkeypatch):
    monkeypatch.setattr(agreement, "ROWS", 120)
    monkeypatch.setattr(agreement, "TABLES", 4)
    result = agreement.run(Work(tmp_path, "quick"))
    assert result.findings[0].headline
    assert result.findings[0].holds
    assert [len(sheet.rows) for sheet in result.sheets] == [9, 4]
    assert all(cause for *_, cause in result.sheets[0].differences())


def test_forests_that_share_synthetic_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(shared, "ROWS", 60)
    result = shared.run(Work(tmp_path, "quick"))
    (sheet,) = result.sheets
    assert [row["two forests"] for row in sheet.rows] == list(shared.READINGS)
    agreed = [row["100 trees"].ours for row in sheet.rows]
    assert agreed[1] > agreed[0]  # each row is the nearest to itself in both lists
    assert agreed[3] > agreed[2]
    assert all(cause for *_, cause in sheet.differences())


def test_similarities_are_shares_of_trees_that_saw_neither_row():
    x = np.random.default_rng(0).random((40, 4))
    found = shared._similarities(x, shared._permuted(x, 1), 60, 0)
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()
    assert found.max() == 1
    assert found.min() == 0
    assert (np.sort(shared._permuted(x, 1), axis=0) == np.sort(x, axis=0)).all()
    assert shared._own_agreement(found, found) == pytest.approx(1.0)


@pytest.mark.long
def test_rankings_survive_changes_that_keep_the_order(tmp_path, monkeypatch):
    work = Work(tmp_path, "quick")
    monkeypatch.setattr(work, "times", lambda quick, default, full: 40)
    result = transforms.run(work)
    assert result.findings[0].headline
    assert result.findings[0].holds
    assert len(result.sheets[0].rows) == 2 * len(transforms.MEASURES)


@pytest.mark.long
def test_density_on_one_set(data_folder, monkeypatch):
    monkeypatch.setattr(density, "SMALL", ("Iris",))
    monkeypatch.setattr(density, "S2", "Iris")
    monkeypatch.setattr(density, "MEASURES", ("SimUSF", "SimURF", "cityblock", "euclidean",
                        "cosine", "chebyshev", *density.RANKED))  # fmt: skip
    result = density.run(Work(data_folder, "quick"))
    still = result.findings[1]
    assert still.headline
    assert still.holds
    sizes, figure3, _ = result.sheets
    assert [row["set"] for row in sizes.rows] == list(DENSITY_SETS)
    assert all(cause for *_, cause in sizes.differences())
    assert len(figure3.rows) == len(density.MEASURES)
    row = figure3.rows[0]
    assert row["as it is"].chosen
    assert not row["without classes"].chosen


def test_retrieval_chooses_on_other_queries(data_folder, monkeypatch):
    seeds = []

    def ask(data, asked, gammas, trees):
        seeds.append(asked.seed)
        moved = asked.method in retrieval.DISTANCES and asked.scale == "exp"
        # The tuning queries like gamma 1, the scored ones gamma 0: the first must decide.
        likes = 1.0 if asked.seed >= retrieval.TUNING else 0.0
        return [0.5 + 0.1 * (gamma == likes) - 0.2 * moved for gamma in gammas]

    sets, shown = ["GTZAN Music", "ISOLET"], ["as it is", "exp"]
    plan = retrieval.Plan(sets, shown, [0.0, 1.0], [5], [8], 2, 1, 1, 10)
    monkeypatch.setattr(retrieval, "_plan", lambda work: plan)
    monkeypatch.setattr(retrieval, "_ask", ask)
    result = retrieval.run(Work(data_folder, "quick"))
    assert set(seeds) == {0, 1, retrieval.TUNING}
    sizes, precision = result.sheets
    assert all(cause for *_, cause in sizes.differences())
    row = precision.rows[0]
    assert row["as it is"].spread == 0.0
    assert precision.rows[-1]["set and method"].startswith("ISOLET")
    assert precision.rows[-1]["as it is"].spread is None  # one repetition on slow sets
    assert row["chosen on other queries"].startswith("gamma 1")
    assert row["as it is"].ours == pytest.approx(50.0)
    assert row["as it is, best"].ours == pytest.approx(60.0)
    assert row["as it is, best"].chosen
    assert result.findings[0].headline
    assert result.findings[0].holds


def test_retrieval_asks_each_kind_of_method(data_folder):
    x, y = retrieval.load(data_folder, "GTZAN Music")
    some = np.arange(0, 1000, 4)
    found = retrieval.precisions(make("ranked cityblock"), x[some], y[some], [0.0, 0.5], 0)
    assert 0 < found[0] < found[1] < 1


def test_parameters_and_cost_have_their_shape(data_folder, monkeypatch):
    monkeypatch.setattr(parameters, "_score", lambda data, name, trees, height, seed: height / 10)
    monkeypatch.setattr(parameters, "HEIGHTS", (1, 4, 5, 6))
    result = parameters.run(Work(data_folder, "quick"))
    assert result.findings[0].holds
    assert result.findings[1].holds
    assert len(result.sheets[0].rows) == 6
    work = Work(data_folder, "quick")
    monkeypatch.setattr(work, "pick", lambda quick, default, full: [(1000, 10), (1000, 100)])
    monkeypatch.setattr(work, "times", lambda quick, default, full: 1)
    result = cost.run(work)
    assert [len(sheet.rows) for sheet in result.sheets] == [2, 2]
    assert result.sheets[1].rows[1]["cityblock, ms to fit"].ours > 0
    assert result.sheets[0].rows[0]["SimUSF, times the first"].ours == pytest.approx(1.0)
