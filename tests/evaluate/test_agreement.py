"""Whether neighbors agree with labels: worked numbers, slow references, what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from hubness import reference
from hubness.spaces import LABELS, LINE, distances, every_space, line
from lookalike.errors import InvalidInput, TooLarge
from lookalike.evaluate import (
    agreement,
    goodman_kruskal,
    label_agreement,
    loo_accuracy,
    loo_predict,
    mcnemar,
    retrieval_accuracy,
    vote,
)
from lookalike.evaluate.vote import class_totals
from lookalike.measures import Precomputed, Vector


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


def test_predictions_have_the_type_of_the_labels():
    for labels in (
        [0, 0, 1, 1],
        ["a", "a", "b", "b"],
        [0.5, 0.5, 2.5, 2.5],
        [True, True, False, False],
    ):
        predicted = loo_predict(line, labels, 1)
        assert predicted.dtype == np.asarray(labels).dtype
        assert predicted.tolist() == [labels[0], labels[0], labels[0], labels[3]]
    predicted = loo_predict(line, np.array(["a", "a", 1, 1], dtype=object), 1)
    assert predicted.tolist() == ["a", "a", "a", 1]


def test_many_labels_are_voted_on_in_parts(monkeypatch):
    """A block of votes holds some rows only; the answer does not show it."""
    d, y = distances(4, 12), [f"label {i // 2}" for i in range(12)]
    whole = loo_predict(d, y, 3)
    sizes = []

    def totals(codes, *rest):
        sizes.append(len(codes))
        return class_totals(codes, *rest)

    monkeypatch.setattr(vote, "MAX_TOTALS", 5 * 6)
    monkeypatch.setattr(vote, "class_totals", totals)
    assert_array_equal(loo_predict(d, y, 3), whole)
    assert sizes == [5, 5, 2]


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
    directed = np.triu(d) + 2 * np.tril(d)
    one_way = Precomputed(symmetric=False).fit(directed)
    within, between = (1, 2, 4, 8), (3, 7, 2, 6, 6, 4, 14, 12)  # both directions of every pair
    signs = [np.sign(b - w) for w in within for b in between]
    assert goodman_kruskal(one_way, LABELS) == sum(signs) / np.abs(signs).sum() == 14 / 30
    with la.config(memory_limit=20), pytest.raises(TooLarge, match="sample of the rows"):
        goodman_kruskal(line, LABELS)


def test_mcnemar():
    found = mcnemar([True] * 10 + [False] * 2, [False] * 10 + [True] * 2)
    assert_allclose([found.statistic, found.pvalue], [4.083333, 0.043308], atol=5e-7)
    assert found.significant
    assert not mcnemar([True] * 9 + [False] * 2, [False] * 9 + [True] * 2).significant
    assert (found.only_first, found.only_second) == (10, 2)
    same = mcnemar([True, False], [True, False])
    assert (same.statistic, same.pvalue) == (0, 1)
    one = mcnemar([True], [False])
    assert (one.statistic, one.pvalue) == (0, 1)
    exact = mcnemar([True] * 10 + [False] * 2, [False] * 10 + [True] * 2, exact=True)
    assert exact.statistic == 2
    assert_allclose(exact.pvalue, 2 * sum(math.comb(12, i) for i in range(3)) / 2**12)
    with pytest.raises(InvalidInput, match="two boolean arrays"):
        mcnemar([1, 0], [0, 1])
    for wrong in ([[True]], [1]):
        with pytest.raises(InvalidInput, match="two boolean arrays"):
            mcnemar([True], wrong)
    with pytest.raises(InvalidInput, match="two boolean arrays"):
        mcnemar([True], [True, False])


def test_pairs_below_are_counted_from_either_side():
    for low, high in (([1, 2, 2, 5], [2]), ([2], [1, 2, 3, 4, 9]), ([], [1.0]), ([1.0], [])):
        expected = sum(a < b for a in low for b in high)
        assert agreement._count_pairs(np.array(low), np.array(high)) == expected, (low, high)


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


def test_a_graph_has_no_goodman_kruskal():
    with pytest.raises(InvalidInput, match="distances between all rows"):
        goodman_kruskal(line.neighbors(k=3), LABELS)
    with pytest.raises(InvalidInput, match="Did you mean 'nearest'"):
        loo_accuracy(line, LABELS, 1, tie="nearst")
