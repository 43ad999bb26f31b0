"""K-medoids: every swap considered, the same cost as the independent library, ties settled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookalike.kernels.clustering import assign_after_swap, assign_medoids
from lookalike.measures import medoids as steps
from lookalike.measures.medoids import build, swap_until_stable


def cost_of(d, medoids):
    return d[np.asarray(medoids)].min(axis=0).sum()


def improve(d, medoids, eager):
    medoids = np.array(medoids, dtype=np.int64)
    first, cost, swaps = swap_until_stable(d, medoids, eager, 300)
    return medoids, first, cost, swaps


def random_square(seed, n):
    d = np.random.default_rng(seed).random((n, n))
    d += d.T
    np.fill_diagonal(d, 0.0)
    return d


@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(1, 6), st.booleans(), st.booleans())
@settings(deadline=None)
def test_no_single_swap_lowers_the_cost(seed, n, k, eager, whole):
    d = random_square(seed, n)
    if whole:  # ties and rows at distance 0
        d = np.floor(4 * d)
    k = min(k, n)
    medoids, labels, cost, _ = improve(d, build(d, k), eager)
    assert len(set(medoids)) == k
    assert_allclose(cost, cost_of(d, medoids), rtol=1e-12)
    assert (labels[medoids] == np.arange(k)).all()
    for place in range(k):
        for row in set(range(n)) - set(medoids):
            other = [*np.delete(medoids, place), row]
            assert cost_of(d, other) >= cost - 1e-9


@pytest.mark.parametrize(("name", "eager"), [("fasterpam", True), ("fastpam1", False)])
def test_as_good_as_the_library_of_the_authors(name, eager):
    kmedoids = pytest.importorskip("kmedoids")
    options = {"n_cpu": 1} if name == "fasterpam" else {}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 80))
        d, k = random_square(seed, n), int(rng.integers(1, 6))
        theirs = getattr(kmedoids, name)(d, k, max_iter=300, init="build", **options)
        ours = improve(d, build(d, k), eager)
        assert ours[2] <= theirs.loss * (1 + 1e-12)
        start = rng.choice(n, k, replace=False)
        theirs = getattr(kmedoids, name)(d, start, max_iter=300, **options)
        assert improve(d, start, eager)[2] <= theirs.loss * (1 + 1e-12)


def test_build_is_greedy():
    d = random_square(3, 30)
    chosen = []
    for _ in range(4):
        costs = [cost_of(d, [*chosen, c]) if c not in chosen else np.inf for c in range(30)]
        chosen.append(int(np.argmin(costs)))
    assert build(d, 4).tolist() == chosen


@given(st.integers(0, 10**6), st.integers(3, 15), st.integers(2, 5))
@settings(deadline=None)
def test_one_swap_settles_as_a_fresh_look_does(seed, n, k):
    d = np.floor(5 * random_square(seed, n))
    k = min(k, n - 1)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(n)
    medoids = rows[:k].copy()
    one = (np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n))
    assign_medoids(d, medoids, *one)
    place = int(rng.integers(k))
    medoids[place] = rows[k]
    total = assign_after_swap(d, medoids, place, *one)
    two = (np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n))
    assert_allclose(total, assign_medoids(d, medoids, *two))
    assert_allclose(one[2], two[2])
    assert_allclose(one[3], two[3])


def test_as_many_medoids_as_rows():
    d = random_square(0, 4)
    medoids, labels, cost, swaps = improve(d, np.arange(4), True)
    assert cost == 0
    assert swaps == 0
    assert sorted(medoids) == sorted(labels) == [0, 1, 2, 3]


@pytest.mark.parametrize("eager", [True, False])
def test_a_few_candidates_at_a_time_give_the_same(eager, monkeypatch):
    """Kernels return now and then, so that ctrl-c is heard; where they stopped must not show."""
    for seed in range(6):
        d = np.floor(9 * random_square(seed, 40))
        found = []
        for looks in (2**26, 40 * 7, 1):
            monkeypatch.setattr(steps, "LOOKS", looks)
            start = build(d, 1 + seed)
            found.append(
                [start.tolist(), *(np.array(x).tolist() for x in improve(d, start, eager))]
            )
        assert found[0] == found[1] == found[2]
