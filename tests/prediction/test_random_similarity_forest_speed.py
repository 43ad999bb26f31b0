"""The speed case of similarity forests does what it says, on a few rows."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def test_the_plain_forest_grows_trees_like_ours():
    case = importlib.import_module("benchmarks.speed.cases.rsf")
    problem = case.baskets(True)
    ours, theirs = case.our_trees(problem)(), case.python_trees(problem)()
    leaves = (ours.trees_.feature < 0).sum() / case.TREES
    assert 0.5 < leaves / (theirs.leaves / case.PYTHON_TREES) < 2
    assert case.edits("kitten", "sitting") == 3
    assert case.edits("GGGC", "AGGCG") == 2
    assert case.jaccard({1, 2, 3}, {2, 3, 4}) == 0.5
