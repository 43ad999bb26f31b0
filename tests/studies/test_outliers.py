"""The study of outliers: its errors are planted as it says, its candidates are the library's."""

import numpy as np
import pytest

from lookalike.measures import Gower
from lookalike.prediction import find_outliers
from lookalike.table import read_table
from studies import outliers
from studies.defaults import Task
from studies.work import Work


def make_cells(n=400):
    rng = np.random.default_rng(0)
    numbers = {"a": rng.uniform(1, 9, n), "b": rng.integers(0, 4, n).astype(float)}
    words = {"c": rng.choice(["x", "y", "z"], n), "d": rng.choice(["p", "q"], n)}
    return {name: column.astype(object) for name, column in (numbers | words).items()}


def test_errors_are_of_three_sorts_one_per_row():
    before, cells = make_cells(), make_cells()
    labels = outliers.plant_errors(cells, ["a", "b"], ["c", "d"], np.random.default_rng(3))
    assert np.bincount(labels).tolist() == [400 - 4 - 4 - 6, 4, 4, 6]
    changed = {name: cells[name] != before[name] for name in cells}
    assert np.array_equal(np.sum(list(changed.values()), axis=0), labels > 0)
    for name in "ab":
        rows = changed[name] & (labels == 1)
        assert set(np.round((cells[name][rows] / before[name][rows]).astype(float))) <= {0, 10, 100}
        # A column that has zeros gets no others.
        assert name == "a" or (cells[name][rows] != 0).all()
    assert not (changed["c"] | changed["d"])[labels == 1].any()
    assert not (changed["a"] | changed["b"])[labels == 2].any()
    for name in cells:  # what was swapped is still there
        rows = changed[name] & (labels == 3)
        assert sorted(cells[name][rows]) == sorted(before[name][rows])


def test_a_table_without_numbers_and_categories_is_left_out():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(make_cells()).infer_objects()
    assert outliers.plant("t", frame[["a", "b"]]) is None
    task = outliers.plant("t", frame)
    assert np.array_equal(task.labels, outliers.plant("t", frame).labels)
    assert set(task.table.names) == set("abcd")


def test_a_sample_keeps_outliers_in_proportion():
    outlier = np.repeat([0, 1], [950, 50])
    keep = outliers.sample_labelled(outlier, 200)
    assert len(set(keep.tolist())) == 200
    assert outlier[keep].sum() == 10
    rare = np.repeat([0, 1], [999, 1])
    assert rare[outliers.sample_labelled(rare, 100)].sum() == 1
    assert outliers.sample_labelled(outlier, 1000).tolist() == list(range(1000))


def test_candidates_are_those_of_the_library():
    table = read_table({name: list(column) for name, column in make_cells(150).items()})
    scores = dict(outliers.candidates(table))
    assert set(scores) == set(outliers.blends())
    assert scores[outliers.CHOSEN].tolist() == find_outliers(table).scores.tolist()
    far, _ = Gower(missing="midpoint").fit(table).kneighbors(n_neighbors=10)
    assert np.array_equal(scores["range 10"], outliers.surprisal(far.mean(axis=1)))
    both = scores["mean of isolation, range 10"]
    assert both == pytest.approx((scores["isolation"] + scores["range 10"]) / 2)


def test_areas_are_of_all_outliers_and_of_each_sort():
    x = np.r_[np.arange(60) % 7, 500.0, 3.0]
    table = read_table({"x": x, "y": np.r_[np.arange(60) % 5, 2.0, 2.0]})
    labels = np.r_[np.zeros(60, int), 1, 2]
    areas = outliers.score_task(Task("t", table, labels))[outliers.CHOSEN]
    assert areas["number"] == 1.0
    assert areas["all"] == pytest.approx((areas["number"] * 60 + areas["category"] * 60) / 120)
    assert "swap" not in areas
    first = outliers.count_first(Task("t", table, (labels == 1).astype(int)))
    assert first[outliers.CHOSEN] == [1, 1]


def test_a_missing_folder_is_named(tmp_path):
    work = Work(tmp_path)
    assert list(outliers.labelled(work, None)) == []
    assert "adbench" in work.missing["ADBench"]
    (tmp_path / "adbench").mkdir()
    rows = np.random.default_rng(0).normal(size=(40, 3))
    np.savez(tmp_path / "adbench" / "few.npz", X=rows, y=np.repeat([0, 1], [38, 2]))
    (task,) = outliers.labelled(work, None)
    assert (task.name, int(task.labels.sum()), len(task.table)) == ("few", 2, 40)


def test_halves_are_compared_table_by_table():
    table = read_table({"x": [1.0, 2.0], "y": [1.0, 3.0]})
    names = ("wine", "films", "a", "b", "c", "d")
    tasks = [Task(name, table, np.array([0, 1])) for name in names]
    scored = [
        (task, "planted", {name: {"all": i / 10, "swap": 0.5} for name in outliers.blends()})
        for i, task in enumerate(tasks)
    ]
    for half in (False, True):
        expected = [i / 10 for i, task in enumerate(tasks) if task.confirms == half]
        assert outliers.collect(scored, half, "planted")["isolation"].tolist() == expected
        assert set(outliers.collect(scored, half, "planted: swap")["range 10"]) == {0.5}
        assert outliers.collect(scored, half, "labelled") == {}
        assert outliers.collect(scored, half, "planted: number") == {}
