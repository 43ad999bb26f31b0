"""Sets, sequences, series and graphs: every loop against a few lines of plain Python."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.kernels import objects

seeds = st.integers(0, 2**32 - 1)


def bags(rng, n, kinds=6, most=7):
    """Rows of tokens, which are integers below -1; some rows are empty, some tokens repeat."""
    rows = [rng.integers(-1 - kinds, -1, rng.integers(0, most)) for _ in range(n)]
    offsets = np.cumsum([0, *map(len, rows)])
    return rows, np.concatenate(rows).astype(np.int64), offsets


def equal_pairs(a, b):
    return sum(int(x == y) for x in a for y in b)


@settings(max_examples=60)
@given(seeds)
def test_shared_tokens_of_blocks_and_of_pairs(seed):
    rng = np.random.default_rng(seed)
    (rows, values, offsets), (others, more, more_offsets) = bags(rng, 5), bags(rng, 7)
    expected = np.array([[equal_pairs(a, b) for b in others] for a in rows], float)
    out = np.empty((5, 7))
    objects.shared_counts(values, offsets, more, more_offsets, out)
    assert_array_equal(out, expected)
    left, right = rng.integers(0, 5, 20), rng.integers(0, 7, 20)
    pairs = np.empty(20)
    objects.shared_pairs(values, offsets, more, more_offsets, left, right, pairs)
    assert_array_equal(pairs, expected[left, right])


def test_a_token_is_found_wherever_it_is_in_the_row():
    """The binary search of ``shared_pairs``: at both ends, repeated, missing, and beyond."""
    row = np.array([-9, -7, -7, -5, -3], np.int64)
    for token, count in ((-9, 1), (-7, 2), (-5, 1), (-3, 1), (-4, 0), (-10, 0), (-2, 0)):
        out = np.empty(1)
        one, first = (np.array([token], np.int64), np.array([0, 1])), np.zeros(1, np.int64)
        objects.shared_pairs(row[::-1].copy(), np.array([0, 5]), *one, first, first, out)
        assert out[0] == count, token


@settings(max_examples=40)
@given(seeds)
def test_codes_are_equal_where_tokens_are(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-30, -1, 12), rng.integers(-30, -1, 9)
    codes_a, codes_b, used = objects.shared_codes(a, b)
    assert_array_equal(codes_a[:, None] == codes_b, a[:, None] == b)
    assert used == 1 + len(set(a))
    assert max(codes_a.max(), codes_b.max()) < used


def test_more_tokens_than_the_smallest_table_and_sizes_among_them():
    """Tables grow with the tokens; integers above -2 are not tokens."""
    values = np.concatenate([np.arange(-2000, -1), [0, 3, -1]])
    out = np.empty((1, 1))
    ends = np.array([0, len(values)])
    objects.shared_counts(values, ends, values[::-1].copy(), ends, out)
    assert out[0, 0] == 1999


@settings(max_examples=40)
@given(seeds)
def test_shares_of_counts(seed):
    rng = np.random.default_rng(seed)
    a = [set(rng.integers(0, 5, rng.integers(0, 4)).tolist()) for _ in range(5)]
    b = [set(rng.integers(0, 5, rng.integers(0, 4)).tolist()) for _ in range(6)]
    counts = np.array([[len(x & y) for y in b] for x in a], float)
    sizes = [np.array([float(len(x)) for x in side]) for side in (a, b)]
    jaccard, overlap = counts.copy(), counts.copy()
    objects.unshared_of_counts(jaccard, *sizes, False)
    objects.unshared_of_counts(overlap, *sizes, True)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            assert jaccard[i, j] == (len(x ^ y) / len(x | y) if x | y else 0.0)
            least = min(len(x), len(y))
            assert overlap[i, j] == ((least - len(x & y)) / least if least else float(x != y))


def edits(a, b):
    """Edit distance of two sequences of sets by the textbook table; relabelling costs Jaccard."""
    table = np.zeros((len(a) + 1, len(b) + 1))
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            change = len(x ^ y) / len(x | y) if x | y else 0.0
            steps = table[i, j] + change, table[i, j + 1] + 1, table[i + 1, j] + 1
            table[i + 1, j + 1] = min(steps)
    return table[-1, -1]


@settings(max_examples=40)
@given(seeds)
def test_edit_distances_of_sequences_of_sets(seed):
    rng = np.random.default_rng(seed)
    rows = [
        [set(rng.integers(-6, -1, rng.integers(0, 4)).tolist()) for _ in range(rng.integers(0, 5))]
        for _ in range(5)
    ]
    packed = [[len(row), *map(len, row), *(t for s in row for t in sorted(s))] for row in rows]
    packed[2] = []  # a missing row
    values = np.array([v for row in packed for v in row], np.int64)
    offsets = np.cumsum([0, *map(len, packed)])
    out = np.empty((5, 5))
    objects.edit_sets_block(values, offsets, values, offsets, out)
    for i in range(5):
        for j in range(5):
            missing = i == 2 or j == 2
            np.testing.assert_equal(out[i, j], np.nan if missing else edits(rows[i], rows[j]))


def warp(a, b, window):
    """Dynamic time warping by the textbook table."""
    reach = max(len(a), len(b)) if window < 0 else max(window, abs(len(a) - len(b)))
    table = np.full((len(a) + 1, len(b) + 1), np.inf)
    table[0, 0] = 0.0
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            if abs(i - j) <= reach:
                best = min(table[i - 1, j], table[i - 1, j - 1], table[i, j - 1])
                table[i, j] = best + abs(x - y)
    return table[-1, -1]


@settings(max_examples=40)
@given(seeds, st.integers(-1, 4), st.integers(1, 40))
def test_warping_distances(seed, window, n):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 9, rng.integers(0, 7)).astype(float) for _ in range(n)]
    values, offsets = np.concatenate(rows), np.cumsum([0, *map(len, rows)])
    out = np.empty((n, n))
    objects.warp_block(values, offsets, values, offsets, window, out)
    assert_array_equal(out, [[warp(a, b, window) for b in rows] for a in rows])


def test_edit_distances_of_graphs():
    """A node, a missing row, two nodes with an edge, a triangle, two nodes without, a missing."""
    graphs = [[1, 7], [], [2, 7, 7, 0, 1], [3, 7, 8, 9, 0, 1, 1, 2, 2, 0], [2, 7, 7], []]
    values = np.array([part for graph in graphs for part in graph], np.int64)
    offsets = np.cumsum([0, *map(len, graphs)])
    out = np.empty((6, 6))
    objects.graph_edit_block(values, offsets, values, offsets, 3, out)
    wanted = [[0, 2, 5, 1], [2, 0, 4, 1], [5, 4, 0, 5], [1, 1, 5, 0]]
    there = [0, 2, 3, 4]
    assert out[np.ix_(there, there)].tolist() == wanted
    assert np.isnan(out[[1, 5]]).all()
    assert np.isnan(out[:, [1, 5]]).all()


def slow_edits(a, b):
    """Edits between two graphs (labels, edges) by trying every way to pair their nodes."""
    (one, links), (two, others) = a, b
    n, m = len(one), len(two)
    # Nodes without a partner are paired with a place beyond the other graph.
    best = np.inf
    for chosen in itertools.permutations(range(m + n), n):
        partner = [w if w < m else -1 for w in chosen]
        used = {w for w in partner if w >= 0}
        cost = sum(1 if w < 0 else int(one[v] != two[w]) for v, w in enumerate(partner))
        cost += m - len(used)
        moved = {tuple(sorted((partner[v], partner[w]))) for v, w in links
                 if partner[v] >= 0 and partner[w] >= 0}  # fmt: skip
        cost += len(links) - len(moved) + len(moved ^ others)
        best = min(best, cost)
    return best


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_edits_of_graphs_are_those_of_every_pairing(seed):
    rng = np.random.default_rng(seed)
    graphs, packed = [], []
    for _ in range(4):
        n = int(rng.integers(0, 5))
        labels = rng.integers(0, 3, n).tolist()
        # Loops among them.
        edges = {(v, w) for v in range(n) for w in range(v, n) if rng.random() < 0.45}
        graphs.append((labels, edges))
        packed.append([n, *labels, *(end for edge in sorted(edges) for end in edge[::-1])])
    values = np.array([part for graph in packed for part in graph], np.int64)
    offsets = np.cumsum([0, *map(len, packed)])
    out = np.empty((4, 4))
    objects.graph_edit_block(values, offsets, values, offsets, 4, out)
    assert_array_equal(out, [[slow_edits(a, b) for b in graphs] for a in graphs])


def test_bounds_of_edits_never_exceed_what_is_left():
    """A path of three nodes against a triangle with a loop: each step of the search by hand."""
    path, triangle = np.array([2, 5, 2]), np.array([6, 5, 7])  # bits of neighbors
    labels, others = np.array([1, 1, 2]), np.array([1, 2, 3])
    assert [objects._edges_left(path, 3, placed) for placed in (0, 1, 3, 5, 7)] == [2, 2, 1, 2, 0]
    assert [objects._edges_left(triangle, 3, placed) for placed in (0, 3, 7)] == [3, 2, 0]
    assert [objects._rest(triangle, 3, used) for used in (0, 1, 3, 4, 7)] == [7, 6, 4, 5, 0]
    # Two labels find their like, the third does not; one edge more on one side.
    assert objects._least_left(path, labels, 3, 0, triangle, others, 3, 0) == 1 + 1
    assert objects._least_left(path, labels, 3, 3, triangle, others, 3, 7) == 0
    assert objects._least_left(path, labels, 3, 1, triangle, others, 3, 1) == 1 + 1
    assert objects._least_left(path, labels, 3, 3, triangle, others, 3, 3) == 1 + 2
    chosen = np.array([0, -1, -2, -2])
    price = objects._price
    assert price(path, labels, 0, triangle, others, 0, chosen) == 0
    assert price(path, labels, 0, triangle, others, 1, chosen) == 1
    assert price(path, labels, 0, triangle, others, 2, chosen) == 2  # another label, and a loop
    assert price(path, labels, 0, triangle, others, -1, chosen) == 1
    assert price(path, labels, 1, triangle, others, 1, chosen) == 1
    assert price(path, labels, 1, triangle, others, -1, chosen) == 2
    assert price(path, labels, 2, triangle, others, 1, chosen) == 0 + 1 + 1
    assert price(triangle, others, 2, path, labels, -1, np.array([0, 1, -2])) == 2 + 2
    assert objects._edits(path, labels, 3, triangle, others, 3) == 1 + 1 + 1


def test_tables_of_tokens_by_their_numbers():
    values = np.array([-5, -9, -5, 3, -1, -2], np.int64)
    numbers, keys, ids, found = objects.number_tokens(values)
    assert (numbers.tolist(), found, len(keys)) == ([0, 1, 0, -1, -1, 2], 3, 256)
    more = np.array([-2, -9, -7, 0, -1, -5], np.int64)
    assert objects.find_tokens(more, keys, ids).tolist() == [2, 1, -1, -1, -1, 0]
    assert len(objects.number_tokens(np.arange(-130, -2))[1]) == 256  # at most half full
    assert len(objects.number_tokens(np.arange(-131, -2))[1]) == 512
    # Tokens that meet in one slot follow one another, around the end of the table.
    same = np.array([-257, -1 - 512, -1 - 768], np.int64)
    numbers, keys, ids, _ = objects.number_tokens(same)
    assert numbers.tolist() == [0, 1, 2]
    assert keys[255] == -257
    assert (keys[0], keys[1]) == (-513, -769)
