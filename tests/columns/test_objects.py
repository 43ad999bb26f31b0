"""Cells that are texts, sets, sequences, series, histograms, vectors and graphs."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import reference
from columns.make import CASES, cells_of, column, graphs, sets, tokens
from lookalike.columns import (
    DTW,
    Cosine,
    EarthMover,
    Edit,
    EditSets,
    Euclidean,
    GraphEdit,
    GraphJaccard,
    Jaccard,
    JaroWinkler,
    Levenshtein,
    NormalizedEuclidean,
    Overlap,
    TokenSet,
    WeisfeilerLehman,
    sequence,
)
from lookalike.columns.sets import token_id
from lookalike.columns.text import letters, strings
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, Graph

few = settings(max_examples=30, deadline=None)


def compare(distance, kind, cells):
    own = distance.fit(column(kind, cells))
    code = own.encode(column(kind, cells))
    return own.compare(code, code)


def between(distance, kind, u, v):
    return compare(distance, kind, [u, v])[0, 1]


NODES = {1: None, 2: None, 3: None}

WORKED = [
    (Jaccard(), "set", frozenset({1, 2, 3}), frozenset({2, 3, 4}), 0.5),
    (Jaccard(), "set", frozenset(), frozenset(), 0),
    (Jaccard(), "set", frozenset(), frozenset("a"), 1),
    (Overlap(), "set", frozenset("ab"), frozenset("abc"), 0),
    (Overlap(), "set", frozenset(), frozenset("a"), 1),
    (Overlap(), "set", frozenset(), frozenset(), 0),
    (Levenshtein(normalized=False), "text", "GGGC", "AGGCG", 2),
    (Levenshtein(normalized=False), "text", "kitten", "sitting", 3),
    (Levenshtein(), "text", "kitten", "sitting", 3 / 7),
    (Levenshtein(), "text", "", "", 0),
    (TokenSet(), "text", "new york mets", "mets of new york", 0),
    (TokenSet(), "text", "", " ", 0),
    (TokenSet(), "text", "", "a", 1),
    (JaroWinkler(), "text", "martha", "marhta", 1 - 0.9611111111111111),
    (JaroWinkler(prefix_weight=0), "text", "martha", "marhta", 1 - 17 / 18),
    (Edit(), "sequence", tuple("GGGC"), tuple("AGGCG"), 2),
    (Edit(normalized=True), "sequence", tuple("kitten"), tuple("sitting"), 3 / 7),
    (Edit(), "sequence", (), (), 0),
    (Edit(), "sequence", ({1, 2}, {3}), ({1, 2, 3}, {3}, {4}), 1 / 3 + 1),
    (EditSets(), "sequence", ({1, 2}, {3}), ({1, 2, 3}, {3}, {4}), 1 / 3 + 1),
    (EditSets(normalized=True), "sequence", ({1, 2}, {3}), ({1, 2, 3}, {3}, {4}), 4 / 9),
    (EditSets(), "sequence", (), (), 0),
    (EditSets(), "sequence", (), ({1}, set()), 2),
    (EditSets(), "sequence", (set(),), (set(),), 0),
    (Edit(relabel="unit"), "sequence", (frozenset("a"),), (frozenset("ab"),), 1),
    (DTW(), "series", [0, 0, 1, 2], [0, 1, 2], 0),
    (DTW(), "series", [1, 2, 3], [2, 2, 2], 2),
    (DTW(), "series", [], [], 0),
    (DTW(), "series", [], [1], np.inf),
    (DTW(window=0), "series", [0, 0, 1, 2], [0, 1, 2, 2], 2),
    (Euclidean(), "series", [0, 0], [3, 4], 5),
    (Euclidean(), "histogram", [1, 0], [0, 1], np.sqrt(2)),
    (NormalizedEuclidean(), "histogram", [1, 3], [10, 30], 0),
    (NormalizedEuclidean(), "histogram", [0, 0], [5, 0], 1),
    (EarthMover(), "histogram", [1, 0, 0], [0, 0, 1], 2),
    (EarthMover(), "histogram", [2, 0, 0], [0, 0, 1], 2 + 2 + 1),
    (EarthMover(normalized=True), "histogram", [2, 0, 0], [0, 0, 1], 2),
    (EarthMover(normalized=True), "histogram", [0, 0, 0], [0, 0, 1], 1),
    (Cosine(), "vector", [1, 0], [0, 2], 1),
    (Cosine(), "vector", [1, 0], [-3, 0], 2),
    (Cosine(), "vector", [0, 0], [1, 1], 1),
    (Cosine(), "vector", [1e-200, 0], [1e200, 1e200], 1 - np.sqrt(0.5)),
    (GraphJaccard(), "graph", Graph(NODES, frozenset({(1, 2), (2, 3)})),
     Graph(NODES, frozenset({(1, 2), (1, 3)})), 1 / 3),
    (GraphJaccard(), "graph", Graph({}, frozenset()), Graph({}, frozenset()), 0),
    (WeisfeilerLehman(), "graph", Graph({}, frozenset()), Graph({}, frozenset()), 0),
    (WeisfeilerLehman(rounds=0), "graph", Graph({1: "C", 2: "C"}, frozenset()),
     Graph({1: "O"}, frozenset()), np.sqrt(5)),
    (GraphEdit(), "graph", Graph({}, frozenset()), Graph({}, frozenset()), 0),
    (GraphEdit(), "graph", Graph(NODES, frozenset({(1, 2), (2, 3)})), Graph({}, frozenset()), 5),
]  # fmt: skip


@pytest.mark.parametrize(("distance", "kind", "u", "v", "expected"), WORKED)
def test_worked_numbers(distance, kind, u, v, expected):
    assert between(distance, kind, u, v) == pytest.approx(expected, rel=1e-12, abs=1e-15)


# -- texts ---------------------------------------------------------------------------------------


@few
@given(texts=st.lists(st.one_of(st.none(), st.text(max_size=6)), max_size=5))
def test_texts_survive_packing(texts):
    packed = letters(texts)
    assert strings(packed) == ["" if text is None else text for text in texts]
    assert packed.missing.tolist() == [text is None for text in texts]


def test_texts_cut_inside_a_character_survive_packing():
    assert strings(letters(["\ud800", "a\udfff"])) == ["\ud800", "a\udfff"]


def test_texts_without_words_are_equal_whatever_their_white_space():
    blanks = ["", " ", "\t\n", "\x1c", "\u2003"]
    assert (compare(TokenSet(), "text", blanks) == 0).all()


@few
@given(st.lists(st.text("ab", max_size=130), min_size=2, max_size=2))
def test_long_texts_equal_the_slow_twin(pair):
    u, v = pair
    assert between(Levenshtein(normalized=False), "text", u, v) == reference.edit(u, v)


# -- sets and tokens -----------------------------------------------------------------------------


def test_tokens_are_equal_as_python_finds_them():
    for one, other in [(1, 1.0), (1, True), (1, np.int64(1)), ("a", np.str_("a")), (0.0, -0.0),
                       (0.5, Fraction(1, 2)), (Decimal("1.0"), 1), (0.5, np.float32(0.5)),
                       (("a", 1), ("a", 1.0)), (frozenset("ab"), frozenset("ba")),
                       (Fraction(1, 3), Fraction(2, 6)), (Decimal("0.1"), Fraction(1, 10)),
                       (Decimal("1e999"), 10**999)]:  # fmt: skip
        assert one == other
        assert token_id(one) == token_id(other)
    different = ["1", 1, 1.5, None, b"1", ("1",), frozenset("1"), (1,), "", (), frozenset(), -1,
                 Fraction(1, 3), Decimal("0.1"), 0.1, float("nan"), ("a", "b"), "ab"]  # fmt: skip
    assert len({token_id(token) for token in different}) == len(different)
    assert all(token_id(token) < -1 for token in different)
    assert token_id(Decimal("NaN")) == token_id(float("nan"))


def test_token_numbers_never_change():
    """Saved models hold these numbers, so a new version must not make others."""
    assert token_id("a") == -3855943937275546800
    assert token_id(1) == -3963749567050032768


def test_an_object_without_a_lasting_name_cannot_be_a_token():
    class Thing:
        pass

    with pytest.raises(TypeError, match="Thing"):
        compare(Jaccard(), "set", [frozenset({Thing()})])


def test_new_tokens_are_compared_like_old_ones():
    own = Jaccard().fit(column("set", [frozenset("ab")]))
    new = own.encode(column("set", [frozenset("xy"), frozenset("yz")]))
    assert own.compare(new, new)[0, 1] == pytest.approx(2 / 3)


def test_many_sets_equal_the_slow_twin():
    rng = np.random.default_rng(3)
    cells = [frozenset(rng.integers(0, 60, rng.integers(0, 12)).tolist()) for _ in range(150)]
    expected = [[reference.jaccard(u, v) for v in cells] for u in cells]
    np.testing.assert_allclose(compare(Jaccard(), "set", cells), expected, atol=1e-15)


# -- sequences -----------------------------------------------------------------------------------


@few
@given(st.lists(st.lists(tokens, max_size=90).map(tuple), min_size=3, max_size=3))
def test_long_sequences_equal_the_slow_twin(cells):
    found = compare(Edit(), "sequence", cells)
    assert found.tolist() == [[reference.edit(u, v) for v in cells] for u in cells]


@few
@given(cells=cells_of("edit", max_size=5), letters=st.integers(3, 6))
def test_more_tokens_than_letters_change_nothing(cells, letters):
    expected = compare(Edit(), "sequence", cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "_LETTERS", letters)
        np.testing.assert_array_equal(compare(Edit(), "sequence", cells), expected)


@few
@given(st.lists(st.lists(sets, max_size=7).map(tuple), min_size=2, max_size=5))
def test_sequences_of_sets_equal_the_slow_twin(cells):
    found = compare(EditSets(normalized=True), "sequence", cells)
    for i, u in enumerate(cells):
        for j, v in enumerate(cells):
            expected = reference.normalized_edit(u, v, reference.jaccard)
            assert found[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_edit_chooses_by_its_items():
    of_sets = column("sequence", [(frozenset("a"),), None, ()])
    assert Edit().fit(of_sets).sets_
    assert not Edit(relabel="unit").fit(of_sets).sets_
    assert not Edit().fit(column("sequence", [("a",), (frozenset("a"),)])).sets_
    assert not Edit().fit(column("sequence", [(), None])).sets_


# -- series --------------------------------------------------------------------------------------


@few
@given(
    cells=st.lists(CASES["dtw"][1], min_size=2, max_size=40),
    window=st.one_of(st.none(), st.integers(0, 4)),
)
def test_warping_equals_its_slow_twin_in_every_window(cells, window):
    found = compare(DTW(window=window), "series", cells)
    for i, u in enumerate(cells[:3]):
        for j, v in enumerate(cells):
            assert found[i, j] == pytest.approx(reference.dtw(u, v, window), rel=1e-12)


@pytest.mark.parametrize("window", [None, 0, 3])
def test_warping_agrees_with_dtaidistance_on_equal_lengths(window):
    dtw = pytest.importorskip("dtaidistance.dtw")
    rng = np.random.default_rng(1)
    cells = list(rng.normal(size=(12, 30)))
    found = compare(DTW(window=window), "series", cells)
    # theirs counts the diagonal itself: window=1 is no warping at all
    theirs = {} if window is None else {"window": window + 1}
    for i, u in enumerate(cells):
        expected = [dtw.distance(u, v, inner_dist="euclidean", **theirs) for v in cells]
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)


def test_long_series_are_sampled_less():
    own = DTW()
    assert own.sample_size(100) == 1000
    assert own.sample_size(10_000) == 16


# -- histograms and vectors ----------------------------------------------------------------------


def test_cosine_of_equal_vectors_is_exactly_zero():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(50, 7))
    assert (np.diag(compare(Cosine(), "vector", cells.tolist())) == 0).all()


def test_narrow_vectors_are_compared_as_wide_ones():
    values = np.array([[0.1, 0.2], [0.3, 0.9]], dtype=np.float32)
    narrow = Column("thing", Kind("vector"), values)
    own = Euclidean().fit(narrow)
    code = own.encode(narrow)
    wide = values.astype(np.float64)
    assert own.compare(code, code)[0, 1] == pytest.approx(reference.euclidean(*wide), rel=1e-15)


def test_cells_given_as_lists_are_stacked():
    values = np.empty(3, dtype=object)
    values[:] = [[1.0, 2.0], None, np.array([4, 6])]
    ragged = Column("thing", Kind("histogram"), values)
    own = Euclidean().fit(ragged)
    code = own.encode(ragged)
    np.testing.assert_array_equal(own.compare(code[:1], code), [[0, np.nan, 5]])


# -- graphs --------------------------------------------------------------------------------------


@few
@given(graph=graphs())
def test_weisfeiler_lehman_ignores_node_names(graph):
    renamed = {node: f"n{9 - node}" for node in graph.nodes}
    twin = Graph(
        {renamed[node]: label for node, label in reversed(graph.nodes.items())},
        frozenset((renamed[b], renamed[a]) for a, b in graph.edges),
    )
    assert between(WeisfeilerLehman(), "graph", graph, twin) == 0
    assert between(GraphEdit(), "graph", graph, twin) == 0


def test_weisfeiler_lehman_sees_as_far_as_its_rounds():
    def path(n):
        return Graph(dict.fromkeys(range(n)), frozenset((i, i + 1) for i in range(n - 1)))

    def ring(n):
        return Graph(path(n).nodes, path(n).edges | {(0, n - 1)})

    assert between(WeisfeilerLehman(rounds=0), "graph", path(5), ring(5)) == 0
    assert between(WeisfeilerLehman(rounds=1), "graph", path(5), ring(5)) > 0


def test_large_graphs_are_refused_by_the_exact_distance():
    graph = Graph(dict.fromkeys(range(11)), frozenset())
    with pytest.raises(ValueError, match=r"row 1: needs at most 10 nodes, found 11.*'wl'"):
        compare(GraphEdit(), "graph", [Graph({}, frozenset()), graph])


@few
@given(one=graphs(most=5), other=graphs(most=5))
def test_graph_edits_are_those_that_networkx_counts(one, other):
    networkx = pytest.importorskip("networkx")

    def as_networkx(graph):
        made = networkx.Graph()
        loops = {a for a, b in graph.edges if a == b}  # part of the node: networkx miscounts them
        for node, label in graph.nodes.items():
            made.add_node(node, label=label, loop=node in loops)
        made.add_edges_from(edge for edge in graph.edges if edge[0] != edge[1])
        return made

    counted = networkx.graph_edit_distance(
        as_networkx(one),
        as_networkx(other),
        node_subst_cost=lambda u, v: (u["label"] != v["label"]) + (u["loop"] != v["loop"]),
        node_del_cost=lambda node: 1 + node["loop"],
        node_ins_cost=lambda node: 1 + node["loop"],
    )
    assert between(GraphEdit(scale=1.0), "graph", one, other) == counted
    assert between(GraphEdit(scale=1.0), "graph", other, one) == counted


def test_graphs_of_ten_alike_nodes_are_counted_in_the_end():
    ring = [(i, (i + 1) % 10) for i in range(10)]
    spokes = frozenset([*ring, *((i, i + 5) for i in range(5))])
    two_stars = frozenset([*((i, (i + 1) % 5) for i in range(5)), *((i, i + 5) for i in range(5)),
                           *((5 + i, 5 + (i + 2) % 5) for i in range(5))])  # fmt: skip
    nodes = dict.fromkeys(range(10))
    ladder, petersen = Graph(nodes, spokes), Graph(nodes, two_stars)
    assert between(GraphEdit(scale=1.0), "graph", petersen, petersen) == 0
    assert between(GraphEdit(scale=1.0), "graph", ladder, petersen) == 8  # of all 10! placements


# -- cells that cannot be read -------------------------------------------------------------------

BAD = [
    (Jaccard(), "set", [frozenset("a"), "abc"], TypeError, r"column 'thing', row 1: needs a set"),
    (Overlap(), "set", ["abc"], TypeError, r"row 0: needs a set, found 'abc'"),
    (Levenshtein(), "text", ["a", 5], TypeError, r"row 1: needs a text, found 5"),
    (Edit(), "sequence", [("a",), "abc"], TypeError, r"row 1: needs a sequence"),
    (EditSets(), "sequence", [({"a"},), ({"a"}, "b")], TypeError, r"row 1.*sets, found item 'b'"),
    (Edit(), "sequence", [(["a"],)], TypeError, r"list"),
    (DTW(), "series", [[1.0], [1.0, np.nan]], ValueError, r"row 1.*nan at position 1"),
    (Euclidean(), "series", [[1.0], [1.0, 2.0]], ValueError, r"row 1: needs 1 numbers.*'dtw'"),
    (Euclidean(), "vector", [[1.0, 2.0], [np.inf, 1.0]], ValueError, r"row 1.*inf at position 0"),
    (EarthMover(), "histogram", [[1, 2], [np.nan, 1]], ValueError, r"row 1.*nan at position 0"),
    (WeisfeilerLehman(), "graph", ["C-O"], TypeError, r"row 0: needs a graph"),
    (WeisfeilerLehman(), "graph", [Graph({1: "C"}, frozenset({(1, 2)}))], ValueError, r"\(1, 2\)"),
    (GraphEdit(), "graph", [Graph({1: "C"}, frozenset({(1, 2)}))], ValueError, r"\(1, 2\)"),
]


@pytest.mark.parametrize(("distance", "kind", "cells", "error", "words"), BAD)
def test_a_bad_cell_is_named(distance, kind, cells, error, words):
    with pytest.raises(error, match=words):
        compare(distance, kind, cells)


def test_a_series_of_words_is_refused():
    values = np.empty(2, dtype=object)
    values[:] = [[1.0], ["a"]]
    with pytest.raises(TypeError, match=r"row 1: needs a series of numbers, found \['a'\]"):
        DTW().fit(Column("thing", Kind("series"), values))


@pytest.mark.parametrize("distance", [Euclidean(), NormalizedEuclidean(), EarthMover()])
def test_ragged_histograms_are_refused_by_row(distance):
    values = np.empty(3, dtype=object)
    values[:] = [[1.0, 2.0], [3.0, 4.0], [5.0]]
    with pytest.raises(ValueError, match=r"column 'thing', row 2: needs 2 numbers.*found 1"):
        distance.fit(Column("thing", Kind("histogram"), values))
    own = distance.fit(column("histogram", [[1.0, 2.0]]))
    with pytest.raises(ValueError, match="2 numbers per cell"):
        own.encode(column("histogram", [[1.0, 2.0, 3.0]]))


def test_a_bad_cell_of_a_large_column_is_named_by_its_own_row():
    cells = [frozenset("a")] * 5000
    cells[4321] = "a" * 500  # the largest cell, so it is always looked at
    with pytest.raises(TypeError, match="row 4321"):
        Jaccard().fit(column("set", cells))


def test_scale_of_a_large_column_covers_its_extremes():
    cells = [(x,) for x in np.random.default_rng(0).permutation(5000).tolist()]
    cells[2500] = tuple(range(40))
    assert Edit().fit(column("sequence", cells)).scale_ == 40
