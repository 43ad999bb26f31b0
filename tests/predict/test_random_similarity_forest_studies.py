"""The study and the speed case of similarity forests do what they say, on a few rows."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def test_methods_are_compared_over_data_sets():
    study = importlib.import_module("benchmarks.papers.studies.rsf")
    scores = np.array(
        [[0.92, 0.91, 0.92], [0.99, 0.99, 0.995], [0.80, 0.79, 0.78], [0.73, 0.69, 0.72]]
    )
    found = study.friedman(scores)
    assert_allclose(found["ranks"], [1.5, 2.625, 1.875])
    assert found["chi2"] == pytest.approx(2.625)
    assert found["F"] == pytest.approx(1.465116, abs=5e-7)
    assert found["gap"] == pytest.approx(1.657247, abs=5e-7)


def test_the_three_forests_run_on_sequences():
    study = importlib.import_module("benchmarks.papers.studies.rsf")
    areas = study.on_sequences("lengths", repeats=1, n_per_class=20)
    assert len(areas) == 3
    assert min(areas[1:]) > 0.7


def test_folds_are_ten_times_two():
    study = importlib.import_module("benchmarks.papers.studies.rsf")
    y = np.repeat([0, 1], [30, 10])
    parts = study.folds(y, study.REPEATS)
    assert len(parts) == 20
    assert all(y[held].sum() == 5 for _, held in parts)


def test_the_plain_forest_grows_trees_like_ours():
    case = importlib.import_module("benchmarks.speed.cases.rsf")
    problem = case.baskets(True)
    ours, theirs = case.our_trees(problem)(), case.python_trees(problem)()
    leaves = (ours.trees_.feature < 0).sum() / case.TREES
    assert 0.5 < leaves / (theirs.leaves / case.PYTHON_TREES) < 2
    assert case.edits("kitten", "sitting") == 3
    assert case.edits("GGGC", "AGGCG") == 2
    assert case.jaccard({1, 2, 3}, {2, 3, 4}) == 0.5
