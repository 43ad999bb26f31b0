"""Small blocks in numpy: the same bits as the loops, and nothing compiled for a small question."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import COMPILED, distances, fallback, first_use, lists, mixed, objects

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 9)
QUESTION = """
import numpy as np
from lookalike.measures import Gower
from numba.core.event import install_recorder
rng = np.random.default_rng(0)
table = {"n": rng.normal(size=200), "c": rng.choice(["a", "b"], 200).tolist()}
table["s"] = [frozenset(rng.choice(list("xyz"), 2).tolist()) for _ in range(200)]
with install_recorder("numba:compile") as seen:
    Gower().fit(table).similarity()
print(sorted({event.data["dispatcher"].py_func.__name__ for _, event in seen.buffer}))
"""


def same_bits(x, y):
    assert x.shape == y.shape
    assert (x.view(np.int64) == y.view(np.int64)).all()


def numbers(rng, shape, dtype=np.float64):
    """Return ordinary numbers, with some equal, some huge and some tiny ones."""
    found = rng.normal(size=shape) * rng.choice([1.0, 1.0, 1e-200, 1e30, 0.0], shape)
    return found.astype(dtype)


@settings(max_examples=60)
@given(seeds, sizes, sizes, st.integers(0, 6), st.sampled_from([np.float32, np.float64]))
def test_distances(seed, n, m, columns, dtype):
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (n, columns), dtype), numbers(rng, (m, columns), dtype)
    a[0] = b[0]
    for code in distances.CODES.values():
        fast, slow = np.empty((n, m)), np.empty((n, m))
        distances.distance_block(a, b, code, fast)
        fallback.distance_block(a, b, code, slow)
        same_bits(fast, slow)


@settings(max_examples=60)
@given(seeds, sizes, sizes, st.integers(1, 5), st.sampled_from([np.float32, np.float64]))
def test_ranked_distances(seed, n, m, columns, dtype):
    rng = np.random.default_rng(seed)
    sides = []
    for rows in (n, m):
        value = rng.integers(0, 5, (rows, columns)).astype(float)
        sides += [(2 * value).astype(dtype), value, rng.integers(0, 2, rows).astype(float)]
    for code in (distances.CITYBLOCK, distances.CHEBYSHEV, distances.EUCLIDEAN):
        fast, slow = np.empty((n, m)), np.empty((n, m))
        distances.ranked_block(*sides, code, fast)
        fallback.ranked_block(*sides, code, slow)
        same_bits(fast, slow)
    room = np.zeros((columns, 8), dtype), np.zeros(8, dtype)
    for step in (dtype(0), dtype(1)):
        distances.ranked_cityblock(sides[0], sides[3], step, *room, fast)
        fallback.ranked_cityblock(sides[0], sides[3], step, *room, slow)
        same_bits(fast, slow)


@settings(max_examples=100)
@given(
    seed=seeds,
    n=sizes,
    m=sizes,
    counts=st.tuples(*[st.integers(0, 6)] * 4),
    gaps=st.sampled_from([0.0, 0.3]),
    midpoint=st.booleans(),
    equal=st.booleans(),
)
def test_mixed_columns(seed, n, m, counts, gaps, midpoint, equal):
    rng = np.random.default_rng(seed)
    straight, codes, flags, ordered = counts
    ends = np.cumsum([straight, 0, codes, flags, ordered])
    columns = int(ends[-1])
    a, b = (np.empty((rows, columns)) for rows in (n, m))
    for side in (a, b):
        side[:, : ends[0]] = rng.random((len(side), straight)) * rng.choice([1.0, 3.0])
        side[:, ends[0] :] = rng.integers(0, 3, (len(side), columns - straight))
        side[:, ends[2] : ends[3]] = rng.integers(0, 2, (len(side), flags))
        side[rng.random(side.shape) < gaps] = np.nan
    weight = np.ones(columns) if equal else rng.random(columns) * 10.0 ** rng.integers(-9, 9)
    levels, starts = rng.random(9 * ordered + 1), np.zeros((columns, 2), np.int64)
    starts[ends[3] :, 0], starts[ends[3] :, 1] = 9 * np.arange(ordered), 3
    curve = np.ones(columns)
    tables = (levels, starts)
    fast, slow = np.zeros((2, n, m)), np.zeros((2, n, m))
    mixed.mixed_block(a, b, ends, weight, curve, curve, *tables, midpoint, 0.0, *fast)
    fallback.mixed_block(a, b, ends, weight, *tables, midpoint, *slow)
    same_bits(fast, slow)
    few = min(n, m)
    fast, slow = np.zeros((few, columns)), np.zeros((few, columns))
    mixed.mixed_pairs(a[:few], b[:few], ends, curve, curve, *tables, fast)
    fallback.mixed_pairs(a[:few], b[:few], ends, *tables, slow)
    same_bits(np.nan_to_num(fast, nan=-1.0), np.nan_to_num(slow, nan=-1.0))


@settings(max_examples=60)
@given(seeds, st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 4))
def test_shared_tokens(seed, lengths, kinds):
    rng = np.random.default_rng(seed)
    sides = []
    for order in (lengths, lengths[::-1]):
        ends = np.cumsum([0, *order])
        sides += [rng.integers(-2 - kinds, 0, ends[-1]), ends]
    n = len(lengths)
    fast, slow = np.empty((n, n)), np.empty((n, n))
    objects.shared_counts(*sides, fast)
    fallback.shared_counts(*sides, slow)
    same_bits(fast, slow)
    wide = [np.diff(ends).astype(float) + n for ends in sides[1::2]]
    objects.jaccard_of_counts(fast, *wide)
    fallback.jaccard_of_counts(slow, *wide)
    same_bits(fast, slow)


@settings(max_examples=60)
@given(seeds, sizes, st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(1, 6))
def test_lists_of_neighbors(seed, n, widths, k):
    rng = np.random.default_rng(seed)
    fast = np.full((n, k), np.inf), np.full((n, k), -1)
    slow = fast[0].copy(), fast[1].copy()
    ids, exclude = rng.permutation(sum(widths)), rng.integers(-1, sum(widths), n)
    for end, width in zip(np.cumsum(widths), widths, strict=True):
        block = rng.choice([0.0, -0.0, 1.0, 2.0, np.nan, np.inf], (n, width))
        lists.keep_nearest(block, ids[end - width : end], exclude, *fast)
        fallback.keep_nearest(block, ids[end - width : end], exclude, *slow)
        same_bits(fast[0], slow[0])
        assert np.array_equal(fast[1], slow[1])
    more = fast[0].copy(), np.where(fast[1] < 0, -1, fast[1] + sum(widths))
    lists.merge_lists(*fast, *more)
    fallback.merge_lists(*slow, *more)
    same_bits(fast[0], slow[0])
    assert np.array_equal(fast[1], slow[1])


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.long
def test_a_small_question_compiles_no_comparison(tmp_path):
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", QUESTION],
        capture_output=True,
        text=True,
        env={**os.environ, **place},
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


class Loop:
    """Stands for a loop that is not compiled: only what the rule looks at."""

    overloads = ()
    py_func = QUESTION.join


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_much_to_do_is_worth_compiling(monkeypatch, tmp_path):
    loop = Loop()
    loop.py_func = test_shared_tokens
    monkeypatch.setattr(first_use, "_spent", {})
    monkeypatch.setattr(first_use, "cache_folder", lambda: str(tmp_path))
    first_use._is_on_disk.cache_clear()
    assert first_use.pick(loop, "fallback", first_use.ALLOWANCE) == "fallback"
    assert first_use.pick(loop, "fallback", 1) is loop
    monkeypatch.setattr(first_use, "_spent", {})
    name = f"{test_shared_tokens.__module__.rpartition('.')[2]}.{test_shared_tokens.__qualname__}"
    (tmp_path / "kernels_1").mkdir()
    (tmp_path / "kernels_1" / f"{name}-1.py3.nbi").write_bytes(b"")
    first_use._is_on_disk.cache_clear()
    # What lies on disk has to be loaded, too: not for little, unless others have been.
    for running in (False, True):
        monkeypatch.setattr(first_use, "sys", SimpleNamespace(modules={"numba"} if running else ()))
        assert first_use.worth_compiling(loop, 1) is running
    monkeypatch.setattr(first_use, "sys", SimpleNamespace(modules=()))
    first_use._spent["another"] = first_use.TO_LOAD
    assert first_use.worth_compiling(loop, 1)
