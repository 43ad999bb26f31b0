"""How strongly the cells of two rows say that they are the same (Fellegi and Sunter 1969).

Each column of a pair has a level of agreement. Its weight of evidence is the log of how much more
often matches have this level than random pairs have; a value in common weighs the more, the rarer
it is (Winkler 2000). Pairs are of three classes (Larsen and Rubin 2001): matches, pairs that are
merely alike (neighbors in a street, trims of one car), and all others.
Within a class columns are independent, so what goes together among rows that are alike is no proof
that they are the same. Shares among others come from random pairs; those among matches and alike
pairs, and how many there are, from the candidates by expectation and maximization. No labels are
needed; pairs that were decided take part as certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import check_stopped
from lookalike.linkage.candidates import MAX_LOG_ODDS, Candidates
from lookalike.linkage.pooled import PooledColumn

# Lower ends of the levels of similarity; above the last are equal cells. Chosen on Febrl 1 and 2.
LEVELS = (0.0, 0.4, 0.6, 0.75, 0.88, 1.0)
EQUAL = len(LEVELS) - 1
MISSING = -1
RANDOM_PAIRS = 200_000
ROUNDS, FREE_ROUNDS = 25, 2  # more change no F1 by .0005 on Febrl 1 and 2
# Before the first round: how matches agree, and how many there are for each row.
START, START_SHARE = np.array([0.05, 0.05, 0.05, 0.1, 0.15, 0.6]), 0.3
PRIOR_PAIRS = 1.0  # imaginary pairs of each level: a level never seen is unlikely, not impossible
# A copy has most cells as they were, in every column: half as many pairs like ``START`` as matches.
COPIES = 0.5
# Alike pairs for each row: before the first round, and imaginary ones in each (like candidates that
# are no matches); without them, in a table without neighbors, the weakest matches become the class.
START_ALIKE, PRIOR_ALIKE = 3.0, 0.3
FLAT = PRIOR_PAIRS / len(LEVELS)
MIN_ROWS = 20  # with fewer, who is merely alike cannot be learned


@dataclass(frozen=True, eq=False)
class PairLevels:
    """Levels of agreement of pairs.

    Parameters
    ----------
    levels : int8, a row for each pair and a column for each column
    rarity : float64 of the same shape
        Minus the log of the share of rows that have the common value; NaN where cells differ.
    """

    levels: np.ndarray
    rarity: np.ndarray

    def __len__(self) -> int:
        return len(self.levels)


def compare_pairs(
    columns: Sequence[PooledColumn], left: np.ndarray, right: np.ndarray
) -> PairLevels:
    """Return the levels of agreement of pairs of rows.

    Parameters
    ----------
    columns : sequence of PooledColumn
    left, right : int64, positions of rows
    """
    levels = np.full((len(left), len(columns)), MISSING, np.int8)
    rarity = np.full(levels.shape, np.nan)
    for j, column in enumerate(columns):
        check_stopped()
        similar = column.similarity(left, right)
        known = ~np.isnan(similar)
        levels[known, j] = np.searchsorted(LEVELS, similar[known], "right") - 1
        codes = column.codes[left]
        equal = np.flatnonzero((codes == column.codes[right]) & (codes >= 0))
        # One of the two rows is left out: a value that only a pair of doubles has is rare.
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.texts))
        share = np.maximum(counts - 1, 1) / max(1, counts.sum())
        rarity[equal, j] = -np.log(share[codes[equal]])
    return PairLevels(levels, rarity)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Shares of levels among matches and among random pairs, a row for each column.

    Parameters
    ----------
    matches, others : float64 (n_columns, n_levels)
    prior : float
        The log of how many matches there are for each other pair.
    alike : float64 (n_columns, n_levels), optional
        Shares among pairs that are merely alike; None: there are none.
    prior_alike : float
        The log of how many of them there are for each other pair.
    slope, offset : float
        Of the calibration: log odds are ``offset + slope * evidence``.
    """

    matches: np.ndarray
    others: np.ndarray
    prior: float
    alike: np.ndarray | None = None
    prior_alike: float = -np.inf
    slope: float = 1.0
    offset: float = 0.0

    def weights(self, pairs: PairLevels) -> np.ndarray:
        """Return the weight of evidence of each column of each pair, in natural logs."""
        from scipy.optimize import isotonic_regression  # not loaded by a join

        lines = zip(np.log(self.matches / self.others), self.others, strict=True)
        # The nearest log ratios that never fall with the similarity.
        table = np.array([isotonic_regression(line, weights=weight).x for line, weight in lines])
        out = np.where(pairs.levels >= 0, table[np.arange(len(table)), pairs.levels], 0.0)
        # P(value | match) / P(value twice by chance) = share of equal cells / share of the value.
        rare = np.log(self.matches[:, EQUAL]) + pairs.rarity
        # A level that is next to equal is never stronger evidence than the value in common.
        return np.where(np.isnan(pairs.rarity), out, np.maximum(rare, table[:, EQUAL - 1]))

    def log_odds(self, pairs: PairLevels) -> np.ndarray:
        """Return the log odds that each pair is a match."""
        rest = np.logaddexp(0.0, self.log_alike(pairs))
        return self.offset + self.slope * (self.prior + self.weights(pairs).sum(axis=1) - rest)

    def log_alike(self, pairs: PairLevels) -> np.ndarray:
        """Return the log odds that each pair is merely alike rather than any other."""
        if self.alike is None:
            return np.full(len(pairs), -np.inf)
        known, each = pairs.levels >= 0, np.arange(len(self.alike))
        out = np.where(known, np.log(self.alike / self.others)[each, pairs.levels], 0.0)
        rare = np.log(self.alike[:, EQUAL]) + pairs.rarity
        return self.prior_alike + np.where(np.isnan(rare), out, rare).sum(axis=1)

    def calibrated(self, pairs: PairLevels, decided: np.ndarray) -> Evidence:
        """Return the evidence with log odds that fit decided pairs (Platt 1999).

        Slope and offset are drawn to 1 and 0, so that a few decisions move them little.

        Parameters
        ----------
        pairs : PairLevels
        decided : float64
            1 and 0 for pairs that were decided, NaN for others.
        """
        known = ~np.isnan(decided)
        if not known.any():
            return self
        scores = self.log_odds(PairLevels(pairs.levels[known], pairs.rarity[known]))
        scores = np.clip(scores, -MAX_LOG_ODDS, MAX_LOG_ODDS)
        signs = np.where(decided[known] > 0.5, 1.0, -1.0)

        def loss(x: np.ndarray) -> float:
            odds = signs * (np.exp(x[1]) * scores + x[0])
            return float(np.logaddexp(0.0, -odds).sum() + x[0] ** 2 / 8.0 + 2.0 * x[1] ** 2)

        from scipy.optimize import minimize

        offset, log_slope = minimize(loss, np.zeros(2)).x
        return replace(self, slope=float(np.exp(log_slope)), offset=float(offset))


def learn_evidence(
    columns: Sequence[PooledColumn],
    candidates: Candidates,
    pairs: PairLevels,
    n_left: int | None = None,
    *,
    one_to_one: bool = False,
    decided: np.ndarray | None = None,
    seed: int = 0,
) -> Evidence:
    """Learn what the levels of agreement say.

    Parameters
    ----------
    columns : sequence of PooledColumn
    candidates : Candidates
        Pairs that are not among them count as no matches.
    pairs : PairLevels, of the candidates
    n_left : int, optional
        How many rows are those of the first table.
    one_to_one : bool
        Whether a row has one match at most: candidates of one row then compete.
    decided : float64, optional
        1 for candidates that are known to be matches, 0 for known others, NaN for all else.
    seed : int
        Of the random pairs.
    """
    n = len(columns[0].codes)
    n_all = n * (n - 1) // 2 if n_left is None else n_left * (n - n_left)
    usual = compare_pairs(columns, *_random_pairs(n, n_left, n_all, seed)).levels
    usual_counts, every = (_counts(one, np.ones(len(one))) for one in (usual, pairs.levels))
    start = min(n, n_all) / n_all
    evidence = Evidence(
        np.tile(START, (len(columns), 1)),
        _shares(usual_counts + FLAT),
        np.log(START_SHARE * start),
        _shares(every + FLAT),
        np.log(START_ALIKE * start) if n >= MIN_ROWS else -np.inf,
    )
    from scipy.special import expit

    # Candidates of a row compete, as mutual nearest neighbors do: else rows that share a city or a
    # year would become the matches, of which there are more (the drift that Winkler 1993 curbs).
    # The last rounds are free of it where rows have several matches: it favors the clearest one.
    free = 0 if one_to_one else FREE_ROUNDS
    for compete in [True] * ROUNDS + [False] * free:
        check_stopped()
        probabilities = candidates.probabilities(evidence.log_odds(pairs), compete, decided)
        weights = (1.0 - probabilities) * expit(evidence.log_alike(pairs))
        counts, alike = (_counts(pairs.levels, one) for one in (probabilities, weights))
        n_matches = max(probabilities.sum(), 0.5)
        n_alike = min(max(weights.sum(), 0.5), n_all / 2.0)
        n_others = max(n_all - n_matches - n_alike, 0.5)
        # Some of the random pairs are of the other classes: in a small table a good share of them.
        rest = np.maximum(usual_counts - (counts + alike) * (len(usual) / n_all), 0.0)
        copies = PRIOR_PAIRS + COPIES * counts.sum(axis=1, keepdims=True)
        evidence = Evidence(
            _shares(counts + copies * START),
            _shares(rest + FLAT),
            np.log(n_matches / n_others),
            _shares(alike + PRIOR_ALIKE * n * _shares(every - counts + FLAT) + FLAT),
            np.log(n_alike / n_others) if n >= MIN_ROWS else -np.inf,
        )
    return evidence


def _random_pairs(
    n: int, n_left: int | None, n_all: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows that say what is usual: all of a small table, else a draw."""
    if n_all <= RANDOM_PAIRS:
        if n_left is None:
            return np.triu_indices(n, 1)
        left, right = np.divmod(np.arange(n_all), n - n_left)
        return left, right + n_left
    random = make_generator(seed)
    left = random.integers(0, n if n_left is None else n_left, RANDOM_PAIRS)
    right = random.integers(0 if n_left is None else n_left, n, RANDOM_PAIRS)
    apart = left != right
    return left[apart], right[apart]


def _counts(levels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return for each column how often each level is there; missing cells are left out."""
    known = levels >= 0
    lines = zip(levels.T, known.T, strict=True)
    return np.array([np.bincount(one[at], weights[at], len(LEVELS)) for one, at in lines])


def _shares(counts: np.ndarray) -> np.ndarray:
    return counts / counts.sum(axis=1, keepdims=True)
