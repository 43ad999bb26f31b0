"""Bounds of a byte per cell against the formulas in plain integers, and what is found by them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.kernels import bounds
from lookalike.kernels.bounds import (
    EQUAL,
    LOOKUP,
    MISSING,
    NUMBER,
    PART_ROWS,
    ROOT,
    SKIP,
    SQUARE,
    TILE_ROWS,
    collect,
    propose,
    row_bounds,
)  # fmt: skip

# The class of the library itself: numba's cache, which all processes share, holds its name.
from lookalike.neighbors.byte_queries import _KernelQueries as Queries

seeds = st.integers(0, 2**32 - 1)


def draw(rng, n, kinds, kind, shared, largest, missing):
    """Random codes and one query for columns of some kinds; ``kind`` is the type of the sums."""
    columns = len(kinds)
    codes = rng.integers(0, 255, (columns, n)).astype(np.uint8)
    if missing:
        codes[rng.random(codes.shape) < 0.2] = MISSING
        for j, how in enumerate(kinds):  # a vector misses all of its coordinates, or none
            if how == SQUARE:
                codes[j] = np.where(codes[j + 1] == MISSING, MISSING, np.minimum(codes[j], 254))
    how = np.array([[k if k == SKIP else k + missing for k in kinds]])

    def small(most):
        return rng.integers(0, most, (1, columns)).astype(kind)

    tables = rng.integers(0, 50, (1, columns, 256)).astype(kind)
    return codes, Queries(
        how, small(255), small(9), small(30), small(9), tables, np.arange(columns), kind(0),
        rng.random((1, columns)).astype(np.float32), np.array([3.0], np.float32),
        np.array([100.0], np.float32), shared, largest,
    )  # fmt: skip


def slow(codes, asked, row):
    """The bound of one row in Python's integers."""
    total = squares = lost = 0
    for j, how in enumerate(asked.how[0].tolist()):
        v, u, w = int(codes[j, row]), int(asked.u[0, j]), int(asked.w[0, j])
        missing = v == MISSING and how not in (NUMBER, EQUAL, ROOT, SQUARE, LOOKUP)
        steps = max(abs(u - v) - 1, 0)
        if how == SKIP:
            continue
        if how >= SQUARE:
            squares = min(squares + steps**2, int(np.iinfo(type(asked.zero)).max))
            if how < ROOT:
                continue
            real = asked.factor[0, j] * np.sqrt(np.float32(squares))
            term, squares = int(min(real, np.float32(w))), 0
        elif how >= LOOKUP:
            term, missing = int(asked.tables[0, j, v]), missing
            lost += int(asked.weight[0, j]) if missing else 0
            total += term
            continue
        else:
            term = w * steps if how < EQUAL else w * (u != v)
        term = int(asked.gap[0, j]) if missing else term
        lost += int(asked.weight[0, j]) if missing else 0
        total = max(total, term) if asked.largest else total + term
    above = np.float32(total) + asked.base[0]
    if not asked.shared:
        return above
    left = asked.whole[0] - np.float32(lost)
    return above / left if left > 0 else np.float32(np.inf)


@settings(max_examples=60)
@given(seeds, st.booleans(), st.booleans(), st.sampled_from([np.uint16, np.uint32]))
def test_bounds_are_the_formulas(seed, shared, missing, kind):
    rng = np.random.default_rng(seed)
    kinds = [NUMBER, EQUAL, SKIP, LOOKUP, SQUARE, ROOT, NUMBER, SQUARE, SQUARE, ROOT]
    codes, asked = draw(rng, 40, kinds, kind, shared, False, missing)
    work, lost, keys = np.empty(40, kind), np.empty(40, kind), np.empty(40, np.float32)
    row_bounds(codes, asked, 0, work, lost, keys)
    assert_array_equal(keys, [slow(codes, asked, row) for row in range(40)])


@settings(max_examples=30)
@given(seeds, st.booleans())
def test_the_largest_column_instead_of_the_sum(seed, missing):
    rng = np.random.default_rng(seed)
    codes, asked = draw(rng, 40, [NUMBER, NUMBER, SKIP, NUMBER], np.uint16, False, True, missing)
    work, lost = np.empty((2, 40), np.uint16)
    keys = np.empty(40, np.float32)
    row_bounds(codes, asked, 0, work, lost, keys)
    assert_array_equal(keys, [slow(codes, asked, row) for row in range(40)])


@pytest.mark.parametrize("subset", [False, True])
def test_proposed_and_collected_rows_are_those_with_the_smallest_bounds(subset):
    rng, n = np.random.default_rng(4), 2 * TILE_ROWS + 100
    codes, asked = draw(rng, 3 * TILE_ROWS, [NUMBER, EQUAL], np.uint16, False, False, False)
    tiles = np.ascontiguousarray(codes.reshape(2, 3, TILE_ROWS).transpose(1, 0, 2))
    allowed = rng.random(n) < 0.5 if subset else np.empty(0, bool)
    live = np.flatnonzero(allowed) if subset else np.arange(n)
    every = np.array([slow(codes, asked, row) for row in range(3 * TILE_ROWS)])
    work, lost = np.empty((2, TILE_ROWS), np.uint16)
    keys = np.empty(TILE_ROWS, np.float32)
    lowest = np.empty((1, 3 * TILE_ROWS // PART_ROWS), np.float32)
    best, rows = np.full((1, 9), np.inf, np.float32), np.full((1, 9), -1)
    propose(tiles, n, allowed, asked, 0, 3, work, lost, keys, lowest, best, rows)
    assert_array_equal(lowest[0], every.reshape(-1, PART_ROWS).min(axis=1))
    assert_array_equal(best[0], np.sort(every[live])[:9])
    assert_array_equal(every[rows[0]], best[0])
    assert set(rows[0]) <= set(live.tolist())
    limit = best[0, 5:6]
    wanted = live[every[live] <= limit]
    small = work[:PART_ROWS], lost[:PART_ROWS], keys[:PART_ROWS]
    for most, size in ((n, n), (len(wanted), len(wanted))):
        ends, out = np.empty(1, np.int64), np.full(size, -1)
        done = collect(tiles, n, allowed, asked, 0, 1, limit, most, *small, lowest, ends, out)
        assert (done, ends[0]) == (1, len(wanted))
        assert_array_equal(out[: len(wanted)], wanted)
    few = len(wanted) - 1
    ends, out = np.empty(1, np.int64), np.empty(few, np.int64)
    done = collect(tiles, n, allowed, asked, 0, 1, limit, few, *small, lowest, ends, out)
    assert (done, ends[0]) == (1, -1)  # too many: none is kept
    done = collect(tiles, n, allowed, asked, 0, 1, limit, n, *small, lowest, ends, out)
    assert done == 0  # the output is full


def test_a_lower_bound_never_exceeds_the_true_difference():
    """Codes are rounded down, so |u - v| - 1 steps are at most what the two values differ by."""
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 1000))
    u, v = (np.floor(bounds.STEPS * z).astype(int) for z in (x, y))
    assert (np.maximum(np.abs(u - v) - 1, 0) <= bounds.STEPS * np.abs(x - y)).all()
