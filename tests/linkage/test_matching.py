"""Matching without replacement, against a dense assignment and all ways to match a few rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import lookalike as la
from lookalike.errors import TooLarge
from lookalike.linkage import matching, read_two
from lookalike.linkage.matching import Candidates, assign, match_once

VALUES = st.lists(st.integers(0, 30).map(float), min_size=2, max_size=9)


def tables_of(left, right):
    def make(values):
        lands = ["xyz"[i % 3] for i in range(len(values))]
        kinds = {"size": "number", "land": "category"}
        return la.read_table({"size": values, "land": lands}, kinds=kinds)

    return make(left), make(right)


def allowed_pairs(left, right, by, caliper, most):
    """The distances of all pairs, inf where a pair is not allowed."""
    square = np.abs(left["size"].values[:, None] - right["size"].values)
    square = np.where(square > caliper, np.inf, square)
    square = np.where(square > most, np.inf, square)
    if by:
        square[left["land"].values[:, None] != right["land"].values] = np.inf
    return square


def dense_optimum(square, k):
    """The most pairs that can be, and the least sum of their distances."""
    copies = np.repeat(square, k, axis=0)
    dear = 1e6
    costs = np.where(np.isfinite(copies), copies, dear)
    # As many partners that cost a lot as rows: a row that gets one of them stays unmatched.
    costs = np.hstack([costs, np.full((len(copies), len(copies)), dear)])
    rows, columns = linear_sum_assignment(costs)
    found = costs[rows, columns]
    return int((found < dear).sum()), float(found[found < dear].sum())


def pairs_of(graph):
    return {(i, int(j)) for i, row in enumerate(graph.indices) for j in row if j >= 0}


@pytest.mark.parametrize("first", [1, 2, 32])
@settings(max_examples=40, deadline=None)
@given(
    left=VALUES,
    right=VALUES,
    k=st.integers(1, 2),
    by=st.booleans(),
    caliper=st.sampled_from([3.0, 100.0]),
    most=st.sampled_from([0.2, 1.0]),
)
def test_pairs_are_those_of_complete_lists(first, left, right, k, by, caliper, most):
    """However short the first lists are: they are made longer where it matters."""
    left, right = tables_of(left, right)
    options = {"by": ["land"] if by else None, "calipers": {"size": caliper}}
    k = min(k, len(right))
    limit = most * 30
    options["max_distance"] = limit
    two = read_two(left, right, "vector:metric=cityblock", on=["size"], **options)
    square = allowed_pairs(left, right, by, caliper, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "FIRST_LISTS", first)
        best = match_once(two, k)
    pairs = pairs_of(best)
    assert len({j for _, j in pairs}) == len(pairs)  # each control once
    assert all(np.isfinite(square[i, j]) for i, j in pairs)
    finite = best.distances[best.indices >= 0]
    assert sorted(finite.tolist()) == pytest.approx(sorted(square[i, j] for i, j in pairs))
    assert all((np.diff(row[np.isfinite(row)]) >= 0).all() for row in best.distances)
    count, total = dense_optimum(square, k)
    assert len(pairs_of(best)) == count
    assert best.distances[best.indices >= 0].sum() == pytest.approx(total, abs=1e-9)


def test_the_nearest_pair_of_all_need_not_be_matched():
    """The nearest pair, 4 and 3, leaves 0 with 10: a sum of 11, where 9 is possible."""
    left, right = tables_of([0.0, 4.0], [3.0, 10.0])
    two = read_two(left, right, "vector:metric=cityblock", on=["size"])
    best = match_once(two, 1)
    assert pairs_of(best) == {(0, 0), (1, 1)}
    assert best.distances.sum() == 9.0


def test_every_way_to_match_a_few_rows():
    random = np.random.default_rng(0)
    for _ in range(20):
        square = random.random((3, 4))
        least = min(
            sum(square[i, j] for i, j in enumerate(chosen))
            for chosen in itertools.permutations(range(4), 3)
        )
        order = np.argsort(square, axis=1)
        lists = Candidates(
            list(order), list(np.take_along_axis(square, order, axis=1)), np.full(3, np.inf)
        )
        pairs, short = assign(lists, 1)
        assert sum(distance for *_, distance in pairs) == pytest.approx(least)
        assert len(short) == 0


def test_lists_that_were_cut_off_are_asked_for_again():
    lists = Candidates(
        [np.array([0]), np.array([0])], [np.array([1.0]), np.array([2.0])], np.array([1.0, 2.0])
    )
    pairs, short = assign(lists, 1)
    assert short.tolist() == [1]
    assert pairs == [(0, 0, 1.0)]
    pairs, short = assign(lists._replace(bounds=np.full(2, np.inf)), 1)
    assert pairs == [(0, 0, 1.0)]
    assert len(short) == 0


def test_pairs_that_do_not_fit_into_memory_are_refused():
    left, right = tables_of([1.0] * 40, [float(value) for value in range(90)])
    with la.config(memory_limit="1MB"), pytest.raises(TooLarge, match="match: needs pairs to"):
        match_once(read_two(left, right, "gower", on=["size"]), 20)


def test_distances_of_zero_are_pairs():
    """A sparse matrix takes 0 for no entry."""
    left, right = tables_of([1.0, 2.0], [2.0, 1.0, 2.0])
    two = read_two(left, right, "vector:metric=cityblock", on=["size"])
    best = match_once(two, 1)
    assert best.distances.tolist() == [[0.0], [0.0]]
    assert pairs_of(best) in ({(0, 1), (1, 0)}, {(0, 1), (1, 2)})
