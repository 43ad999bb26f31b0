"""A few of the published numbers, where the data are at hand."""

import importlib
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.papers.studies.hubness")


@pytest.mark.parametrize("name", ["colon-cancer", "heart", "ionosphere", "sonar"])
def test_printed_digits_come_out(study, name):
    one = study.SETS[name]
    if not (DATA / one.file).exists():
        pytest.skip(f"needs {one.file} in the folder named by LOOKALIKE_DATA")
    x, y = study.load(DATA, one)
    for ours, printed in zip(study.measured(x, y, one.metric), one.printed, strict=True):
        assert [round(ours[0], 1), round(ours[1], 1)] == [printed[0], printed[1]]
        assert abs(ours[2] - printed[2]) < 0.0051


def test_all_sets_have_a_row_for_each_space(study):
    assert len(study.SETS) >= 13
    for one in study.SETS.values():
        assert [len(row) for row in one.printed] == [3] * len(study.SPACES)
