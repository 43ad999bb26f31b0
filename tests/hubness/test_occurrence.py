"""The k-occurrence, badness and shares: reference implementation, worked numbers, bad input."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hubness import reference
from hubness.spaces import LABELS, distances, every_space, line
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.evaluate import (
    goodman_kruskal,
    label_agreement,
    loo_accuracy,
)
from lookalike.hubness import (
    HubsAndOrphans,
    antihub_occurrence,
    antihub_scores,
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
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.neighbors import NeighborGraph

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


# -- bad input -------------------------------------------------------------------------------------

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
    with pytest.raises(TooFewRows, match="k=4.*Use k=3"):
        ask(line, 4)
    with pytest.raises(TooFewRows, match="lists of 2"):
        ask(line.neighbors(k=2), 3)
    with pytest.raises(InvalidInput, match="an integer >= 1"):
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


# -- undefined distances ---------------------------------------------------------------------------

INCOMPLETE = {"x": [1.0, None, 2.0, 9.0, 4.0], "c": ["a", None, "b", "c", "a"]}


@pytest.mark.parametrize("ties", ["index", "expected", "random"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_undefined_rows_share_the_last_entries_of_lists(ties, k):
    counts = k_occurrence(Gower().fit(INCOMPLETE), k=k, ties=ties)
    assert counts.sum() == pytest.approx(5 * k)


def test_the_list_of_an_empty_row_counts_for_all_rows_alike():
    shared = k_occurrence(Gower().fit(INCOMPLETE), k=1, ties="expected")
    without = {
        name: [v for i, v in enumerate(values) if i != 1] for name, values in INCOMPLETE.items()
    }
    alone = k_occurrence(Gower().fit(without), k=1, ties="expected")
    assert shared[[0, 2, 3, 4]] == pytest.approx(alone + 0.25)
    assert shared[1] == 0
    assert np.isfinite(shared).all()


# -- reverse neighbors as outliers -----------------------------------------------------------------


def slow_antihub2(lists, n, k):
    """Radovanovic, Nanopoulos and Ivanovic, Algorithm 2 with p = 0.1 and step 0.1, row by row."""
    counts = [sum(i in near[:k] for near in lists) for i in range(n)]
    best, most = None, -1
    for step in range(11):
        a = step / 10
        mixed = [(1 - a) * counts[i] + a * sum(counts[j] for j in lists[i][:k]) for i in range(n)]
        lowest = sorted(round(value, 9) for value in mixed)[: max(1, round(0.1 * n))]
        if len(set(lowest)) > most:
            best, most = mixed, len(set(lowest))
    return 1 / (1 + np.array(best))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(4, 60), k=st.integers(1, 3))
def test_antihub_scores_are_those_of_the_definition(seed, n, k):
    measure = Vector().fit(np.random.default_rng(seed).normal(size=(n, 6)))
    lists = measure.neighbors(None, k)
    expected = slow_antihub2(lists.indices.tolist(), n, k)
    assert_allclose(antihub_scores(measure, k), expected, rtol=1e-12)
    assert_array_equal(antihub_scores(lists, k), antihub_scores(measure, k))


def test_antihub_scores_by_hand():
    """Occurrences 1, 2, 1 and 0: a tenth of four rows is one, so the first mixture stays."""
    assert_allclose(antihub_scores(line, 1), [1 / 2, 1 / 3, 1 / 2, 1])


# -- inequality ------------------------------------------------------------------------------------


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
        with pytest.raises(InvalidInput, match=">= 0"):
            measure([1, np.nan])
    with pytest.raises(InvalidInput, match=">= 0 and <= 1"):
        atkinson([1, 2], 2)


def test_equal_occurrences_have_no_skewness_despite_round_off():
    """Shared ties are sums of fractions, which differ in the last bits."""
    assert skewness([0.1 + 0.2, 0.3, 0.3]) == 0
    assert skewness([1.0, 1.0, 1.0 + 1e-9]) != 0


def test_a_hub_has_more_than_factor_times_the_mean():
    assert hub_occurrence([2, 0, 2, 0], 2) == 0  # 2 is not more than 2 * 1
    assert hub_occurrence([3, 0, 1, 0], 2) == 0.75
    with pytest.raises(InvalidInput, match="shape"):
        hub_occurrence([[1, 2]])
    with pytest.raises(InvalidInput, match=">= 0"):
        hub_occurrence([-1, 2])
