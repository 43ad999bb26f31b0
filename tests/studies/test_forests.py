"""Forest clustering: printed values agree with each other, runs have their shape."""

from dataclasses import replace

import numpy as np
import pytest

from studies import Work
from studies.forests import runs as runs_module
from studies.forests import table2, table3, table4, table5, ties
from studies.forests.published import (
    CLUSTERINGS,
    GRID,
    MEASURES,
    PARAMETERS,
    SETS,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
)
from studies.forests.runs import Run, Runs, make_runs
from studies.forests.sets import load_listed, load_set

PRINTED = [name for name in TABLE_4 if name != "Average"]  # all twelve sets


def test_printed_means_are_means_of_printed_rows():
    for rows in (PRINTED, list(CLUSTERINGS), [f"{t} Trees - {c}" for t, c in GRID]):
        means = np.mean([TABLE_2[name] for name in rows], axis=0)
        np.testing.assert_allclose(means, TABLE_2["ALL"], atol=0.0016)
    means = np.mean([TABLE_4[name] for name in PRINTED], axis=0)
    np.testing.assert_allclose(means, TABLE_4["Average"], atol=0.0011)
    means = np.mean([TABLE_5[name] for name in PRINTED], axis=0)
    wrong = np.flatnonzero(np.abs(means - TABLE_5["Average"]) > 0.0011)
    assert wrong.tolist() == [MEASURES.index("aryal")]  # printed 0.557, the mean of its column .611
    assert means[4] == pytest.approx(0.611, abs=0.001)


def test_tables_2_and_4_agree_about_ratio():
    for at, label in enumerate(PARAMETERS):
        if label in CLUSTERINGS:
            for side, place in ((0, 5), (len(PARAMETERS), 11)):
                assert TABLE_4["Average"][side + at] == pytest.approx(
                    TABLE_2[label][place], abs=0.0011
                )


def test_printed_percentages_sum_to_a_hundred():
    for shares in TABLE_3.values():
        assert sum(shares[:3]) == pytest.approx(100, abs=0.15)
        assert sum(shares[3:]) == pytest.approx(100, abs=0.15)


def test_printed_purities_leave_a_row_out():
    assert table5.count_divisors(1) == (68, 72)
    assert table5.count_divisors(0) == (30, 72)


def made(score, **changes):
    one = Run("Iris", 50, "Half", 0, "SC", "ratio", 100, 0, 0, score, 0.0)
    return replace(one, **changes)


def test_means_weigh_methods_and_sets_alike():
    runs = Runs(
        [
            made(0.2),
            made(0.4, seed=1),
            made(0.9, method="AP"),
            made(0.1, set="Wine"),
        ]
    )
    assert runs.mean("ratio", "ARI") == pytest.approx(((0.3 + 0.9) / 2 + 0.1) / 2)
    assert runs.mean("ratio", "ARI", method="SC") == pytest.approx((0.3 + 0.1) / 2)
    assert runs.error("ratio", "ARI", sets=["Iris"], method="SC") == pytest.approx(
        np.std([0.2, 0.4], ddof=1) / np.sqrt(2)
    )
    assert np.isnan(runs.mean("shi", "ARI"))
    # Two clusterings of one forest that agree say no more than one.
    same = Runs([made(s, seed=i, method=m) for i, s in enumerate((0.2, 0.4)) for m in ("SC", "AP")])
    assert same.error("ratio", "ARI") == pytest.approx(0.1)


def test_wins_are_counted_on_the_same_forest():
    pairs = [(0.5, 0.4), (0.2, 0.3), (0.3, 0.3), (0.9, 0.1)]
    runs = Runs(
        [
            made(score, seed=seed, measure=measure)
            for seed, both in enumerate(pairs)
            for score, measure in zip(both, ("ratio", "zhu2"), strict=True)
        ]
    )
    assert table3.outcomes(runs, "ARI", {}) == (50.0, 25.0, 25.0, 4)


def test_sets_are_counted_as_in_table_1(data_folder):
    sizes = {}
    for name in SETS:
        x, y = load_set(data_folder, name)
        sizes[name] = (*x.shape, sorted(np.bincount(y).tolist()))
    assert sizes["Glass"] == (214, 9, [17, 51, 70, 76])
    assert sizes["WBC"] == (683, 9, [239, 444])
    assert sizes["Heart"] == (297, 13, [137, 160])
    assert sizes["Lung"] == (32, 54, [9, 10, 13])
    assert sizes["Auto-mpg"] == (398, 6, [169, 229])
    assert {name: size[0] for name, size in sizes.items()} == {
        name: n for name, n in table5.ROWS.items() if name in SETS
    }


def test_rows_are_shuffled_once_and_for_all(data_folder):
    x, y = load_set(data_folder, "Iris")
    again, _ = load_set(data_folder, "Iris")
    listed, classes = load_listed(data_folder, "Iris")
    assert (x == again).all()
    assert (np.diff(classes) >= 0).all()  # the file lists one class after the other
    assert (np.diff(y) < 0).sum() > 30
    assert sorted(map(tuple, x)) == sorted(map(tuple, listed))


@pytest.mark.long
def test_ties_and_affinities_have_their_shape(data_folder, monkeypatch):
    monkeypatch.setattr(ties, "SETS", {"Lung": SETS["Lung"]})
    work = Work(data_folder, "quick")
    monkeypatch.setattr(work, "times", lambda quick, default, full: 1)
    result = ties.run(work)
    assert [row["set"] for row in result.sheets[0].rows] == ["Lung", "mean"]
    row = result.sheets[0].rows[0]
    assert 0 <= row[ties.ZEROS].ours < 50
    assert len({row[way].ours for way in ties.WAYS}) > 1  # on 32 rows two of them may agree
    assert len(result.findings) == 2


@pytest.fixture(scope="module")
def two_sets(data_folder, tmp_path_factory):
    """Return a work that knows the runs of two sets, two forests each."""
    work = Work(data_folder, "quick", tmp_path_factory.mktemp("kept"), "forests-part")
    patch = pytest.MonkeyPatch()
    few = {name: SETS[name] for name in ("Iris", "Wine")}
    for module in (runs_module, table2):
        patch.setattr(module, "SETS", few)
    patch.setattr(runs_module, "settings", lambda work: [(50, "Half"), (50, "All")])
    patch.setattr(table4, "_findings", lambda runs: [])  # there is one number of trees only
    yield work
    patch.undo()


@pytest.mark.long
def test_tables_have_their_shape_and_ratio_beats_zhu2(two_sets):
    runs = make_runs(two_sets)
    assert len(runs.all) == 2 * 2 * 6 * 4
    again = make_runs(two_sets)  # from memory
    assert again.all == runs.all
    means, wins = table2.run(two_sets), table3.run(two_sets)
    assert [len(sheet.rows) for sheet in means.sheets] == [15, 3, 3, 6, 6]
    assert all(cause for *_, cause in means.sheets[0].differences())
    assert means.findings[0].headline
    assert wins.findings[0].holds, wins.findings[0].values
    chosen = table5.run(two_sets)
    assert [sheet.rows[0]["set"] for sheet in chosen.sheets] == ["Iris"] * 3
    assert runs.mean("ratio", "ARI", sets=["Wine"]) > 0.6
    assert runs.mean("ratio", "ARI") > runs.mean("zhu2", "ARI")
    effect = table4.run(two_sets)
    assert [row["set"] for row in effect.sheets[0].rows] == ["Iris", "Wine", "Average"]
