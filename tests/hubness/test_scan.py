"""Hubs of vectors over sampled queries: a slow reference, planted hubs, wrong input."""

from collections import Counter

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import LookalikeError
from lookalike.hubness import scan, scan_hubs
from lookalike.verbs import module_of


def clustered(n, width=128, n_centers=40, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_centers, width))
    return centers[rng.integers(0, n_centers, n)] + rng.normal(size=(n, width)), centers


def cosine(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / lengths) if lengths else 0.0


def reference(rows, bank, asked, k):
    """Counts in lists by Python's sort, one pair at a time."""
    before, after = Counter(), Counter()
    usual = {}
    for j, row in enumerate(rows):
        near = sorted((cosine(row, rows[b]) for b in bank if b != j), reverse=True)[:k]
        usual[j] = sum(near) / len(near)
    for q in asked:
        plain = {j: cosine(rows[q], row) for j, row in enumerate(rows) if j != q}
        reduced = {j: 2 * value - usual[j] for j, value in plain.items()}
        before.update(sorted(plain, key=lambda j: (-plain[j], j))[:k])
        after.update(sorted(reduced, key=lambda j: (-reduced[j], j))[:k])
    return np.array([[counts[j] for j in range(len(rows))] for counts in (before, after)])


@pytest.mark.parametrize("block", [2**23, 40 * 3])
def test_lists_are_those_of_the_reference(block, monkeypatch):
    monkeypatch.setattr(scan, "BLOCK_CELLS", block)
    rows = clustered(90, width=6)[0]
    found = scan_hubs(rows, 4, n_queries=81, seed=3)  # an odd one is left out
    one, two = np.random.default_rng(3).permutation(90)[:80].reshape(2, 40).tolist()
    # Each half is the bank of the other.
    before, after = reference(rows, one, two, 4) + reference(rows, two, one, 4)
    assert found.before.tolist() == before.tolist()
    assert found.after.tolist() == after.tolist()
    assert found.before.sum() == 80 * 4


def test_missing_vectors_are_in_no_list_and_zeros_are_vectors():
    rows = clustered(60, width=5)[0]
    rows[[3, 8]] = np.nan
    rows[5] = 0.0
    found = scan_hubs(rows, 3)
    assert found.before[[3, 8]].tolist() == [0, 0]
    assert found.queries == 58


def test_ninety_in_a_hundred_planted_hubs_are_found():
    rows, centers = clustered(20_000, seed=1)
    rng = np.random.default_rng(2)
    planted = rng.choice(len(rows), 40, replace=False)  # 0.2 % of the rows
    # In the middle of a cluster, so nearer to each of its rows than they are to each other.
    rows[planted] = centers + 0.1 * rng.normal(size=centers.shape)
    found = scan_hubs(rows, 10)
    assert len(found.hubs) <= 40
    assert np.isin(planted, found.hubs).mean() >= 0.9
    assert found.caught_after < 0.9 * found.caught_before
    assert found.after[planted].sum() < 0.9 * found.before[planted].sum()


def test_evenly_spread_vectors_have_no_hubs():
    angles = np.linspace(0, 2 * np.pi, 3_000, endpoint=False)
    found = scan_hubs(np.column_stack([np.cos(angles), np.sin(angles)]), 5)
    assert len(found.hubs) == 0
    assert found.caught_before == 0.0
    assert "No hubs among 3,000 vectors" in found.text()


def test_the_verb_scans_a_large_collection(tmp_path, monkeypatch):
    monkeypatch.setattr(module_of("hubs"), "MAX_ROWS_FOR_ALL_LISTS", 500)
    rows = 1 + np.random.default_rng(0).normal(size=(600, 128)).astype(np.float32)
    rows[17] = rows.mean(axis=0)
    np.save(tmp_path / "posts.npy", rows)
    found = la.hubs(tmp_path / "posts.npy")
    assert found.cells()["id"][:1] == [17]
    assert found.to_dict()["hubs"][0]["lists"] == found.before[17]
    assert "posts.npy: " in found.text()
    assert "after the reduction" in found.text()
    np.testing.assert_array_equal(found.before, scan_hubs(rows, 5).before)
    small = la.hubs(rows[:200])
    assert not isinstance(small, scan.HubScan)


@pytest.mark.parametrize("wrong", [np.zeros(5), np.array([["a"]]), np.ones((3, 2))])
def test_wrong_input(wrong):
    with pytest.raises(LookalikeError, match="scan_hubs"):
        scan_hubs(wrong)
    with pytest.raises(LookalikeError, match="k"):
        scan_hubs(np.ones((50, 2)), 0)
