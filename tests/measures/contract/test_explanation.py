"""Explanations: parts by column, which of them say something about a pair, bits of similarity."""

import re
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import MissingExtra
from lookalike.hubness import LocalScaling, MutualProximity
from lookalike.measures import (
    MEASURES,
    Combined,
    Explanation,
    ForestProximity,
    Gower,
    Ranked,
    StochasticForest,
    Vector,
)
from lookalike.measures.contract.explanation import (
    as_bits,
    by_owner,
    draw_pairs,
    ratio,
    rescaled,
    shared_out,
)
from lookalike.measures.forest.methods import METHODS
from lookalike.saving.load import import_packages
from lookalike.table import read_table
from lookalike.trees.thresholds.attribution import parting_counts, parting_shares
from lookalike.trees.thresholds.proximity import leaf_matrix

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


def test_html_has_a_bar_each_way_and_nothing_that_runs(tmp_path):
    page = EXPLAINED.to_html()
    assert EXPLAINED.html_body() in page
    assert EXPLAINED.html_body() in EXPLAINED._repr_html_()
    assert EXPLAINED.to_html(tmp_path / "why.html") is None
    assert (tmp_path / "why.html").read_text("utf-8") == page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "red &amp; blue" in page
    assert "<script" not in page
    bars = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    widths = [float(w) for w in re.findall(r"width:([\d.]+)%", bars)]
    assert widths == [0.0, 100.0, 60.0, 20.0, 20.0, 0.0]  # against and for, column by column


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
    with pytest.raises(MissingExtra, match=r"Explanation.plot: .*matplotlib.*\[report"):
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
    assert (left.tolist(), right.tolist()) == ([0, 1, 2, 3], [1, 2, 3, 0])
    assert drawn.tolist() == draw_pairs(9, 4)[0].tolist()  # in every run
    assert [len(draw_pairs(9, size)[1]) for size in (1, 2, 3)] == [0, 1, 3]
    _, left, right = draw_pairs(2, 2)
    assert (left.tolist(), right.tolist()) == ([0], [1])


def test_a_fitted_measure_explains_with_its_random_pairs():
    """Two rows without anything to compare, and a baseline over all neighbors of the draw."""
    table = {"x": [0.0, 1.0, 3.0, None], "y": ["a", "b", "b", None]}
    measure = Gower().fit(table)
    pair = measure.explain({"x": [0.0], "y": ["a"]}, {"x": [3.0], "y": ["b"]})
    assert (pair.similarity, set(pair.surprisal)) == (0.0, {"x", "y"})
    rows = measure.rows_
    drawn, left, right = draw_pairs(4, 4)
    left, right = drawn[left], drawn[right]
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


N = 160
TREES = {"n_estimators": 40, "random_state": 0}
OF_NUMBERS = {
    **{f"vector {m}": Vector(m, scale="minmax") for m in ("euclidean", "cityblock", "chebyshev")},
    "ranked": Ranked(),
    "ranked euclidean": Ranked("euclidean", scale=True),
    "stochastic": StochasticForest(200, 4, on_fail="relax", random_state=0),
    "combined": Combined([(1.0, Vector(scale="minmax")), (1.0, Ranked())], how="zscore"),
    "mutual proximity": MutualProximity(Vector("cityblock", scale="minmax")),
    "local scaling": LocalScaling(Ranked()),
}
OF_WORDS = {
    **{f"forest {m}": ForestProximity(m, **TREES) for m in METHODS if m != "oob"},
    "forest oob": ForestProximity("oob", n_estimators=120, random_state=0),
    "similarity forest": ForestProximity("shi", "similarity", **TREES),
    "gower": Gower(),
    "combined forests": Combined([(1.0, Gower()), (2.0, ForestProximity("shi", **TREES))]),
    "wrapped forest": MutualProximity(ForestProximity("ratio", **TREES)),
}


def rows(seed, words):
    """Rows 0 and 1 share a rare level; all share a constant, most a frequent one."""
    rng = np.random.default_rng(seed)
    rare = (np.arange(N) < 6).astype(int)
    common = (rng.random(N) < 0.05).astype(int)
    common[:6] = 0
    table = {
        "constant": np.full(N, 7.0),
        "common": np.where(common, "b", "a") if words else common.astype(float),
        "rare": np.where(rare, "violet", "red") if words else rare.astype(float),
        "x": rng.normal(size=N),
        "y": rng.normal(size=N),
    }
    table["x"][:2] = table["y"][:2] = 0.0, 0.7  # neither near nor far
    kinds = {"constant": "number", "common": "category", "rare": "category"}
    kinds = kinds if words else dict.fromkeys(table, "number")
    return la.read_table(table, kinds=kinds)


CASES = [(name, measure, False) for name, measure in OF_NUMBERS.items()]
CASES += [(name, measure, True) for name, measure in OF_WORDS.items()]


@pytest.mark.parametrize(("measure", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@pytest.mark.parametrize("seed", range(4))  # of other tables x or y may be the better reason
def test_a_rare_level_in_common_is_the_first_reason(measure, words, seed):
    fitted = measure.fit(rows(seed, words))
    explained = fitted.explain(0, 1)
    plus, minus = explained.reasons(5)
    order = [name for name, _ in plus]
    if isinstance(measure, StochasticForest):  # it halves samples, so it hardly sees a rare level
        order = [name for name in order if name not in ("x", "y")]
    assert order[0] == "rare"
    assert explained.surprisal["rare"][0] > explained.surprisal["common"][0]
    assert "constant" not in dict(plus) | dict(minus)
    assert set(dict(plus)).isdisjoint(dict(minus))
    assert sum(explained.plus.values()) == pytest.approx(explained.similarity, abs=1e-9)
    assert sum(explained.minus.values()) == pytest.approx(1 - explained.similarity, abs=1e-9)
    for i, j in ((0, 50), (40, 90), (3, 4)):
        for_ = [name for name, _ in fitted.explain(i, j).reasons(5)[0]]
        assert "constant" not in for_
        assert for_[:1] != ["common"] or not {"x", "y"} & set(for_)


@pytest.mark.parametrize(("measure", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_explanations_are_the_same_again_and_after_loading(measure, words, tmp_path):
    table = rows(1, words)
    one = measure.fit(table)
    explained = one.explain(3, 40)
    one.save(tmp_path / "model.lookalike")
    for again in (la.load(tmp_path / "model.lookalike"), measure.fit(table)):
        other = again.explain(3, 40)
        assert other.surprisal == explained.surprisal
        assert other.baseline == explained.baseline
        assert other.reasons(3) == explained.reasons(3)


@pytest.mark.parametrize("name", ["vector cityblock", "ranked", "stochastic"])
def test_bits_are_shares_of_the_rows_of_the_sample(name):
    measure = OF_NUMBERS[name].fit(rows(2, False)[: N - 40])  # all rows are in the sample
    n = N - 40
    explained = measure.explain(5, 30)
    own = measure.column_differences(measure.rows_[5:6], measure.rows_[30:31])
    others = np.delete(np.arange(n), [5, 30])
    for at, column in enumerate(own.names):
        differs = [
            measure.column_differences(measure.rows_[i : i + 1], measure.rows_[j : j + 1]).values[0]
            for i in (5, 30)
            for j in others
        ]
        values = np.array(differs)[:, at]
        shares = [((side).sum() + 1) / (len(values) + 1) for side in
                  (values <= own.values[0, at], values >= own.values[0, at])]  # fmt: skip
        assert explained.surprisal[column] == pytest.approx(tuple(-np.log2(shares)))


def test_a_shuffled_column_changes_what_it_says():
    """The bits follow the cells, not the place of the column."""
    frame = {column.name: [column.cell(i) for i in range(N)] for column in rows(3, True)}
    kinds = {"constant": "number", "common": "category", "rare": "category"}
    before = ForestProximity("shi", **TREES).fit(la.read_table(frame, kinds=kinds)).explain(0, 1)
    frame["rare"] = ["red", "violet", *frame["rare"][2:]]
    after = ForestProximity("shi", **TREES).fit(la.read_table(frame, kinds=kinds)).explain(0, 1)
    assert before.surprisal["rare"][0] > 3 > after.surprisal["rare"][0]
    assert after.surprisal["rare"][1] > 1
    assert after.reasons(1)[1][0][0] == "rare"


@pytest.mark.parametrize("method", ["shi", "zhu2", "ratio"])
def test_partings_are_counted_as_they_are_shared_out(method):
    measure = ForestProximity(method, **TREES).fit(rows(4, True))
    forest, codes = measure.forest_, measure.rows_.arrays["codes"]
    counts = parting_counts(forest, codes[:1], codes[10:14], len(measure.inputs_.owner))
    offsets = forest.nodes.leaf_offsets
    for row, found in zip(range(10, 14), counts, strict=True):
        pair = [leaf_matrix(codes[i : i + 1], offsets).toarray()[0] for i in (0, row)]
        share = parting_shares(forest, *pair)
        inside = forest.feature >= 0
        column = forest.column[forest.feature[inside]]
        expected = np.bincount(column, share[inside], len(measure.inputs_.owner))
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("measure", [OF_WORDS["forest shi"], OF_WORDS["forest ratio"],
                                     OF_NUMBERS["stochastic"]])  # fmt: skip
def test_a_missing_cell_is_not_a_reason(measure):
    words = measure is not OF_NUMBERS["stochastic"]
    fitted = measure.fit(rows(5, words))
    row = {"constant": 7.0, "common": "a" if words else 0.0, "rare": None, "x": 0.0, "y": 0.0}
    explained = fitted.explain(row, 0)
    assert "rare" not in explained.surprisal
    assert "x" in explained.surprisal


def test_entries_of_one_column_are_one_difference():
    found = by_owner(("a", "b", "b", "c"), np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]]))
    assert found.names == ("a", "b", "c")
    assert found.values.tolist() == [[1.0, 5.0, 4.0], [0.0, 1.0, 1.0]]


def test_nothing_to_compare_has_no_bits():
    differs = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]])
    own = np.array([[1.0, 2.0], [1.0, np.nan]])
    assert as_bits(("a", "b"), differs[None], own) == [
        {"b": pytest.approx((-np.log2(3 / 4), -np.log2(3 / 4)))},
        {},
    ]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_tables_are_explained(n):
    for measure in (Vector(), Ranked()):
        explained = measure.fit(np.arange(2.0 * n).reshape(n, 2)).explain(0, [[1.0, 5.0]])
        assert sum(explained.minus.values()) == pytest.approx(1 - explained.similarity)
        assert isinstance(explained.reasons()[1], list)


def test_fitting_does_not_draw_the_sample():
    x = np.random.default_rng(0).normal(size=(3000, 20))
    measure = ForestProximity("ratio", n_estimators=20, random_state=0).fit(x)
    assert "sample" not in measure.rows_.cache
    measure.explain(0, 1)
    began = time.perf_counter()
    measure.explain(0, 2)
    assert time.perf_counter() - began < 1.0
    assert "sample" in measure.rows_.cache


import_packages()
EXAMPLES = [
    pytest.param(example, id=repr(example))
    for cls in MEASURES.values()
    if cls.__module__.startswith("lookalike.")
    for example in cls.examples()
]


def rows_of(measure, n=40):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4)).round(1)
    x[1] = x[0]
    if measure.traits.pairwise:
        return np.abs(x[:, None] - x).sum(axis=2)
    columns = {f"x{j}": x[:, j] for j in range(4)}
    words = not measure.traits.kinds or "category" in measure.traits.kinds
    if words:
        columns["c"] = np.array(["red", "green", "blue", "blue"])[rng.integers(0, 4, n)]
    return read_table(columns)


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
@pytest.mark.parametrize("measure", EXAMPLES)
def test_every_measure_tells_the_same_similarities(measure):
    fitted = measure.fit(rows_of(measure))
    rows = fitted.rows_
    graph = fitted.nearest(rows, rows, 5, exclude=np.arange(len(rows)))
    explained = 0
    for i in range(len(rows)):
        d, s = fitted.both_blocks(rows[i : i + 1], rows[graph.indices[i]])
        found = fitted.similarity_at(graph.distances[i])
        if found is not None:
            explained += 1
            np.testing.assert_array_equal(graph.distances[i], d[0])
            np.testing.assert_array_equal(found, s[0])
    if fitted.traits.native == "distance":
        assert explained == len(rows)
    elif fitted.traits.conversion != "one_minus":
        assert not explained


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
@settings(deadline=None)
def test_what_one_minus_loses_is_not_guessed(similarities):
    measure = Gower().fit({"x": [0.0, 1.0]})
    s = np.array(similarities)
    found = measure.similarity_at(measure.to_distance(s.copy()))
    if found is not None:
        np.testing.assert_array_equal(found, s)
    # Between one half and one every similarity comes back.
    assert found is not None or not ((s > 0.5) & (s < 1.0)).all()
