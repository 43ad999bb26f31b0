"""Groups: average linkage within components, by a slow reference; bridges, copies, decisions."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.linkage import grouping
from lookalike.linkage.grouping import group_rows


def by_force(probabilities, threshold):
    """Merge the two groups of the largest mean probability, while it reaches the threshold."""
    groups = [[row] for row in range(len(probabilities))]

    def mean(a, b):
        return np.mean([probabilities[i, j] for i in a for j in b])

    while len(groups) > 1:
        a, b = max(itertools.combinations(groups, 2), key=lambda pair: mean(*pair))
        if mean(a, b) < threshold:
            break
        groups = [one for one in groups if one not in (a, b)] + [a + b]
    labels = np.empty(len(probabilities), int)
    for rows in groups:
        labels[rows] = min(rows)
    return labels


def all_pairs(n):
    return (side.astype(np.int64) for side in np.triu_indices(n, 1))


@given(st.integers(0, 2**32 - 1), st.integers(3, 7), st.sampled_from([0.4, 0.6]))
def test_groups_equal_those_of_the_reference(seed, n, threshold):
    probabilities = np.random.default_rng(seed).random((n, n))
    probabilities = np.maximum(probabilities, probabilities.T)
    left, right = all_pairs(n)
    found = group_rows(
        n, left, right, probabilities[left, right], threshold, lambda i, j: probabilities[i, j]
    )
    np.testing.assert_array_equal(found, by_force(probabilities, threshold))
    kept = probabilities[left, right] >= threshold  # the other pairs are asked for
    some = left[kept], right[kept], probabilities[left, right][kept]
    again = group_rows(n, *some, threshold, lambda i, j: probabilities[i, j])
    np.testing.assert_array_equal(again, found)


def test_a_weak_bridge_is_cut_and_a_chain_does_not_grow():
    left = np.array([0, 0, 1, 2, 3, 3, 4])
    right = np.array([1, 2, 2, 3, 4, 5, 5])
    never = lambda i, j: np.zeros(len(i))  # noqa: E731
    found = group_rows(6, left, right, np.full(7, 0.9), 0.5, never)
    assert found.tolist() == [0, 0, 0, 3, 3, 3]
    chain = np.arange(9), np.arange(1, 10)
    assert np.bincount(group_rows(10, *chain, np.full(9, 0.9), 0.5, never)).max() <= 3


def test_decisions_are_kept_at_any_rate():
    left, right = all_pairs(4)
    probabilities = np.array([0.9, 0.9, 0.9, 0.9, 0.9, 0.9])
    decided = np.array([np.nan, np.nan, 0.0, np.nan, np.nan, np.nan])  # 0 is not 3
    found = group_rows(4, left, right, probabilities, 0.5, lambda i, j: np.zeros(len(i)), decided)
    assert found[0] != found[3]
    probabilities, decided = np.full(6, 0.01), np.full(6, np.nan)
    decided[[0, 5]], probabilities[[0, 1, 5]] = (
        1.0,
        (1.0, 0.6, 1.0),
    )  # 0 is 1, 2 is 3, 0 and 2 may be
    found = group_rows(4, left, right, probabilities, 0.5, lambda i, j: np.zeros(len(i)), decided)
    assert found.tolist() == [0, 0, 2, 2]


def test_large_components_lose_weak_pairs_and_copies_stay_together(monkeypatch):
    monkeypatch.setattr(grouping, "MAX_ROWS", 10)
    n = 40
    chain = np.arange(n - 1), np.arange(1, n)
    probabilities = np.where(np.arange(n - 1) % 8 == 7, 0.6, 0.99)
    found = group_rows(n, *chain, probabilities, 0.5, lambda i, j: (i // 8 == j // 8).astype(float))
    assert found.tolist() == [row // 8 * 8 for row in range(n)]
    copies = group_rows(n, *chain, np.ones(n - 1), 0.5, lambda i, j: np.ones(len(i)))
    assert (copies == 0).all()


def test_no_pairs_are_no_groups():
    empty = np.zeros(0, np.int64)
    found = group_rows(3, empty, empty, np.zeros(0), 0.5, lambda i, j: np.zeros(len(i)))
    assert found.tolist() == [0, 1, 2]
