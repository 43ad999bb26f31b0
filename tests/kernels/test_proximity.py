"""Agreements of leaf codes, shares of draws, and paths, against plain sums."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.kernels._jit import COMPILED
from lookalike.kernels.proximity import (
    LeafMembers,
    count_matches,
    nearest_by_matches,
    nearest_members,
    place_members,
)
from lookalike.neighbors.exact import fill_by_blocks
from lookalike.neighbors.graph import NeighborGraph
from lookalike.trees.thresholds.proximity import (
    ancestor_block,
    node_values,
    ratio_block,
    ratio_square,
)
from trees import reference
from trees.thresholds.test_flat import draw as draw_forest


def codes(rng, n, length, kind):
    return rng.integers(0, 4, (n, length)).astype(kind)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from([np.uint8, np.uint16, np.uint32]),
    length=st.sampled_from([0, 1, 7, 31, 32, 33, 100, 257]),
    n=st.integers(1, 21),
    m=st.integers(1, 140),
)
def test_counts_equal_numpy(seed, kind, length, n, m):
    rng = np.random.default_rng(seed)
    a, b = codes(rng, n, length, kind), codes(rng, m, length, kind)
    out = np.empty((n, m), np.int64)
    count_matches(a, b, 1, out)
    assert_array_equal(out, (a[:, None] == b).sum(axis=2))


@pytest.mark.parametrize("length", [255 * 32, 255 * 32 + 5, 70_000])
def test_narrow_counters_do_not_overflow(length):
    a = np.zeros((5, length), np.uint8)
    out = np.empty((5, 5), np.int64)
    count_matches(a, a, 1, out)
    assert_array_equal(out, np.full((5, 5), length))
    share = np.empty((5, 5))
    count_matches(a, a, a.shape[1], share)
    assert_array_equal(share, np.ones((5, 5)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 9), full=st.booleans())
def test_lists_equal_those_of_the_full_block(seed, k, full):
    rng = np.random.default_rng(seed)
    n, m = 23, 150
    a, b = codes(rng, n, 12, np.uint8), codes(rng, m, 12, np.uint8)
    table = 1.0 - np.arange(13) / 12
    ids = rng.permutation(m)
    exclude = rng.integers(-1, m, n)
    found, plain = (NeighborGraph.empty(n, k, m) for _ in range(2))
    if full:  # lists that already hold something
        for lists in (found, plain):
            lists.distances[:], lists.indices[:] = 0.5, 1000
    nearest_by_matches(a, b, table, ids, exclude, found.distances, found.indices)
    share = np.empty((n, m))
    count_matches(a, b, a.shape[1], share)
    fill = fill_by_blocks(
        lambda rows, columns: table[np.rint(share[rows, columns] * 12).astype(int)], ids, exclude
    )
    fill(slice(0, n), slice(0, m), plain)
    assert_array_equal(found.indices, plain.indices)
    assert_array_equal(found.distances, plain.distances)


# -- draws (RF-GAP) --------------------------------------------------------------------------------

TREES, LEAVES = 5, 4
OFFSETS = np.arange(TREES + 1) * LEAVES


def draw_draws(rng, n, queries):
    """Leaves of rows and how often each tree drew them; queries, of which some were drawn."""
    leaves = rng.integers(0, LEAVES, (n, TREES)).astype(np.uint16)
    times = rng.integers(0, 3, (n, TREES)) * (rng.random((n, TREES)) < 0.6)
    asked = rng.integers(0, LEAVES, (queries, TREES)).astype(np.uint16)
    bag = rng.integers(0, 3, (queries, TREES)) * (rng.random((queries, TREES)) < 0.7)
    bag[0], bag[-1] = 1, 0
    return leaves, times, asked, bag.astype(np.uint8)


def slow_shares(leaves, times, asked, bag):
    """Mean share of each row in the draws of a query's leaves, over the trees that count."""
    out = np.zeros((len(asked), len(leaves)))
    for i in range(len(asked)):
        inside = [(leaves[:, t] == asked[i, t]) * times[:, t] for t in range(TREES)]
        held = [t for t in range(TREES) if inside[t].sum()]
        unseen = [t for t in held if bag[i, t] == 0]
        for t in unseen or held:
            out[i] += inside[t] / inside[t].sum() / len(unseen or held)
    return out


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.sampled_from([1, 4, 11]))
def test_lists_by_shares_of_draws(seed, k):
    rng = np.random.default_rng(seed)
    n, queries = 12, 6
    leaves, times, asked, bag = draw_draws(rng, n, queries)
    expected = slow_shares(leaves, times, asked, bag)
    cells = [
        [(row, times[row, t]) for row in range(n) if leaves[row, t] == c and times[row, t]]
        for t in range(TREES)
        for c in range(LEAVES)
    ]
    drawn = np.array([sum(count for _, count in cell) for cell in cells], float)
    held = np.zeros(len(cells), np.int32 if seed % 3 else np.int64)
    lists = place_members(leaves, times.astype(np.uint8), OFFSETS, held)
    members = LeafMembers(OFFSETS, held, lists, drawn[:0] if seed % 2 else drawn)
    ids, exclude = 3 * np.arange(n) + 100, 3 * rng.integers(-1, n, queries) + 100
    found = NeighborGraph.empty(queries, k, 3 * n + 100)
    order = rng.permutation(queries)
    for low, high in ((0, 5), (5, n)):
        nearest_members(
            asked, bag, order, members, low, high, ids, exclude, found.distances, found.indices
        )
    for i in range(queries):
        away = {ids[j]: max(1.0 - expected[i, j], 0.0) for j in range(n) if ids[j] != exclude[i]}
        assert_allclose(found.distances[i], sorted(away.values())[:k], atol=1e-12)
        assert_allclose([away[j] for j in found.indices[i]], found.distances[i], atol=1e-12)
        # Rows that share no leaf fill the list in the order of their ids.
        unrelated = [j for j in sorted(away) if away[j] == 1.0]
        last = found.indices[i][found.distances[i] == 1.0].tolist()
        assert last == unrelated[: len(last)]


# -- paths and common ancestors --------------------------------------------------------------------


def slow(function, trees, x, y, *options):
    return [[function(trees, a, b, *options) for b in y] for a in x]


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    parting=st.sampled_from(["twice", "once"]),
    weights=st.sampled_from([(1.0, 1.0), (0.25, 1.0), (0.0, 0.0)]),
    gaps=st.sampled_from([0.0, 0.5, 0.9]),
    n_trees=st.sampled_from([1, 4, 5]),
)
def test_ratios_are_those_of_sets_of_tests(seed, parting, weights, gaps, n_trees):
    trees, forest, rows = draw_forest(seed, gaps=gaps, n_trees=n_trees, deepest=4)
    leaves, bins = forest.leaves(rows), forest.bins(rows)
    sides = leaves[:7], bins[:7], leaves[5:], bins[5:]
    alpha, beta = weights
    found = ratio_block(forest, *sides, parting=parting, alpha=alpha, beta=beta)
    expected = slow(reference.ratio, trees, rows[:7], rows[5:], parting, alpha, beta)
    assert_allclose(found, expected, atol=1e-12)
    if weights == (1.0, 1.0) and not gaps:
        expected = slow(reference.ratio, trees, rows, rows, parting)
        assert_allclose(ratio_square(forest, leaves, bins, parting == "once"), expected, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), deepest=st.integers(0, 4))
def test_common_ancestors_are_those_of_a_walk(seed, deepest):
    trees, forest, rows = draw_forest(seed, deepest=deepest)
    forest, n = forest.settled(rows), len(rows)
    for tree in trees:
        reference.mass(tree, list(rows))
    x, y = rows[:7], rows[4:]
    leaf_x, leaf_y = forest.leaves(x), forest.leaves(y)
    for method, kind, function, options in (
        ("zhu2", "max", reference.zhu2, ()),
        ("zhu3", "longer", reference.zhu3, ()),
        ("zhu3", "max", reference.zhu3, ("max",)),
        ("ting", "value", reference.ting, (n,)),
    ):
        found = ancestor_block(forest, leaf_x, leaf_y, node_values(forest, method, n), kind)
        assert_allclose(found, slow(function, trees, x, y, *options), atol=1e-12)


@pytest.mark.skipif(COMPILED, reason="the tests above have counted with the compiled tiles")
def test_compiled_tiles_count_as_numpy_does():
    """Plain Python does not run the vector code at all: it is counted with in another process."""
    code = (
        "import numpy as np\n"
        "from lookalike.kernels.proximity import count_matches\n"
        "rng = np.random.default_rng(0)\n"
        "for kind in (np.uint8, np.uint16, np.uint32):\n"
        "    for length in (0, 7, 15, 16, 31, 32, 33, 64, 65, 100, 257):\n"
        "        a = rng.integers(0, 4, (22, length)).astype(kind)\n"
        "        b = rng.integers(0, 4, (133, length)).astype(kind)\n"
        "        out = np.empty((22, 133))\n"
        "        count_matches(a, b, 2, out)\n"
        "        assert (out == (a[:, None] == b).sum(axis=2) / 2).all(), (kind, length)\n"
    )
    environment = os.environ | {"LOOKALIKE_COMPILE": "1"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
