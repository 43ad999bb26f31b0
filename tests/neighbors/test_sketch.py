"""Sketches of rows and the graph over them, against looking at all sketches."""

import hashlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import MissingExtra
from lookalike.neighbors.sketch import SketchGraph, bit_sketch, load_faiss, point_sketch

pytest.importorskip("faiss")


def unpacked(sketches):
    return np.unpackbits(sketches, axis=1)


@settings(max_examples=25)
@given(st.integers(1, 1500), st.integers(0, 2**31 - 1))
def test_bits_that_differ_count_the_trees_that_part_two_rows(n_trees, seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 32, n_trees).astype(np.uint8)
    other = np.where(rng.random(n_trees) < rng.random(), one, rng.integers(0, 32, n_trees))
    bits = unpacked(bit_sketch(n_trees).draw(np.array([one, other], np.uint8)))
    per_tree = -(-1024 // n_trees)
    apart = (bits[0] != bits[1])[: n_trees * per_tree].reshape(n_trees, per_tree)
    parted = one != other
    assert not apart[~parted].any()
    # Half of the bits of two leaves differ, within five standard deviations.
    n = parted.sum() * per_tree
    assert abs(apart[parted].sum() - n / 2) <= 2.5 * np.sqrt(n) + 1e-9


def test_every_leaf_of_every_tree_has_bits_of_its_own():
    codes = np.arange(512, dtype=np.uint16)[:, None].repeat(100, axis=1)
    bits = unpacked(bit_sketch(100).draw(codes))
    assert len(np.unique(bits, axis=0)) == 512
    assert len(np.unique(bits[0, :1100].reshape(100, 11), axis=0)) > 80  # of 2**11
    assert 0.45 < bits[:, :1100].mean() < 0.55


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_points_keep_their_order_however_large_or_far_from_zero(metric):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 4))
    norm = {"euclidean": 2, "cityblock": 1}[metric]
    plain = np.linalg.norm(values[:, None] - values[None], norm, axis=2)
    for large in (values * 1e200, values + 1e6, values * 1e-200):
        points = point_sketch(large, metric).draw(large).astype(float)
        d = np.linalg.norm(points[:, None] - points[None], norm, axis=2)
        np.testing.assert_allclose(d / d.max(), plain / plain.max(), atol=1e-5)


def test_points_that_reach_too_far_have_no_sketch():
    assert point_sketch(np.full((3, 1), 1.7e308), "euclidean") is None
    far = point_sketch(np.array([[0.0], [1e-300]]), "euclidean").draw(np.array([[1e300]]))
    assert np.isfinite(far).all()


@pytest.fixture(scope="module")
def leaves():
    rng = np.random.default_rng(3)
    center = rng.integers(0, 16, (40, 128))
    codes = center[rng.integers(0, 40, 3000)]
    return np.where(rng.random(codes.shape) < 0.4, rng.integers(0, 16, codes.shape), codes).astype(
        np.uint8
    )


def test_walking_the_graph_finds_what_looking_at_all_sketches_finds(leaves):
    sketch = bit_sketch(128)
    bits = unpacked(sketch.draw(leaves)).astype(np.int32)
    graph = SketchGraph(sketch, leaves)
    near = graph.propose(leaves[:60], 64)
    apart = (bits[:60, None] != bits[None]).sum(axis=2)
    best = np.sort(apart, axis=1)[:, :10]
    found = np.sort(np.take_along_axis(apart, near, axis=1), axis=1)[:, :10]
    assert (found == best).mean() > 0.98
    assert (np.sort(near, axis=1)[:, 1:] != np.sort(near, axis=1)[:, :-1]).all()  # each row once


def test_the_graph_is_the_same_in_every_run_and_for_any_number_of_threads(leaves):
    sketch = bit_sketch(128)
    one, other = SketchGraph(sketch, leaves), SketchGraph(sketch, leaves)
    near = one.propose(leaves[:300], 32, n_jobs=1)
    np.testing.assert_array_equal(near, other.propose(leaves[:300], 32, n_jobs=2))
    single = np.concatenate([other.propose(leaves[i : i + 1], 32) for i in range(50)])
    np.testing.assert_array_equal(near[:50], single)


def test_the_threads_of_faiss_are_left_as_they_were(leaves):
    import faiss

    before = faiss.omp_get_max_threads()
    SketchGraph(bit_sketch(128), leaves[:100]).propose(leaves[:3], 5)
    assert faiss.omp_get_max_threads() == before


def test_without_faiss_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[fast\]"):
        load_faiss("Index(approximate=True)")


def test_bits_are_the_same_in_every_version():
    """The recalls that were measured hold for these bits, whatever computes them."""
    codes = np.tile(np.array([[0, 5, 7], [1, 4, 200]], np.uint8), (1, 400))
    for n_trees, width, digest in (
        (3, 129, "af586a749076b6e7"),  # several words of 64 bits per tree
        (16, 128, "5bdbda74dc8c90be"),  # one word
        (1000, 250, "3f5c7b4e2874d93d"),  # two bits
    ):
        bits = bit_sketch(n_trees).draw(codes[:, :n_trees])
        assert bits.shape == (2, width)
        assert hashlib.sha256(bits.tobytes()).hexdigest()[:16] == digest
