"""Exact kNN of many queries by quantized lower bounds, a block of near queries at a time.

Queries that are near each other have the same rows to rule out. They are put in order, so that the
queries of a block are in a small box; one pass over the codes rules out most rows for all of them,
and only the others are compared with each. How queries are put in order changes the time, never
the lists.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lookalike.kernels.block_bounds import scan
from lookalike.kernels.bounds import EQUAL, LOOKUP, MISSING, NUMBER, SKIP, STEPS, TILE_ROWS
from lookalike.neighbors.byte_queries import ByteCodes, ByteQueries

QUERIES_PER_BLOCK = 256
MIN_QUERIES = 1024  # fewer are too far from each other for boxes
PAIRS_PER_ROUND = 64 * QUERIES_PER_BLOCK  # compared before the limits are lowered
MAX_SAMPLE = 512  # queries of a box that are looked at before it is cut
# A number loses up to one step to rounding: more of them need finer steps than 250 for the limit.
MAX_NUMBERS_IN_BYTES = 24
TOP = {np.uint8: 250, np.uint16: 60_000}  # what the limit is in steps; above it sums may saturate
BOX_TOP = 50_000
TILES_PER_ROUND = 256  # copied next to each other: 5 MB for twenty columns


def in_order(codes: np.ndarray, kind: np.ndarray, worth: np.ndarray) -> list[np.ndarray]:
    """Return positions of queries, or of rows, in blocks of near ones.

    A box is cut in two where that separates most: at the median of a number, or between the codes
    of a category, whichever adds more to the mean distance of the halves.

    Parameters
    ----------
    codes : uint8 (queries, columns)
    kind : int64 per column, see ``ByteQueries``
    worth : float64 per column, what a difference adds
    """
    is_number = kind == NUMBER
    boxes, todo = [], [np.arange(len(codes))]
    while todo:
        at = todo.pop()
        if len(at) <= QUERIES_PER_BLOCK:
            boxes.append(at)
            continue
        values = np.sort(codes[at[:: -(-len(at) // MAX_SAMPLE)]], axis=0)
        half = values[len(values) // 2].astype(np.int64)
        spread = np.abs(values - half).mean(axis=0) / (2 * STEPS)
        below, up_to = (values < half).mean(axis=0), (values <= half).mean(axis=0)
        share = np.where(np.abs(below - 0.5) < np.abs(up_to - 0.5), below, up_to)
        gain = worth * np.where(is_number, spread, 2 * share * (1 - share))
        column = int(gain.argmax())
        at = at[np.argsort(codes[at, column], kind="stable")]
        # Whole blocks on the left, at least one on each side.
        n_blocks = -(-len(at) // QUERIES_PER_BLOCK)
        wanted = round(n_blocks * (0.5 if is_number[column] else float(share[column])))
        cut = QUERIES_PER_BLOCK * min(max(1, wanted), n_blocks - 1)
        todo += [at[cut:], at[:cut]]
    return boxes


# What all queries of a block have at least, and its queries; see ``kernels.block_bounds.scan``.
_Box = namedtuple("_Box", "how low high w gap most tables slot limit missing zero")
_Queries = namedtuple("_Queries", "how own w gap tables slot limit missing zero")


class Block:
    """Bounds of the queries of a block against rows within a distance.

    Parameters
    ----------
    asked : ByteQueries
    gaps : bool per column, which have missing cells in the rows
    """

    def __init__(self, asked: ByteQueries, gaps: np.ndarray) -> None:
        self.asked, self.gaps = asked, gaps
        given = asked.present
        self.present = np.ones(asked.own.shape, bool) if given is None else given
        self.worth = np.broadcast_to(asked.worth, asked.own.shape)
        self.every = np.asarray(self.present.all(axis=0))
        self.some = np.asarray(self.present.any(axis=0))
        self.numbers = asked.kind == NUMBER
        self.narrow = np.uint8 if self.numbers.sum() <= MAX_NUMBERS_IN_BYTES else np.uint16
        low = np.where(self.present, asked.own, MISSING).min(axis=0)
        high = np.where(self.present, asked.own, 0).max(axis=0)
        self.low, self.high = np.minimum(low, high), high  # of a column without cells: anything
        # Columns may be worth a little more to one query than to another: the least is true of all.
        self.least = np.where(self.present, self.worth, np.inf).min(axis=0)
        self.least = np.where(self.some, self.least, 0.0)
        self.slot = np.cumsum(asked.kind == LOOKUP) - 1
        wide = 2 * TILE_ROWS
        self.space = (
            np.empty((asked.own.shape[1], wide), self.narrow), np.empty(wide, np.int64),
            np.empty(wide, self.narrow), np.empty(1, self.narrow), np.empty(TILE_ROWS, np.uint16),
            np.empty(TILE_ROWS, np.int64),
        )  # fmt: skip
        # All rows of the space may be within the limits when there are nearly enough pairs, and the
        # kernel writes one more than it counts.
        n_pairs = len(asked.own) * wide + PAIRS_PER_ROUND + 1
        self.found, self.rows = np.empty(n_pairs, np.int16), np.empty(n_pairs, np.int64)

    def scan(
        self, tiles: NearTiles, first: int, limits: np.ndarray
    ) -> tuple[int, tuple[np.ndarray, np.ndarray]]:
        """Return the tile to go on with, and pairs (query, row) whose bound is within the limit."""
        limits = raised(limits)
        box = self._box(limits.max())
        queries, recode = self._queries(limits, box.how)
        tile, count = scan(
            tiles.tiles, len(tiles.allowed), tiles.allowed, self.gaps, first, PAIRS_PER_ROUND, box,
            queries, recode, *self.space, self.found, self.rows,
        )  # fmt: skip
        order = np.argsort(self.found[:count], kind="stable")
        rows = tiles.positions[self.rows[:count][order]]
        return tile, (self.found[:count][order].astype(np.int64), rows)

    def below(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return a lower bound of the sums between the queries and the rows of each tile.

        Parameters
        ----------
        low, high : uint8 (tiles, columns), see ``NearRows``
        """
        low, high = low.astype(np.int16), high.astype(np.int16)
        apart = np.maximum(np.maximum(low - self.high, self.low - high), 0)
        steps = np.maximum(apart - 1, 0) * (self.least / STEPS)
        differs = np.where(self.numbers, steps, (apart > 0) * self.least)
        # What is looked up may have any order, and a missing cell may count less than any other.
        return np.asarray(differs @ (self.every & (self.asked.kind != LOOKUP)))

    def sum_of(self, limits: np.ndarray) -> np.ndarray:
        """Return the sums over all columns that are within some limits."""
        return np.asarray(self._weighed(raised(limits))[0])

    def _weighed(self, limits: Any) -> tuple[Any, Any, Any]:
        """Return what a sum over all columns may be, what a missing cell adds, and what it has.

        The mean over the columns that are there is within the limit where the sum is within the
        limit times all weights, with the limit times its weight for each column that is not there.
        """
        asked = self.asked
        if asked.weights is None:
            return limits, np.zeros(len(asked.kind)), 0.0
        whole = limits * (asked.weights.sum() + asked.more_weight)
        gap = asked.weights / 2 if asked.midpoint else np.multiply.outer(limits, asked.weights)
        return whole, gap, np.where(self.present, 0.0, gap).sum(axis=1)

    def _box(self, limit: float) -> _Box:
        """Return what all queries of the block have at least, in small integers."""
        asked, kind = self.asked, self.asked.kind
        whole, gap, _ = self._weighed(limit)
        whole -= gap[~self.some].sum()  # missing in every query
        step = np.where(self.numbers, self.least / STEPS, 0.0)
        unit = max(whole / BOX_TOP, step.max() / 255, 1e-300)
        w = np.minimum(np.floor(np.where(self.numbers, step, self.least) / unit), 65_535)
        w = np.where(self.numbers, np.minimum(w, 255), w)
        gap = np.minimum(np.floor(gap / unit), 65_535).astype(np.uint16)
        tables = np.zeros((1, MISSING + 1), np.uint16)
        if asked.tables is not None and asked.tables.shape[1]:
            looked_up = kind == LOOKUP
            inside = np.where(self.present[:, looked_up, None], asked.tables, np.inf).min(axis=0)
            # A column that some queries have not: what the others have counts up to that.
            most = np.where(self.every[looked_up, None], 65_535, gap[looked_up, None])
            tables = np.minimum(np.floor(inside / unit), most).astype(np.uint16)
            tables[:, MISSING] = gap[looked_up]
        how = np.where(((w > 0) | (gap > 0)) & self.some, kind, SKIP)
        most = np.where(self.every, np.uint16(65_535), gap)
        return _Box(
            how, self.low.astype(np.uint16), self.high.astype(np.uint16), w.astype(np.uint16), gap,
            most, tables, self.slot, np.uint16(min(65_534, max(0.0, whole / unit))),
            np.uint16(MISSING), np.uint16(0),
        )  # fmt: skip

    def _queries(self, limits: np.ndarray, ways: np.ndarray) -> tuple[_Queries, np.ndarray]:
        """Return the queries in small integers, and what the codes of rows become."""
        asked, narrow = self.asked, self.narrow
        largest, top = int(np.iinfo(narrow).max), TOP[narrow]
        whole, gap, missing = self._weighed(limits)
        whole = np.maximum(whole - missing, 0.0)
        step = np.where(self.numbers, self.least / STEPS, 0.0)
        ref = float(step.max())
        unit = max(float(whole.max()) / top, 8 * ref / largest, 1e-300)
        if ref > 0:  # the columns worth most lose nothing to rounding
            unit = ref * np.ceil(unit / ref) if unit > ref else ref / np.floor(ref / unit)
        # A number takes ``times`` units for each step, or one for several steps.
        with np.errstate(divide="ignore"):
            times = np.minimum(np.floor(step / unit * (1 + 1e-9)), largest).astype(np.int64)
            merged = np.where(times > 0, 1.0, np.ceil(unit / step * (1 - 1e-9)))
        merged = np.minimum(merged, 2 * STEPS).astype(np.int64)[:, None]
        times = np.maximum(times, 1)
        recode = np.tile(np.arange(MISSING + 1), (len(step), 1))
        steps = recode // merged * times[:, None]
        # Numbers far from the box are cut off, which only brings them nearer.
        middle = steps[np.arange(len(step)), self.low] + steps[np.arange(len(step)), self.high]
        origin = np.where(steps[:, STEPS] < largest, 0, middle // 2 - largest // 2)
        steps = np.clip(steps - origin[:, None], 0, largest - 1)
        recode = np.where(self.numbers[:, None], steps, recode)
        recode[:, MISSING] = np.where(asked.kind == LOOKUP, MISSING, largest)
        recode = recode.astype(narrow)

        def small(values: np.ndarray) -> np.ndarray:
            return np.minimum(np.floor(values / unit), largest).astype(narrow)

        gap = np.broadcast_to(small(gap), asked.own.shape)
        w = np.where(self.numbers, times.astype(narrow), small(self.worth))
        tables = np.zeros((len(w), 1, MISSING + 1), narrow)
        if asked.tables is not None and asked.tables.shape[1]:
            tables = small(asked.tables)
            tables[:, :, MISSING] = gap[:, asked.kind == LOOKUP]
        how = np.where(self.present & (ways != SKIP), asked.kind, SKIP)
        own = recode[np.arange(len(step)), asked.own]
        limit = np.minimum(whole / unit, top).astype(narrow)
        zero, code = narrow(0), narrow(largest)
        return _Queries(how, own, w, gap, tables, self.slot, limit, code, zero), recode


class NearTiles(NamedTuple):
    """Some tiles of rows, copied next to each other.

    Parameters
    ----------
    tiles : uint8 (tiles, columns, TILE_ROWS)
    positions : int64 per row of a tile, -1 for padding
    allowed : bool per row of a tile, which may be found
    """

    tiles: np.ndarray
    positions: np.ndarray
    allowed: np.ndarray


@dataclass(frozen=True, eq=False)
class NearRows:
    """Rows as bytes, in an order in which near ones are next to each other.

    Parameters
    ----------
    tiles : uint8 (tiles, columns, TILE_ROWS), as in ``ByteCodes``
    positions : int64 (tiles, TILE_ROWS), -1 for padding
    low, high : uint8 (tiles, columns)
        The least and the largest code of each tile; 0 and 255 where cells are missing.
    """

    tiles: np.ndarray
    positions: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def make(cls, codes: ByteCodes, kind: np.ndarray, worth: np.ndarray) -> NearRows:
        """Put rows in order; ``kind`` and ``worth`` are those of ``in_order``."""
        n, tiles = codes.n_rows, codes.tiles
        rows = tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:n]
        positions = np.full(len(tiles) * TILE_ROWS, -1)
        positions[:n] = np.concatenate(in_order(rows, kind, worth))
        # Padding repeats a row, so that it does not widen the last tile.
        rows = rows[np.where(positions < 0, positions[n - 1], positions)]
        tiles = np.ascontiguousarray(rows.reshape(-1, TILE_ROWS, rows.shape[1]).transpose(0, 2, 1))
        low, high = tiles.min(axis=2), tiles.max(axis=2)
        low = np.where(high == MISSING, np.uint8(0), low)
        return cls(tiles, positions.reshape(-1, TILE_ROWS), low, high)

    def near(
        self, block: Block, limits: Callable[[], np.ndarray], n_tiles: int | None = None
    ) -> Iterator[np.ndarray]:
        """Yield numbers of tiles that may hold rows within the limits, the nearest first.

        Parameters
        ----------
        block : Block
        limits : callable that returns a limit per query, asked before every round
        n_tiles : int, optional
            No more than so many; None: all.
        """
        numbers, bounds = self.nearest(block, n_tiles)
        for start in range(0, len(numbers), TILES_PER_ROUND):
            some = slice(start, start + TILES_PER_ROUND)
            yield numbers[some][bounds[some] <= block.sum_of(limits()).max()]

    def nearest(self, block: Block, n_tiles: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the tiles nearest to a block of queries, and lower bounds of their sums."""
        bounds = block.below(self.low, self.high)
        numbers = np.argsort(bounds, kind="stable")[:n_tiles]
        return numbers, bounds[numbers]

    def take(self, numbers: np.ndarray, allowed: np.ndarray) -> NearTiles:
        """Return some tiles.

        Parameters
        ----------
        numbers : int64
        allowed : bool per row, which may be found; empty: all
        """
        positions = self.positions[numbers].ravel()
        there = positions >= 0
        if len(allowed):
            there &= allowed[positions]
        return NearTiles(self.tiles[numbers], positions, there)


def raised(limits: Any) -> Any:
    """Return limits a little higher: rounding of bounds or of distances may lose no row."""
    return limits * (1 + 1e-5) + 1e-12


def can_bound(asked: ByteQueries) -> bool:
    """Whether blocks know how to bound all columns of some queries."""
    return not asked.largest and bool(np.isin(asked.kind, (NUMBER, EQUAL, LOOKUP)).all())
