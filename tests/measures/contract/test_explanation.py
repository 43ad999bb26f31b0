import re
import sys

import pytest

from lookalike.errors import MissingExtra
from lookalike.measures import Explanation
from lookalike.measures.contract.explanation import show

EXPLAINED = Explanation(
    0.6,
    0.4,
    {"size": 0.5, "<b>": 0.1, None: 0.0},
    {"size": 0.0, "<b>": 0.3, None: 0.1},
    factors={"F_x": 0.25},
    cells={"size": (1.0, 2.0), "<b>": ("red & blue", None)},
)


def test_reasons_are_the_strongest_named_columns():
    assert EXPLAINED.reasons() == ([("size", 0.5), ("<b>", 0.1)], [("<b>", 0.3)])
    assert EXPLAINED.reasons(1) == ([("size", 0.5)], [("<b>", 0.3)])


def test_text_shows_every_column_and_factor():
    lines = str(EXPLAINED).splitlines()
    assert lines[0] == "similarity 0.600, distance 0.4"
    assert lines[1].split() == ["size", "+0.500", "-0.000", "1", "|", "2"]
    assert lines[3].split()[0] == "(other)"
    assert lines[4].strip() == "F_x = 0.25"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(backend):
    frame = EXPLAINED.to_frame(backend)
    assert list(frame["plus"].to_pylist() if backend == "pyarrow" else frame["plus"]) == [
        0.5,
        0.1,
        0,
    ]
    assert type(frame).__module__.startswith(backend)


def test_html_has_a_bar_each_way_and_nothing_that_runs():
    page = EXPLAINED.to_html()
    assert page == EXPLAINED._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "red &amp; blue" in page
    assert "<script" not in page
    bars = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    widths = [float(w) for w in re.findall(r"width:([\d.]+)%", bars)]
    assert widths == [0.0, 100.0, 60.0, 20.0, 20.0, 0.0]  # against and for, column by column


def test_cells_in_a_few_characters():
    assert show(None) == "–"
    assert show(1234567.5) == "1.23457e+06"
    assert show(frozenset({"b", "a"})) == "a, b"
    assert show([0.25, 0.5]) == "[0.25 0.5]"
    assert show("x" * 99) == "x" * 27 + "…"


def test_contributions_are_drawn_as_bars():
    pytest.importorskip("matplotlib")
    axes = EXPLAINED.plot()
    words = ["(other)" if name is None else str(name) for name in EXPLAINED.strongest]
    assert [label.get_text() for label in axes.get_yticklabels()] == words
    against, speaks_for = axes.containers
    names = EXPLAINED.strongest
    widths = [bar.get_width() for bar in speaks_for]
    assert widths == pytest.approx([EXPLAINED.plus.get(name, 0.0) for name in names])
    widths = [bar.get_width() for bar in against]
    assert widths == pytest.approx([-EXPLAINED.minus.get(name, 0.0) for name in names])
    assert axes.yaxis_inverted()  # the strongest on top
    assert EXPLAINED.plot(axes) is axes
    dollars = Explanation(0.5, 0.5, {"$a$": 0.5}, {"$a$": 0.5}).plot()
    assert dollars.get_yticklabels()[0].get_text() == r"\$a\$"


def test_drawing_needs_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"Explanation.plot: needs matplotlib.*\[report"):
        EXPLAINED.plot()


def test_to_pandas_is_the_frame():
    assert EXPLAINED.to_pandas().equals(EXPLAINED.to_frame("pandas"))
