"""Every diagnostic against its slow twin and its worked numbers, on every kind of space."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from hubness import reference
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, TooLarge, UndefinedMeasure
from lookalike.evaluate import (
    goodman_kruskal,
    intrinsic_dimension,
    label_agreement,
    loo_accuracy,
    loo_predict,
    mcnemar,
    retrieval_accuracy,
)
from lookalike.hubness import (
    NICDM,
    HubsAndOrphans,
    antihub_occurrence,
    atkinson,
    badness,
    gini,
    groupie_ratio,
    hub_occurrence,
    hubs_and_orphans,
    k_occurrence,
    reachability,
    robin_hood,
    skewness,
    symmetric_share,
)
from lookalike.measures import Precomputed, Vector
from lookalike.neighbors import NeighborGraph

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])
LABELS = [0, 0, 1, 1]
LONGER = np.vstack([LINE, [[15.0]]])


def distances(seed, n=10, largest=9):
    """Symmetric whole numbers: many ties."""
    d = np.random.default_rng(seed).integers(1, largest, (n, n)).astype(float)
    d = d + d.T
    np.fill_diagonal(d, 0)
    return d


def every_space(d):
    """The same space as a matrix, a fitted measure, a graph with all neighbors and a sparse one."""
    measure = Precomputed().fit(d)
    graph = measure.neighbors(k=len(d) - 1)
    frame = pd.DataFrame(d)
    return [d, measure, graph, graph.to_csr(include_self=True), frame]


line = Vector().fit(LINE)


# -- occurrence ------------------------------------------------------------------------------------


def test_occurrence_on_a_line():
    assert_array_equal(k_occurrence(line, 1), [1, 2, 1, 0])
    assert_array_equal(k_occurrence(line, 2), [2, 3, 3, 0])
    assert skewness(k_occurrence(line, 1)) == 0
    assert_allclose(skewness(k_occurrence(line, 2)), -0.816497, atol=5e-7)


def test_equal_distances_make_no_hubs():
    d = 1 - np.eye(4)
    assert_array_equal(k_occurrence(d, 1), [3, 1, 0, 0])
    assert_array_equal(k_occurrence(d, 1, ties="expected"), [1, 1, 1, 1])
    assert skewness(k_occurrence(1 - np.eye(7), 3, ties="expected")) == 0


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 9))
def test_occurrence_matches_its_reference(seed, k):
    d = distances(seed)
    y = list("aabbccaabb")
    for space in every_space(d):
        assert_array_equal(k_occurrence(space, k), reference.occurrence(d, k))
        assert_array_equal(badness(space, y, k), reference.bad(d, k, y))
        expected = k_occurrence(space, k, ties="expected")
        assert_allclose(expected, reference.expected_occurrence(d, k))
        assert_allclose(expected.sum(), 10 * k)
        bad = badness(space, y, k, ties="expected")
        assert_allclose(bad, reference.expected_occurrence(d, k, y))
        assert_allclose(symmetric_share(space, k), reference.symmetric(d, k))


def test_drawn_ties_have_the_expected_mean():
    d = distances(1, largest=3)
    draws = [k_occurrence(d, 3, ties="random", random_state=i) for i in range(400)]
    assert all(draw.sum() == 30 for draw in draws)
    assert_array_equal(draws[7], k_occurrence(d, 3, ties="random", random_state=7))
    assert len({tuple(draw) for draw in draws}) > 50
    assert_allclose(np.mean(draws, axis=0), k_occurrence(d, 3, ties="expected"), atol=0.25)


def test_short_graphs_cannot_share_ties():
    d = distances(1, largest=3)
    short = Precomputed().fit(d).neighbors(k=3)
    with pytest.raises(InvalidInput, match="reach beyond all ties"):
        k_occurrence(short, 3, ties="expected")


def test_a_graph_that_lists_rows_themselves():
    d = distances(2)
    indices = np.argsort(d, axis=1, kind="stable")
    graph = NeighborGraph(indices, np.take_along_axis(d, indices, axis=1), 10, has_self=True)
    assert_array_equal(k_occurrence(graph, 4), k_occurrence(d, 4))


def test_hubs_and_orphans():
    counts = np.array([6, 5, *[1] * 29, *[0] * 9])  # n = 40 lists of one
    found = hubs_and_orphans(counts, k=1)
    assert found.hubs.tolist() == [0]
    assert len(found.orphans) == 9
    assert len(found.others) == 30
    assert found.largest == 6
    assert hubs_and_orphans(counts, k=1, factor=4).hubs.tolist() == [0, 1]
    assert found.mean_occurrence() == {"hubs": 6, "orphans": 0, "others": 34 / 30}
    after = np.ones(40)
    assert found.mean_occurrence(after) == {"hubs": 1, "orphans": 1, "others": 1}
    bad = np.zeros(40)
    bad[0] = 3
    assert found.badness(bad) == {"hubs": 50, "orphans": None, "others": 0}
    assert found.badness(bad, after)["orphans"] == 0
    assert hubs_and_orphans(line, 1).orphans.tolist() == [3]
    assert HubsAndOrphans(np.ones(3), 1).mean_occurrence()["hubs"] is None


def test_badness_on_a_line():
    assert_array_equal(badness(line, LABELS, 1), [0, 1, 0, 0])
    assert_array_equal(badness(line, LABELS, 2), [1, 2, 2, 0])


def test_shares_on_a_line():
    assert reachability(line, 1) == 0.75
    assert symmetric_share(line, 1) == 0.5
    assert symmetric_share(line, 2) == 0.75
    assert symmetric_share(line, 0.3) == symmetric_share(line, 1)
    assert symmetric_share(line, 0.6) == symmetric_share(line, 2)
    pairs = Vector().fit([[0.0], [0.1], [5.0], [5.1]])
    assert symmetric_share(pairs, 1) == 1


@settings(max_examples=50, deadline=None)
@given(counts=st.lists(st.integers(0, 9), min_size=2, max_size=12).filter(any))
def test_inequality_matches_its_reference(counts):
    n, total, mean = len(counts), sum(counts), sum(counts) / len(counts)
    assert_allclose(skewness(counts), reference.skewness(counts), atol=1e-9)
    assert_allclose(gini(counts), reference.gini(counts), atol=1e-12)
    assert_allclose(robin_hood(counts), sum(abs(c - mean) for c in counts) / (2 * total))
    half = 1 - (sum(math.sqrt(c) for c in counts) / n) ** 2 / mean
    assert_allclose(atkinson(counts), half, atol=1e-12)
    whole = 1 - math.prod(counts) ** (1 / n) / mean
    assert_allclose(atkinson(counts, 1), whole, atol=1e-12)
    assert groupie_ratio(counts) == max(counts) / n
    assert antihub_occurrence(counts) == counts.count(0) / n
    assert_allclose(hub_occurrence(counts, 2), sum(c for c in counts if c > 2 * mean) / total)


def test_inequality_of_nothing():
    for measure in (skewness, gini, robin_hood, atkinson, hub_occurrence, groupie_ratio):
        assert measure([0, 0, 0]) == 0
        with pytest.raises(InvalidInput, match="k_occurrence"):
            measure([])
        with pytest.raises(InvalidInput, match="at least 0"):
            measure([1, np.nan])
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        atkinson([1, 2], 2)


# -- labels ----------------------------------------------------------------------------------------


def test_accuracy_on_a_line():
    assert_array_equal(loo_predict(line, LABELS, 1), [0, 0, 0, 1])
    assert loo_accuracy(line, LABELS, 1) == 0.75
    assert_array_equal(loo_predict(line, LABELS, 2), [0, 0, 0, 1])
    assert_array_equal(loo_predict(line, LABELS, 3), [1, 1, 0, 0])
    assert loo_accuracy(line, LABELS, 3) == 0


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 9))
def test_labels_match_their_references(seed, k):
    d = distances(seed)
    y = list(np.random.default_rng(seed).choice(list("abcd"), 10))
    for space in every_space(d):
        for tie in ("first", "nearest"):
            expected = reference.vote(d, y, k, tie)
            assert_array_equal(loo_predict(space, y, k, tie=tie), expected)
            share = np.mean([a == b for a, b in zip(expected, y, strict=True)])
            assert loo_accuracy(space, y, k, tie=tie) == share
    for space in every_space(d)[:2]:
        assert_allclose(goodman_kruskal(space, y), reference.goodman_kruskal(d, y))


def test_tied_votes():
    # Neighbors of the last row, nearest first: a, b, b, c, c.
    d = np.full((6, 6), 10.0)
    d[5, :5] = d[:5, 5] = [1, 2, 3, 4, 5]
    np.fill_diagonal(d, 0)
    y = ["a", "b", "b", "c", "c", "a"]
    assert loo_predict(d, y, 5)[5] == "b"
    assert loo_predict(d, y, 5, tie="nearest")[5] == "a"


def test_goodman_kruskal_edges():
    assert goodman_kruskal(line, LABELS) == 0.5
    assert goodman_kruskal(line, [0, 0, 0, 0]) == 0
    assert goodman_kruskal(line, [0, 1, 2, 3]) == 0
    assert goodman_kruskal(1 - np.eye(4), LABELS) == 0
    assert goodman_kruskal(LINE @ LINE.T * 0 + (1 - np.eye(4)), LABELS) == 0
    d = Vector().fit(LINE).distance()
    assert goodman_kruskal(d**3, LABELS) == 0.5
    one_way = Precomputed(symmetric=False).fit(np.triu(d) + 2 * np.tril(d))
    assert -1 <= goodman_kruskal(one_way, LABELS) <= 1
    with la.config(memory_limit=20), pytest.raises(TooLarge, match="sample of the rows"):
        goodman_kruskal(line, LABELS)


def test_mcnemar():
    found = mcnemar([True] * 10 + [False] * 2, [False] * 10 + [True] * 2)
    assert_allclose([found.statistic, found.pvalue], [4.083333, 0.043308], atol=5e-7)
    assert found.significant
    assert (found.only_first, found.only_second) == (10, 2)
    same = mcnemar([True, False], [True, False])
    assert (same.statistic, same.pvalue) == (0, 1)
    one = mcnemar([True], [False])
    assert (one.statistic, one.pvalue) == (0, 1)
    exact = mcnemar([True] * 10 + [False] * 2, [False] * 10 + [True] * 2, exact=True)
    assert_allclose(exact.pvalue, 2 * sum(math.comb(12, i) for i in range(3)) / 2**12)
    with pytest.raises(InvalidInput, match="truth values"):
        mcnemar([1, 0], [0, 1])
    with pytest.raises(InvalidInput, match="truth values"):
        mcnemar([True], [True, False])


def test_sets_of_labels():
    genres = [{"a"}, {"a", "b"}, {"b"}, set()]
    assert_array_equal(label_agreement(line, genres, 1), [0.5, 0.5, 0.5, 0])
    assert retrieval_accuracy(line, genres, 1) == 0.375
    assert retrieval_accuracy(line, genres, 1, skip_unlabelled=True) == 0.5
    assert_array_equal(label_agreement(line, [["a"]] * 4, 3), 1)
    with pytest.raises(TypeError, match="Use loo_accuracy"):
        label_agreement(line, ["ab", "b", "b", "a"], 1)
    with pytest.raises(InvalidInput, match="each of the 4 rows"):
        label_agreement(line, genres[:3], 1)
    with pytest.raises(InvalidInput, match="rows with labels"):
        retrieval_accuracy(line, [set()] * 4, 1, skip_unlabelled=True)


# -- intrinsic dimension ---------------------------------------------------------------------------


def test_dimension_on_a_line():
    space = Vector().fit(LONGER)
    assert_allclose(intrinsic_dimension(space, 3, 3), 0.905114, atol=5e-7)
    assert_allclose(intrinsic_dimension(space, 3, 3, average="mackay"), 0.617899, atol=5e-7)


def test_dimension_of_a_cube():
    x = np.random.default_rng(0).random((300, 3))
    space = Vector().fit(x)
    assert 2.6 < intrinsic_dimension(space) < 3.0
    assert 2.2 < intrinsic_dimension(space, average="mackay") < 2.6
    assert_allclose(intrinsic_dimension(Vector().fit(100 * x)), intrinsic_dimension(space))
    twice = Vector().fit(np.vstack([x, x[:50]]))  # duplicates are left out
    assert_allclose(intrinsic_dimension(twice), intrinsic_dimension(space))
    graph = space.neighbors(k=12)
    assert_allclose(intrinsic_dimension(graph), intrinsic_dimension(space))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), average=st.sampled_from(["levina", "mackay"]))
def test_dimension_matches_its_reference(seed, average):
    x = np.random.default_rng(seed).normal(size=(15, 2))
    d = Vector().fit(x).distance()
    ours = intrinsic_dimension(Vector().fit(x), 3, 6, average=average)
    assert_allclose(ours, reference.dimension(d, 3, 6, average), rtol=1e-9)
    with pytest.warns(LookalikeWarning, match="bare matrix"):
        assert_allclose(intrinsic_dimension(d, 3, 6, average=average), ours, rtol=1e-9)


def test_dimension_of_scaled_columns():
    rng = np.random.default_rng(0)
    x = rng.random((200, 3)) * [1, 1000, 0.01]
    assert intrinsic_dimension(Vector().fit(x)) < 1.5
    assert intrinsic_dimension(Vector().fit(x), scale="std") > 2.5
    unit = x / x.var(axis=0, ddof=1)
    scaled = intrinsic_dimension(Vector().fit(x), scale="variance")
    assert_allclose(scaled, intrinsic_dimension(Vector().fit(unit)), rtol=1e-2)


def test_dimension_of_embedded_spaces():
    x = np.random.default_rng(0).random((100, 2))
    plain = intrinsic_dimension(Vector().fit(x))
    assert_allclose(intrinsic_dimension(Vector().fit(x), embed=2), plain, rtol=1e-6)
    repaired = intrinsic_dimension(NICDM(Vector()).fit(x))
    assert 1.5 < repaired < 8


def test_dimension_refuses():
    grid = Vector().fit(1 - np.eye(15))
    with pytest.raises(UndefinedMeasure, match="equally far"):
        intrinsic_dimension(grid)
    with pytest.raises(TooFewRows, match="different rows"):
        intrinsic_dimension(Vector().fit(np.repeat(LINE, 5, axis=0)), 3, 4)
    with pytest.raises(InvalidInput, match="3 <= k1 <= k2"):
        intrinsic_dimension(line, 2, 3)
    with pytest.raises(InvalidInput, match="Did you mean 'levina'"):
        intrinsic_dimension(line, 3, 3, average="levin")
    with pytest.raises(InvalidInput, match="a fitted Vector"):
        intrinsic_dimension(NICDM(Vector(), 2).fit(LINE), 3, 3, scale="std")
    graph = Vector().fit(np.repeat(LINE, 2, axis=0)).neighbors(k=5)
    with pytest.raises(InvalidInput, match="without duplicates"):
        intrinsic_dimension(graph, 3, 5)


def test_equal_neighbors_are_counted_out_loud():
    # Most rows of a grid have four neighbors at the same distance.
    grid = np.array([[i, j] for i in range(8) for j in range(8)], dtype=float)
    with pytest.warns(LookalikeWarning, match="estimates were left out"):
        intrinsic_dimension(Vector().fit(grid), 3, 4)


# -- what is no space ------------------------------------------------------------------------------

ON_LISTS = [
    lambda space, k: k_occurrence(space, k),
    lambda space, k: badness(space, [0] * 4, k),
    lambda space, k: hubs_and_orphans(space, k),
    lambda space, k: reachability(space, k),
    lambda space, k: symmetric_share(space, k),
    lambda space, k: loo_accuracy(space, [0] * 4, k),
    lambda space, k: label_agreement(space, [{0}] * 4, k),
]


@pytest.mark.parametrize("ask", ON_LISTS)
def test_bad_spaces_are_refused(ask):
    with pytest.raises(TooFewRows, match="k=4.*Lower k to 3"):
        ask(line, 4)
    with pytest.raises(TooFewRows, match="lists of 2"):
        ask(line.neighbors(k=2), 3)
    with pytest.raises(InvalidInput, match="at least 1"):
        ask(line, 0)
    with pytest.raises(TypeError, match="fitted measure, a NeighborGraph"):
        ask("rows.csv", 1)
    with pytest.raises(InvalidInput, match="symmetric matrix"):
        ask(np.triu(np.ones((4, 4)), 1), 1)
    with pytest.raises(InvalidInput, match="at least 0"):
        ask(np.eye(4) - 1, 1)
    with pytest.raises(InvalidInput, match="square"):
        ask(np.ones((4, 3)), 1)
    with pytest.raises(InvalidInput, match="without new rows"):
        ask(line.neighbors([[2.0]], 3), 1)
    with pytest.raises(ValueError, match="not fitted"):
        ask(Vector(), 1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda y: badness(line, y, 1),
        lambda y: loo_accuracy(line, y, 1),
        lambda y: goodman_kruskal(line, y),
    ],
)
def test_bad_labels_are_refused(ask):
    with pytest.raises(InvalidInput, match="each of the 4 rows, found 3"):
        ask([0, 1, 0])
    with pytest.raises(InvalidInput, match=r"missing.*row 2"):
        ask([0.0, 1.0, np.nan, 1.0])
    with pytest.raises(InvalidInput, match="Pass the labels"):
        ask("label")
    with pytest.raises(TypeError, match="Use retrieval_accuracy"):
        ask([{0}, {1}, {0}, {1}])


def test_a_graph_has_no_goodman_kruskal():
    with pytest.raises(InvalidInput, match="distances between all rows"):
        goodman_kruskal(line.neighbors(k=3), LABELS)
    with pytest.raises(InvalidInput, match="Did you mean 'expected'"):
        k_occurrence(line, 1, ties="expect")
    with pytest.raises(InvalidInput, match="Did you mean 'nearest'"):
        loo_accuracy(line, LABELS, 1, tie="nearst")
