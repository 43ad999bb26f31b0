"""Similarity within and between classes: numbers by hand, and the picture of them."""

import sys

import numpy as np
import pytest

from lookalike.errors import InvalidInput, MissingExtra
from lookalike.measures import Gower
from lookalike.represent import class_similarity, plot_class_similarity

S = np.array([[1, 0.9, 0.2, 0.4], [0.9, 1, 0.3, 0.4], [0.2, 0.3, 1, 0.4], [0.4, 0.4, 0.4, 1]])
Y = ["a", "a", "b", "b"]


def test_numbers_by_hand():
    found = class_similarity(S, Y)
    assert sorted(found["within"]) == [0.4, 0.9]
    assert sorted(found["between"]) == [0.2, 0.3, 0.4, 0.4]
    assert found["within_mean"] == pytest.approx(0.65)
    assert found["between_mean"] == pytest.approx(0.325)
    # 0.9 beats all four, 0.4 beats two and ties with two.
    assert found["separation"] == pytest.approx((4 + 2 + 1) / 8)


def test_measures_matrices_and_samples_agree():
    x = np.random.default_rng(0).random((50, 2))
    y = np.arange(50) % 3
    measure = Gower().fit(x)
    whole = class_similarity(measure, y)
    same = class_similarity(measure.similarity(), y)
    assert whole["separation"] == same["separation"]
    part = class_similarity(measure, y, sample=20, random_state=1)
    assert len(part["within"]) + len(part["between"]) == 20 * 19 / 2
    again = class_similarity(measure.similarity(), y, sample=20, random_state=1)
    assert part["within_mean"] == again["within_mean"] != whole["within_mean"]


def test_undefined_pairs_count_one_half():
    measure = Gower().fit({"a": [0.0, None, 1.0], "b": [None, 0.0, 1.0]})
    assert class_similarity(measure, ["x", "x", "y"])["within"].tolist() == [0.5]


def test_one_panel_per_space():
    figure = plot_class_similarity({"before": S, "after": S**2}, Y)
    assert [axis.get_title() for axis in figure.axes] == [
        "before: separation 0.88",
        "after: separation 0.88",
    ]
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert sum(h > 0 for h in heights) == 2 + 3  # bins of (0.9, 0.4) and of (0.2, 0.3, 0.4)
    lines = sorted(line.get_xdata()[0] for line in figure.axes[0].lines)
    assert lines == pytest.approx([0.325, 0.65])
    assert len(plot_class_similarity(S, Y).axes) == 1
    assert plot_class_similarity(S, Y, figure=figure) is figure


def test_matplotlib_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[report\]"):
        plot_class_similarity(S, Y)


@pytest.mark.parametrize(
    ("space", "y", "words"),
    [
        (S, ["a"] * 4, "none of two classes"),
        (S, list("abcd"), "none of one class"),
        (S, ["a"], "one target value for each of the 4 rows"),
        (S * 2, Y, "similarities from 0 to 1"),
    ],
)
def test_bad_input(space, y, words):
    with pytest.raises(InvalidInput, match=words):
        class_similarity(space, y)
    with pytest.raises(InvalidInput, match="an integer >= 2"):
        class_similarity(S, Y, sample=1)
    with pytest.raises(InvalidInput, match="a space to draw"):
        plot_class_similarity({}, Y)
