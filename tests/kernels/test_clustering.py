"""Components, DBSCAN, spanning trees, k-medoids and closures against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.clustering.density import _cheapest_listed, label_rows
from lookalike.kernels.clustering import (
    CODES,
    assign_after_swap,
    assign_medoids,
    best_chains,
    best_first_links,
    cheapest_edges_of_block,
    count_close_pairs,
    join_edges,
    roots_of,
    spanning_tree,
)
from lookalike.measures import medoids as steps
from lookalike.measures.medoids import build, swap_until_stable
from lookalike.represent import transitive_closure


def cost_of(d, medoids):
    return d[np.asarray(medoids)].min(axis=0).sum()


def improve(d, medoids, eager):
    medoids = np.array(medoids, dtype=np.int64)
    first, cost, swaps = swap_until_stable(d, medoids, eager)
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
            monkeypatch.setattr(steps, "DISTANCES_PER_CALL", looks)
            start = build(d, 1 + seed)
            found.append(
                [start.tolist(), *(np.array(x).tolist() for x in improve(d, start, eager))]
            )
        assert found[0] == found[1] == found[2]


# -- components and density ------------------------------------------------------------------------


def components(n, edges):
    """The smallest index that each index is connected with."""
    roots = list(range(n))
    for _ in range(n):
        for i, j in edges:
            roots[i] = roots[j] = min(roots[i], roots[j])
    return roots


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(deadline=None)
def test_components_are_named_by_their_smallest_index(seed, n):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (n, 2))
    parents = np.arange(n)
    kept = join_edges(parents, edges[:, 0].copy(), edges[:, 1].copy())
    roots = components(n, edges.tolist())
    assert roots_of(parents).tolist() == roots
    assert kept.sum() == n - len(set(roots))


def dbscan(d, eps, needed):
    """Core rows by counting, clusters by components, border rows to the lowest cluster."""
    n, near = len(d), d <= eps
    core = near.sum(axis=1) >= needed
    roots = components(n, [(i, j) for i, j in np.argwhere(near) if core[i] and core[j]])
    numbers = {root: c for c, root in enumerate(sorted({roots[i] for i in np.flatnonzero(core)}))}
    labels = [numbers[roots[i]] if core[i] else -1 for i in range(n)]
    for i in np.flatnonzero(~core):
        labels[i] = min((labels[j] for j in np.flatnonzero(near[i] & core)), default=-1)
    return labels


@given(st.integers(0, 10**6), st.integers(2, 18), st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_density_clusters_by_pairs_in_any_order(seed, n, needed):
    d = np.floor(8 * random_square(seed, n))
    left, right = np.nonzero(np.triu(d <= 6.0, 1))
    order = np.random.default_rng(seed).permutation(len(left))
    counts, parents, filled = np.ones(n, np.int64), np.arange(n), np.zeros(n, np.int64)
    waiting = np.empty((n, max(1, needed - 2)), np.int64)
    count_close_pairs(left[order], right[order], needed, counts, parents, waiting, filled)
    assert counts.tolist() == (d <= 6.0).sum(axis=1).tolist()
    rows, at = np.nonzero(np.arange(waiting.shape[1]) < filled[:, None])
    labels = label_rows(counts >= needed, parents, rows, waiting[rows, at])
    assert labels.tolist() == dbscan(d, 6.0, needed)


@given(st.integers(0, 10**6), st.integers(2, 18), st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_the_spanning_tree_is_the_shortest_one(seed, n, needed):
    d = np.floor(8 * random_square(seed, n))
    core = np.sort(d, axis=1)[:, min(needed, n) - 1] if needed <= n else np.full(n, np.inf)
    ends, others, weights = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    spanning_tree(d, core, ends, others, weights)
    reach = np.maximum(d, np.maximum(core[:, None], core))
    assert_array_equal(weights, reach[ends, others])
    edges = sorted((w, i, j) for (i, j), w in np.ndenumerate(reach) if i < j)
    parents, total = np.arange(n), 0.0
    for w, i, j in edges:  # Kruskal: the same total, whatever the ties
        total += w if join_edges(parents, np.array([i]), np.array([j]))[0] else 0.0
    assert_allclose(weights.sum(), total)


@given(st.integers(0, 10**6), st.integers(2, 12))
@settings(deadline=None, max_examples=40)
def test_cheapest_edges_to_other_components(seed, n):
    rng = np.random.default_rng(seed)
    d, core = np.floor(5 * random_square(seed, n)), rng.integers(0, 4, n) * 1.0
    parts = rng.integers(0, 3, n)
    d[rng.random(d.shape) < 0.1] = np.nan
    cost, target = np.full(n, np.inf), np.full(n, -1)
    rows = rng.permutation(n)
    for start in (0, n // 2):
        stop = n // 2 if start == 0 else n
        cheapest_edges_of_block(d[rows, start:stop], rows, start, core, parts, cost, target)
    lists = np.tile(np.arange(n), (n, 1))
    lists[:, 0] = -1
    gaps = np.where(np.isnan(d), np.inf, d)
    listed, listed_target = _cheapest_listed(np.arange(n), lists, gaps, core, parts)
    for i in range(n):
        ways = [(max(d[i, j], core[i], core[j]), j) for j in range(n) if parts[j] != parts[i]]
        known = [way for way in ways if not np.isnan(d[i, way[1]])]
        assert (cost[i], target[i]) == min(known, default=(np.inf, -1))
        ways = [(max(gaps[i, j], core[i], core[j]), j) for _, j in ways if j > 0]
        finite = [way for way in ways if way[0] < np.inf]
        assert (listed[i], listed_target[i]) == min(finite, default=(np.inf, -1))


def test_closures_are_the_best_chains():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 7, 9):
        s = rng.integers(0, 5, (n, n)) / 5  # without ones: through them all norms are alike
        s = np.minimum(s, s.T)
        np.fill_diagonal(s, 1.0)
        for name, code in CODES.items():
            norm = {"min": np.minimum, "product": np.multiply}.get(
                name, lambda a, b: np.maximum(a + b - 1, 0)
            )
            slow = s.copy()
            for _ in range(n):
                slow = np.maximum(slow, norm(slow[:, :, None], slow[None]).max(axis=1))
            fast = s.copy()
            best_chains(fast, code)
            assert_allclose(fast, slow, atol=1e-15)
            edges, out = rng.integers(0, 3, (3, n)) / 2, np.empty((3, n))
            best_first_links(edges, fast, code, out)
            assert_allclose(out, norm(edges[:, :, None], fast[None]).max(axis=1), atol=1e-15)
        weakest = transitive_closure(s)
        best_chains(s, CODES["min"])
        assert_array_equal(weakest, s)
