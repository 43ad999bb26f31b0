"""Bounds of a box and of its queries rule out no row within the limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.bounds import EQUAL, LOOKUP, NUMBER, STEPS, TILE_ROWS
from lookalike.neighbors import blocks
from lookalike.neighbors.blocks import PAIRS_PER_ROUND, Block, NearRows, in_order
from lookalike.neighbors.byte_queries import ByteCodes, ByteQueries


def draw(rng, n, n_queries, missing, weights, midpoint=False):
    """Random rows and queries of five numbers, three categories and a looked up column."""
    kind = np.array([NUMBER] * 5 + [EQUAL] * 3 + [LOOKUP])
    x = rng.random((n + n_queries, 9))
    x[:, 5:] = rng.integers(0, 4, (len(x), 4))
    gone = rng.random(x.shape) < (0.2 if missing else 0.0)
    steps = np.where(kind == NUMBER, np.floor(x * STEPS), x).astype(np.uint8)
    codes = ByteCodes.make(n, 9, lambda at: (steps[:n][at], gone[:n][at] if missing else None))
    tables = np.zeros((n_queries, 1, 256))
    tables[:, 0, :4] = np.abs(np.arange(4) - x[n:, 8:]) / 3 * weights[8]
    worth = np.broadcast_to(weights, (n_queries, 9)).copy()
    worth[:, 8] = tables.max(axis=(1, 2))
    asked = ByteQueries(
        steps[n:], worth, kind, tables=tables, weights=weights, present=~gone[n:], midpoint=midpoint
    )
    apart = np.abs(x[n:, None] - x[:n])
    apart[:, :, 5:8] = apart[:, :, 5:8] > 0
    apart[:, :, 8] /= 3
    there = ~gone[n:, None] & ~gone[:n]
    if midpoint:
        return codes, asked, np.where(there, apart, 0.5) @ weights / weights.sum()
    with np.errstate(invalid="ignore"):
        distances = (apart * weights * there).sum(axis=2) / (weights * there).sum(axis=2)
    return codes, asked, distances


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([None, "ignore", "midpoint"]), st.booleans(),
    st.lists(st.sampled_from([0.01, 1.0, 1.0, 3.0]), min_size=9, max_size=9),
    st.floats(0.01, 0.9),
)  # fmt: skip
def test_no_row_within_the_limit_is_ruled_out(seed, missing, bytes_, weights, quantile):
    rng = np.random.default_rng(seed)
    codes, asked, distances = draw(
        rng, 1500, 20, missing is not None, np.array(weights), missing == "midpoint"
    )
    limits = np.nanquantile(distances, quantile * 0.2, axis=1) * rng.choice([1.0, 1.0, 1.3], 20)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "MAX_NUMBERS_IN_BYTES", 24 if bytes_ else 0)
        block, found = Block(asked, codes.gaps), set()
    near, every = NearRows.make(codes, asked.kind, asked.worth.mean(axis=0)), np.empty(0, bool)
    assert sorted(near.positions[near.positions >= 0].tolist()) == list(range(1500))
    for numbers in near.near(block, lambda: limits):
        some, tile = near.take(numbers, every), 0
        while tile < len(numbers):
            tile, (queries, rows) = block.scan(some, tile, limits)
            found |= set(zip(queries.tolist(), rows.tolist(), strict=True))
    within = np.argwhere(distances <= limits[:, None])
    assert {(int(q), int(r)) for q, r in within} <= found
    assert len(found) < 20 * 1500  # and some are


def test_more_pairs_than_a_round_holds_fit_into_memory():
    rng = np.random.default_rng(0)
    codes, asked, _ = draw(rng, 5000, 40, False, np.ones(9))
    block = Block(asked, codes.gaps)
    near = NearRows.make(codes, asked.kind, asked.worth.mean(axis=0))
    some = near.take(np.arange(len(codes.tiles)), np.empty(0, bool))
    tile, (queries, _) = block.scan(some, 0, np.full(40, 1.0))
    assert PAIRS_PER_ROUND <= len(queries) < len(block.found)
    # All but the last pair of a round, then all rows of the space.
    assert len(block.found) > PAIRS_PER_ROUND - 1 + 40 * block.space[0].shape[1]
    assert 0 < tile < len(codes.tiles)


@pytest.mark.parametrize("n", [1, 256, 257, 3000])
def test_blocks_hold_every_query_once(n):
    rng = np.random.default_rng(0)
    _, asked, _ = draw(rng, 10, n, True, np.ones(9))
    boxes = in_order(asked.cells, asked.kind, asked.worth.mean(axis=0))
    assert sorted(np.concatenate(boxes).tolist()) == list(range(n))
    assert max(map(len, boxes)) <= 256
    # Queries of a block are nearer to each other than queries drawn at random.
    if n == 3000:
        spread = np.mean([asked.own[at, :8].std(axis=0) for at in boxes], axis=0)
        assert (spread / asked.own[:, :8].std(axis=0)).mean() < 0.9


def test_tiles_of_near_rows_are_ruled_out_as_a_whole():
    """Rows in two groups far apart: a block within one does not look at tiles of the other."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, (4 * TILE_ROWS, 3)).astype(np.uint8)
    x[::2] += 200
    kind, worth = np.full(3, NUMBER), np.ones(3)
    codes = ByteCodes.make(len(x), 3, lambda at: (x[at], None))
    near = NearRows.make(codes, kind, worth)
    block = Block(ByteQueries(x[:512:2], worth, kind), codes.gaps)
    tiles = np.concatenate(list(near.near(block, lambda: np.full(256, 0.3))))
    assert len(tiles) == 2
    assert (near.positions[tiles] % 2 == 0).all()
    assert len(np.concatenate(list(near.near(block, lambda: np.full(256, 0.3), 1)))) == 1
    # A missing cell is within every distance.
    gone = np.zeros(x.shape, bool)
    gone[1::2] = True
    near = NearRows.make(ByteCodes.make(len(x), 3, lambda at: (x[at], gone[at])), kind, worth)
    assert len(np.concatenate(list(near.near(block, lambda: np.full(256, 0.3))))) == 4
