import re
import sys

import numpy as np
import pytest

from lookalike.errors import MissingExtra
from lookalike.measures import Explanation, Gower
from lookalike.measures.contract.explanation import (
    as_bits,
    by_owner,
    draw_pairs,
    ratio,
    rescaled,
    shared_out,
    show,
)

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


def explained(plus, minus, **more):
    return Explanation(0.5, 0.5, plus, minus, **more)


def test_reasons_are_ranked_by_surprisal_times_weight():
    plus, minus = {"a": 0.1, "b": 0.3, "c": 0.2}, {"a": 0.0, "b": 0.0, "c": 0.1}
    bits = {"a": (9.0, 0.0), "b": (1.0, 0.0), "c": (2.0, 0.5)}
    found = explained(plus, minus, surprisal=bits)
    # The only difference is said as one, though nearer than usual.
    assert found.reasons() == ([("a", 0.1)], [("c", 0.1)])
    assert found.reasons(1) == ([("a", 0.1)], [("c", 0.1)])
    assert found.reasons(0) == ([], [])
    assert found.strongest == ["a", "c", "b"]
    # What is nearer than usual speaks for, what is not against; what every pair has for neither.
    bits = {"a": (2.0, 2.0), "b": (2.0, 1.9), "c": (0.0, 0.0)}
    found = explained(plus, {"a": 0.2, "b": 0.2, "c": 0.2}, surprisal=bits)
    assert found.reasons() == ([("b", 0.3)], [("a", 0.2)])
    assert found._ranked(found.minus, 1) == ["b", "a"]
    assert found._ranked(found.plus, 0) == ["b"]
    # Round-off is no contribution.
    assert explained({"a": 1e-16}, {"a": 1e-16}).reasons() == ([], [])
    # The reach counts where it is more than both contributions.
    far = explained({None: 0.5}, {"a": 0.1, "b": 0.4}, reach={"a": 3.0, "b": 0.1},
                    surprisal={"a": (0.0, 1.0), "b": (0.0, 1.0)})  # fmt: skip
    assert far.reasons() == ([], [("a", 0.1), ("b", 0.4)])
    # Measures of differences: columns at 0 speak for a part of the plus of none.
    near = explained({None: 0.5}, {"b": 0.4}, surprisal={"a": (3.0, 0.0), "b": (0.0, 1.0)})
    assert near.reasons() == ([("a", 0.0)], [("b", 0.4)])
    assert explained({"b": 0.5}, {}, surprisal={"a": (3.0, 0.0)}).reasons() == ([("b", 0.5)], [])


def test_the_largest_difference_is_always_a_reason_against():
    bits = {name: (0.0, value) for name, value in (("a", 3.0), ("b", 2.0), ("c", 1.0))}
    minus = {"a": 0.3, "b": 0.2, "c": 0.1}
    baseline = {"a": (0.0, 0.3), "b": (0.0, 0.15), "c": (0.0, 0.01)}
    found = explained({}, minus, surprisal=bits, baseline=baseline)
    assert found._largest_difference() == "c"
    assert found.reasons() == ([], [("a", 0.3), ("c", 0.1)])
    assert found.reasons(1) == ([], [("c", 0.1)])
    assert found.reasons(3) == ([], [("a", 0.3), ("b", 0.2), ("c", 0.1)])
    assert found.reasons(0) == ([], [])
    for share, base, (near, far), is_largest in (
        (0.3, 0.3, (0, 0), False), (0.31, 0.3, (0, 0), True), (0.3, 0.0, (0, 0), True),
        (0.31, 0.3, (1.0, 1.0), True), (0.31, 0.3, (1.1, 1.0), False), (1e-16, 0.0, (0, 0), False),
    ):  # fmt: skip
        one = explained({}, {"a": share}, surprisal={"a": (near, far)}, baseline={"a": (0.0, base)})
        assert (one._largest_difference() == "a") is is_largest
    # A difference of what never differs is beyond all others.
    sure = explained({}, minus, baseline={"a": (0.0, 0.0), "c": (0.0, 0.001)})
    assert sure._largest_difference() == "a"
    # It does not speak for likeness as well.
    both = explained({"a": 0.5}, {"a": 0.4}, baseline={"a": (0.0, 0.1)})
    assert both.reasons() == ([], [("a", 0.4)])


def test_without_an_unusual_difference_the_largest_is_said():
    usual = {"a": (1.0, 0.0), "b": (1.0, 0.0), "c": (0.0, 0.0)}
    minus = {"a": 0.1, "b": 0.2, "c": 0.3}
    found = explained({"a": 0.5, "b": 0.4}, minus, surprisal=usual)
    assert found.reasons() == ([("a", 0.5)], [("b", 0.2)])
    assert found._with_largest_minus(["b"]) == (["b"], [])
    assert found._with_largest_minus(["a", "b"]) == (["a"], ["b"])
    assert explained({"a": 0.5}, {"a": 1e-16, None: 0.5}).reasons() == ([("a", 0.5)], [])


def test_tables_of_contributions():
    found = explained(
        {"b": 0.5, None: 0.1}, {"a": 0.2}, baseline={"a": (0.1, 0.2)}, cells={"a": (1.5, None)}
    )
    assert found.columns == ["b", "a", None]
    assert found.to_dict() == {
        "column": ["b", "a", None],
        "plus": [0.5, 0.0, 0.1],
        "minus": [0.0, 0.2, 0.0],
        "baseline_plus": [0.0, 0.1, 0.0],
        "baseline_minus": [0.0, 0.2, 0.0],
    }
    assert "baseline_plus" not in EXPLAINED.to_dict()
    assert found.strongest == ["b", "a", None]
    assert explained({"b": 0.5}, {"a": 0.2}).columns == ["b", "a"]
    assert explained({"b": 0.1}, {"a": 0.2}).strongest == ["a", "b"]
    assert [found._pair(name) for name in ("a", "b", None)] == [("1.5", "–"), ("", ""), ("", "")]
    assert str(found).splitlines()[1] == "  b        +0.500  -0.000"
    assert str(found).splitlines()[2] == "  a        +0.000  -0.200   1.5 | –"
    plus, minus = EXPLAINED.phrases(1)
    assert ([reason.column for reason in plus], [reason.column for reason in minus]) == (
        ["size"], ["<b>"],
    )  # fmt: skip
    reason = EXPLAINED._phrase("<b>", 0.3, False)
    assert (reason.share, reason.speaks_for) == (0.3, False)
    assert (reason.query, reason.found) == ("red & blue", None)
    unknown = EXPLAINED._phrase("z", 0.1, True)
    assert (unknown.query, unknown.found, unknown.speaks_for) == (None, None, True)


def test_cells_at_the_limit_of_their_width():
    assert show("x" * 28) == "x" * 28
    assert show("x" * 29) == "x" * 27 + "…"
    assert show("abcdef", 4) == "abc…"
    assert show(frozenset()) == "(none)"
    assert show([]) == "[]"
    assert show((0.123456, 2.0)) == "[0.12 2]"
    assert show(["a", 1.0]) == "['a', 1.0]"
    assert show(0.1234567) == "0.123457"


def test_shares_ratios_and_owners():
    assert shared_out(0.6, {"a": 1.0, "b": 2.0}) == pytest.approx({"a": 0.2, "b": 0.4})
    assert shared_out(0.6, {"a": 0.0}) == {None: 0.6}
    assert shared_out(0.6, {}) == {None: 0.6}
    assert shared_out(0.6, {"a": float("nan")}) == {None: 0.6}
    assert rescaled({"a": (0.5, 0.25)}, 2.0, 4.0) == {"a": (1.0, 1.0)}
    assert [ratio(1.0, 2.0), ratio(1.0, 0.0), ratio(1.0, -1.0)] == [0.5, 0.0, 0.0]
    values = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    names, sums = by_owner(("a", "a", "b"), values)
    assert (names, sums.tolist()) == (("a", "b"), [[3.0, 4.0], [24.0, 32.0]])
    names, sums = by_owner(("a", "b", "b"), values)
    assert (names, sums.tolist()) == (("a", "b"), [[1.0, 6.0], [8.0, 48.0]])
    assert by_owner(("a", "b", "c"), values).values is values


def test_bits_are_shares_of_random_pairs():
    """Four pairs, one of them with nothing to compare in b; the pair itself is one more."""
    nan = np.nan
    differs = np.array([[[0.0, 1.0, nan], [0.5, nan, nan], [0.5, 2.0, nan], [1.0, 3.0, nan]]])
    own = np.array([[0.5, 0.0, 1.0], [nan, 3.0, 1.0]])
    first, second = as_bits(("a", "b", "c"), differs, own)
    assert (set(first), set(second)) == ({"a", "b"}, {"b"})
    assert first["a"] == pytest.approx((-np.log2(4 / 5), -np.log2(4 / 5)))
    assert first["b"] == pytest.approx((-np.log2(1 / 4), 0.0))
    assert second["b"] == pytest.approx((0.0, -np.log2(2 / 4)))
    assert str(first["b"][1]) == "0.0"


def test_pairs_are_neighbors_in_the_order_of_the_draw():
    drawn, left, right = draw_pairs(9, 4)
    assert len(set(drawn.tolist())) == 4
    assert (left.tolist(), right.tolist()) == (drawn.tolist(), [*drawn[1:].tolist(), drawn[0]])
    assert drawn.tolist() == draw_pairs(9, 4)[0].tolist()  # in every run
    assert [len(draw_pairs(9, size)[1]) for size in (1, 2, 3)] == [0, 1, 3]
    drawn, left, right = draw_pairs(2, 2)
    assert (left.tolist(), right.tolist()) == (drawn[:1].tolist(), drawn[1:].tolist())


def test_a_fitted_measure_explains_with_its_random_pairs():
    """Two rows without anything to compare, and a baseline over all neighbors of the draw."""
    table = {"x": [0.0, 1.0, 3.0, None], "y": ["a", "b", "b", None]}
    measure = Gower().fit(table)
    pair = measure.explain({"x": [0.0], "y": ["a"]}, {"x": [3.0], "y": ["b"]})
    assert (pair.similarity, set(pair.surprisal)) == (0.0, {"x", "y"})
    rows = measure.rows_
    _, left, right = draw_pairs(4, 4)
    known = [(i, j) for i, j in zip(left, right, strict=True) if 3 not in (i, j)]
    shares = [measure._explain(rows[i : i + 1], rows[j : j + 1]) for i, j in known]
    for name in ("x", "y"):
        means = [
            np.mean([getattr(one, side)[name] for one in shares]) for side in ("plus", "minus")
        ]
        assert pair.baseline[name] == pytest.approx(means)
    nothing = {"x": [None], "y": [None]}
    assert np.isnan(measure.explain(nothing, {"x": [0.0], "y": ["a"]}).similarity)
    half = Gower(undefined=0.25).fit(table).explain(nothing, {"x": [0.0], "y": ["a"]})
    assert (half.similarity, half.plus, half.minus) == (0.25, {None: 0.25}, {None: 0.75})
    assert half.distance == pytest.approx(measure.distance_at(0.25))
