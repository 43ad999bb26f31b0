"""Pairs of rows worth comparing, found by what they share (blocking), in time linear in the rows.

Keys of a row are its cells, their halves and their words. Two texts that differ by one letter share
a half, whatever the letter (pigeonhole; Li, Deng, Wang, Feng 2011, doi:10.14778/2078331.2078340).
A key that many rows have says little alone: it counts together with another one of the row. Rows
with a key are sorted, and each is paired with the next few (sorted neighborhood, Hernandez and
Stolfo 1995, doi:10.1145/223784.223807), so the number of pairs grows with the rows, not squared.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lookalike._runtime.progress import Progress
from lookalike._runtime.threads import check_stopped
from lookalike.linkage.pooled import MAX_COLUMNS, PooledColumn

# Chosen on Febrl 1 and 2 and restaurants: twice as many pairs change no F1 by more than .001.
WINDOW = 8  # rows after a row with the same key that it is paired with
MAX_ROWS_OF_KEY = WINDOW + 1  # with more, the key is a common one
COMMON_KEYS = 8  # of a row, the rarest of them, that are taken two by two
PER_ROW = 8  # pairs of a row that are compared: those that share the rarest keys
MAX_LOG_ODDS = 40.0  # of a pair: beyond, sums of odds lose the small ones
MIX = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio, as in splitmix64


class Keys(NamedTuple):
    """Keys of rows: the row, a hash, and the columns that it was made of as bits."""

    rows: np.ndarray
    hashes: np.ndarray
    columns: np.ndarray

    def take(self, at: np.ndarray) -> Keys:
        """Return some of the keys."""
        return Keys(*(values[at] for values in self))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of rows to compare.

    Parameters
    ----------
    left, right : int64, positions of rows; left is less than right
    n_columns : int64
        In how many columns a key was found that both rows have.
    """

    left: np.ndarray
    right: np.ndarray
    n_columns: np.ndarray

    def __len__(self) -> int:
        return len(self.left)

    def probabilities(
        self, log_odds: np.ndarray, one_to_one: bool = False, decided: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the probability that each is a match.

        Where a row has one match at most, the odds of a pair are divided by one plus those of the
        other pairs of its two rows: a second one that is as good leaves neither much above a half.

        Parameters
        ----------
        log_odds : float64
        one_to_one : bool
        decided : float64, optional
            1 for pairs that are known to be matches, 0 for known others, NaN for all else.
        """
        log_odds = np.clip(log_odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
        if decided is not None:
            fixed = np.where(decided > 0.5, MAX_LOG_ODDS, -MAX_LOG_ODDS)
            log_odds = np.where(np.isnan(decided), log_odds, fixed)
        if not one_to_one:
            from scipy.special import expit

            return expit(log_odds)
        odds = np.exp(log_odds)
        rivals = [np.bincount(rows, odds)[rows] - odds for rows in (self.left, self.right)]
        return odds / (1.0 + odds + np.maximum(rivals[0], 0.0) + np.maximum(rivals[1], 0.0))


def find_candidates(
    columns: Sequence[PooledColumn], n_left: int | None = None, groups: np.ndarray | None = None
) -> Candidates:
    """Return the pairs of rows that share something rare.

    Parameters
    ----------
    columns : sequence of PooledColumn
    n_left : int, optional
        How many of the rows are those of the first table: pairs are then of one row of each.
    groups : int64, optional
        Both rows of a pair are in the same one; -1: in none.

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.linkage.pooled import pool
    >>> table = la.read_table({"name": ["ann smith", "anne smith", "bob jones", "carol king"]})
    >>> found = find_candidates([pool("name", [table["name"]])])
    >>> found.left.tolist(), found.right.tolist()
    ([0], [1])
    """
    n = len(columns[0].codes)
    # Rows with equal cells stand together, in the order that windows go by.
    order = np.lexsort([column.codes for column in reversed(columns)])
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    found, common = [], []
    with Progress("Finding pairs", len(columns) + 1) as progress:
        for number, column in enumerate(columns[:MAX_COLUMNS]):
            check_stopped()
            keys = _keys_of(column, number)
            if groups is not None:
                keys = keys.take(groups[keys.rows] >= 0)
                mixed = groups[keys.rows].astype(np.uint64) * MIX
                keys = keys._replace(hashes=keys.hashes ^ mixed)
            sizes = _sizes(keys.hashes)
            found.append(_pairs_within(keys, sizes, rank, n_left))
            common.append(keys.take(sizes > MAX_ROWS_OF_KEY))
            progress.advance()
        keys = _join_common(Keys(*map(np.concatenate, zip(*common, strict=True))), n)
        found.append(_pairs_within(keys, _sizes(keys.hashes), rank, n_left))
        progress.advance()
    return _select(n, *map(np.concatenate, zip(*found, strict=True)))


def _keys_of(column: PooledColumn, number: int) -> Keys:
    """Return the cells of a column, their halves and their words, as keys."""
    per_text = []
    for text in column.texts:
        words, length = {text, *text.split()}, len(text)
        for half in {length // 2, (length - 1) // 2} - {0, -1}:
            words |= {f"{text[:half]}*", f"*{text[-half:]}"}
        # Not hash(), which differs between processes: the same table has the same pairs.
        per_text.append({zlib.crc32(word.encode()) << 8 | len(word) & 255 for word in words})
    sizes = np.array([len(keys) for keys in per_text], np.int64)
    flat = np.fromiter(itertools.chain.from_iterable(per_text), np.uint64, sizes.sum())
    flat = (flat + np.uint64(number + 1)) * MIX  # the same word in two columns is two keys
    rows = np.flatnonzero(column.codes >= 0)
    codes = column.codes[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])[codes]
    counts = sizes[codes]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    hashes = flat[np.repeat(starts, counts) + within]
    return Keys(np.repeat(rows, counts), hashes, np.full(len(hashes), 1 << number))


def _sizes(hashes: np.ndarray) -> np.ndarray:
    """Return how many rows have each key."""
    _, back, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return counts[back]


def _pairs_within(
    keys: Keys, sizes: np.ndarray, rank: np.ndarray, n_left: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pair each row with the next ones that have the same key: once, by the rarest key.

    Returns pairs as one number each, their weights in bits, and the bits of their columns.
    """
    n = len(rank)
    kept = np.flatnonzero(sizes > 1)
    kept = kept[np.lexsort((rank[keys.rows[kept]], keys.hashes[kept]))]
    rows, hashes, columns = keys.take(kept)
    rare = sizes[kept] <= MAX_ROWS_OF_KEY
    bits = np.log2(n / sizes[kept])
    parts = []
    for step in range(1, min(WINDOW, len(rows) - 1) + 1):
        check_stopped()
        same = hashes[step:] == hashes[:-step]
        # Of a common key only the next row: it may be the same record.
        same &= (rare[step:] | (step == 1)) & (rows[step:] != rows[:-step])
        at = np.flatnonzero(same)
        a, b = np.minimum(rows[at], rows[at + step]), np.maximum(rows[at], rows[at + step])
        if n_left is not None:
            across = (a < n_left) & (b >= n_left)
            a, b, at = a[across], b[across], at[across]
        parts.append((a * n + b, bits[at], columns[at]))
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
    pairs, bits, columns = map(np.concatenate, zip(*parts, strict=True))
    return _once(pairs, bits, columns, np.maximum)


def _once(
    pairs: np.ndarray, bits: np.ndarray, columns: np.ndarray, join: np.ufunc
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each pair once, with its bits joined and all columns of its keys."""
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    first = np.flatnonzero(np.concatenate([[True] * min(1, len(pairs)), np.diff(pairs) != 0]))
    if len(first):
        bits = join.reduceat(bits[order], first)
        columns = np.bitwise_or.reduceat(columns[order], first)
    return pairs[first], bits, columns


def _join_common(keys: Keys, n: int) -> Keys:
    """Return the rarest of the common keys of each row, two of different columns at a time."""
    order = np.lexsort((_sizes(keys.hashes), keys.rows))
    rows = keys.rows[order]
    within = np.arange(len(rows)) - np.searchsorted(rows, rows)
    order, rows, within = (values[within < COMMON_KEYS] for values in (order, rows, within))
    hashes, columns = np.zeros((n, COMMON_KEYS), np.uint64), np.zeros((n, COMMON_KEYS), np.int64)
    hashes[rows, within], columns[rows, within] = keys.hashes[order], keys.columns[order]
    parts = []
    for i, j in itertools.combinations(range(COMMON_KEYS), 2):
        at = np.flatnonzero((columns[:, j] > 0) & (columns[:, i] != columns[:, j]))
        a, b = hashes[at, i], hashes[at, j]
        both = (np.minimum(a, b) ^ (np.maximum(a, b) >> np.uint64(7))) * MIX
        parts.append(Keys(at, both, columns[at, i] | columns[at, j]))
    return Keys(*map(np.concatenate, zip(*parts, strict=True)))


def _select(n: int, pairs: np.ndarray, bits: np.ndarray, columns: np.ndarray) -> Candidates:
    """Keep the pairs that are among the best of one of their rows."""
    pairs, bits, columns = _once(pairs, bits, columns, np.add)
    left, right = np.divmod(pairs, n)
    best = np.zeros(len(left), bool)
    for rows in (left, right):
        check_stopped()
        ranked = np.lexsort((-bits, rows))
        by_row = rows[ranked]
        best[ranked[np.arange(len(by_row)) - np.searchsorted(by_row, by_row) < PER_ROW]] = True
    return Candidates(left[best], right[best], np.bitwise_count(columns[best]).astype(np.int64))
