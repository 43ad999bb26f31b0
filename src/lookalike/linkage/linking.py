"""Which pairs of rows are the same record, decided from the data (record linkage).

Candidates share something rare (``candidates``); evidence is learned from them without labels
(``evidence``); the threshold is the one of the largest expected F1, which the probabilities imply.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.linkage.candidates import Candidates, find_candidates
from lookalike.linkage.evidence import EQUAL, Evidence, PairLevels, compare_pairs, learn_evidence
from lookalike.linkage.pooled import PooledColumn
from lookalike.table import read_table

EVEN, MARGIN = 0.5, 1e-6
# Pairs with odds below 10 to 1 either way, and how many there may be for each certain match; in how
# many of the matches a column may differ that tells rows apart; up to how many matches must stand
# out by a gap, and how rarely such a gap is due to chance. Chosen on 47 tables (see the docs).
DOUBTFUL, MAX_DOUBTFUL_SHARE = 1 / 11, 0.45
MAX_DIFFERING, UNLIKE = 2 / 3, 2
FEW, TAIL, MIN_REST, CHANCE = 20, 50, 5, 1e-4
MAX_CHANCE_OF_RIVALS = 0.01  # of second matches that are the same record to be taken for others
MIN_COLUMNS_FOR_RECALL = 3  # with fewer, pairs cannot be found in several ways
MAX_ROWS = 100  # of a component whose pairs are all compared; larger ones lose weak pairs first
# Distances of decided pairs: far above and below all sums of those of 1 minus a probability.
TOGETHER, UNDECIDED, APART = 0.0, 1e4, 1e10
SAME = dict.fromkeys(("yes", "y", "true", "1", "same", "match"), True)
SAME |= dict.fromkeys(("no", "n", "false", "0", "different"), False)
SKIPPED = ("", "skip", "none", "nan", "?", "null")
Probability = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Expected(NamedTuple):
    """What share of the pairs decided on are right, and what share of all matches they are.

    Parameters
    ----------
    precision, recall : float
    """

    precision: float
    recall: float


@dataclass(frozen=True, eq=False)
class Linking:
    """Pairs of rows with the probability that they are the same record.

    Parameters
    ----------
    columns : sequence of PooledColumn, that were compared
    n_left : int or None
        How many rows are those of the first table; None: there is one table.
    candidates : Candidates
    levels : PairLevels
    evidence : Evidence
    probabilities : float64
        The probability of each candidate.
    decided : float64
        1 and 0 for candidates that were decided, NaN for others.
    threshold : float
        Pairs from this probability on are matches.
    one_to_one : bool
        Whether a row has one match at most.
    apart : bool
        Whether matches stand out from pairs that are merely alike; if not, nothing is decided.
    """

    columns: Sequence[PooledColumn]
    n_left: int | None
    candidates: Candidates
    levels: PairLevels
    evidence: Evidence
    probabilities: np.ndarray
    decided: np.ndarray
    threshold: float
    one_to_one: bool = False
    apart: bool = True

    @cached_property
    def matches(self) -> np.ndarray:
        """The candidates that are matches, the surest first."""
        order = np.argsort(-self.probabilities, kind="stable")
        order = order[self.probabilities[order] >= self.threshold]
        if not self.one_to_one:
            return order
        # Greedy, the surest pair first: both of its rows are then taken.
        taken: set[int] = set()
        kept = []
        pairs = zip(order.tolist(), *(side[order].tolist() for side in self._sides), strict=True)
        for number, *pair in pairs:
            if taken.isdisjoint(pair):
                taken.update(pair)
                kept.append(number)
        return np.array(kept, np.int64)

    @property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        return self.candidates.left, self.candidates.right

    @cached_property
    def groups(self) -> np.ndarray:
        """Of each row the first row of its group."""
        pairs, n = (*self._sides, self.probabilities), len(self.columns[0].codes)
        return group_rows(n, *pairs, self.threshold, self.probability, self.decided)

    def probability(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the probability of any pairs of rows, which need not be candidates."""
        odds = self.evidence.log_odds(compare_pairs(self.columns, left, right))
        return Candidates(left, right, left).probabilities(odds)

    @cached_property
    def expected(self) -> Expected:
        """The precision and recall that the probabilities imply."""
        found = self.probabilities[self.matches].sum()
        missed = count_missed(self.candidates, self.probabilities, len(self.columns))
        every = self.probabilities.sum() + missed
        # Half of one more pair (the mean of Jeffreys' prior and them): few are proof of little.
        n = len(self.matches)
        right = float((found + 0.5) / (n + 1)) if n else 1.0
        # Less than half a match in all: none is there, and none was missed.
        return Expected(right, float(found / every) if every >= 0.5 else 1.0)

    @cached_property
    def weights(self) -> np.ndarray:
        """The weight of evidence of each column of each candidate, in bits."""
        return self.evidence.weights(self.levels) / np.log(2.0)


def count_missed(candidates: Candidates, probabilities: np.ndarray, n_columns: int) -> float:
    """Return how many matches are not among the candidates (Chao 1987, doi:10.2307/2531532).

    Of the matches that are there, some were found in one column only: the more of them, the more
    were found in none.

    Parameters
    ----------
    candidates : Candidates
    probabilities : float64, their probabilities
    n_columns : int

    Examples
    --------
    >>> each = np.arange(4)
    >>> count_missed(Candidates(each, each + 4, np.array([1, 1, 2, 3])), np.ones(4), 4)
    0.375
    """
    if n_columns < MIN_COLUMNS_FOR_RECALL:
        return 0.0
    once, twice = (float(probabilities[candidates.n_columns == count].sum()) for count in (1, 2))
    # The form without bias, which is defined where nothing was found twice.
    some = max(0.0, once * (once - 1.0)) / (2.0 * (twice + 1.0))
    return some * (n_columns - 1) / n_columns


def choose_threshold(probabilities: np.ndarray, missed: float = 0.0) -> float:
    """Return the probability from which on to decide for a match, for the largest expected F1.

    It is at least one half: a match is more likely than not.

    Parameters
    ----------
    probabilities : float64
        Calibrated probabilities.
    missed : float
        How many matches are not among the pairs.

    Examples
    --------
    >>> choose_threshold(np.array([0.99, 0.9, 0.7, 0.2, 0.1])), choose_threshold(np.array([0.1]))
    (0.5, 0.5)
    """
    ordered = np.sort(probabilities)[::-1]
    if not len(ordered) or ordered[0] <= 0.0:
        return EVEN
    n_taken = np.arange(1, len(ordered) + 1)
    best = int(np.argmax(np.cumsum(ordered) / (n_taken + ordered.sum() + missed)))
    after = ordered[best + 1] if best + 1 < len(ordered) else 0.0
    return max(EVEN, float(ordered[best] + after) / 2.0)


def link_rows(
    columns: Sequence[PooledColumn],
    n_left: int | None = None,
    *,
    by: Sequence[PooledColumn] = (),
    decided: Mapping[tuple[int, int], bool] | None = None,
    threshold: float | None = None,
    one_to_one: bool = False,
    seed: int = 0,
) -> Linking:
    """Decide which rows are the same record.

    Parameters
    ----------
    columns : sequence of PooledColumn
    n_left : int, optional
        How many rows are those of the first table; None: pairs within one table.
    by : sequence of PooledColumn
        Columns in which both rows of a pair are equal.
    decided : mapping of pairs of rows to whether they are the same, optional
    threshold : float, optional
        None: chosen from the data.
    one_to_one : bool
    seed : int

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.linkage.pooled import pool
    >>> names = ["Ann Lee", "Bo Diaz", "Cy Young", "Ann Leee", "Dee Park", "Eva Holm"]
    >>> a = la.read_table({"name": names, "born": [1956, 1970, 1981, 1956, 1990, 1945]})
    >>> found = link_rows([pool(c.name, [c]) for c in a.columns + a.aside])
    >>> (
    ...     found.candidates.left[found.matches].tolist(),
    ...     found.candidates.right[found.matches].tolist(),
    ... )
    ([0], [3])
    """
    found = find_candidates(columns, n_left, _equal_rows(by))
    candidates, known = _with_decided(found, decided or {})
    levels = compare_pairs(columns, candidates.left, candidates.right)
    evidence = learn_evidence(
        columns, candidates, levels, n_left, one_to_one=one_to_one, decided=known, seed=seed
    ).calibrated(levels, known)

    def chances(compete: bool = one_to_one) -> np.ndarray:
        return candidates.probabilities(evidence.log_odds(levels), compete, known)

    probabilities = chances()
    if not one_to_one:
        competing = chances(compete=True)
        if are_rivals(levels, probabilities, competing):
            probabilities = competing
    apart = True
    if threshold is None:
        missed = count_missed(candidates, probabilities, len(columns))
        threshold = choose_threshold(probabilities, missed)
        apart = bool((known == 1.0).any()) or (
            are_two_populations(probabilities)
            and is_gap(evidence.log_odds(levels), threshold)
            and (n_left is not None or are_copies(evidence, levels, probabilities))
        )
        if not apart:
            # All odds below even, so that no pair is a match; their order stays for the review.
            offset = -max(0.0, float(evidence.log_odds(levels).max()))
            evidence = replace(evidence, offset=offset - MARGIN)
            probabilities = chances()
    learned = levels, evidence, probabilities, known
    return Linking(columns, n_left, candidates, *learned, threshold, one_to_one, apart)


def _equal_rows(by: Sequence[PooledColumn]) -> np.ndarray | None:
    """Return a number for each row, the same where cells are equal; None without columns."""
    if not by:
        return None
    keys = np.column_stack([column.codes for column in by])
    groups = np.unique(keys, axis=0, return_inverse=True)[1].ravel()  # a column in numpy 2.0
    # A missing cell equals none, so its row is in no group.
    return np.where((keys < 0).any(axis=1), -1, groups)


def are_two_populations(probabilities: np.ndarray) -> bool:
    """Whether matches stand out from pairs that are merely alike: few pairs are between the two.

    Rows without any doubles are alike by degrees; the nearest of them would still be called
    matches.

    Parameters
    ----------
    probabilities : float64

    Examples
    --------
    >>> are_two_populations(np.array([0.99] * 50 + [0.4] * 12))
    True
    >>> are_two_populations(np.array([0.99] * 20 + [0.4] * 12))
    False
    """
    doubt = np.minimum(probabilities, 1.0 - probabilities)
    n_doubtful = np.count_nonzero(doubt >= DOUBTFUL)
    return bool(n_doubtful <= MAX_DOUBTFUL_SHARE * np.count_nonzero(probabilities > 1.0 - DOUBTFUL))


def are_rivals(levels: PairLevels, probabilities: np.ndarray, competing: np.ndarray) -> bool:
    """Whether second matches of a row differ where first ones do not: distinct, but near-equal.

    A record that is there three times has slips in any column of any pair. Two restaurants of one
    hotel share all but the name. So in one column most second matches are less alike than first
    ones are, by more than chance explains (Smirnov 1939).

    Parameters
    ----------
    levels : PairLevels, of the candidates
    probabilities, competing : float64
        Of the candidates, without and with the competition of pairs that share a row.
    """
    matches = probabilities >= EVEN
    counts = []
    for part in (matches & (competing >= EVEN), matches & (competing < EVEN)):
        known = levels.levels[part].T
        counts.append(np.array([np.bincount(x[x >= 0], minlength=EQUAL + 1) for x in known]))
    sizes = [count.sum(axis=1) for count in counts]
    both = (sizes[0] > 0) & (sizes[1] > 0)
    if not both.any():
        return False
    pairs = zip(counts, sizes, strict=True)
    first, second = (np.cumsum(count[both], axis=1) / size[both, None] for count, size in pairs)
    differ = (second - first).max(axis=1)
    n_pairs = 1.0 / sizes[0][both] + 1.0 / sizes[1][both]
    by_chance = np.sqrt(np.log(len(both) / MAX_CHANCE_OF_RIVALS) / 2.0 * n_pairs)
    return bool((differ > np.maximum(EVEN, by_chance)).any())


def is_gap(log_odds: np.ndarray, threshold: float) -> bool:
    """Whether a few matches stand out from the most alike of all other pairs.

    Log odds of pairs that are merely alike fall off exponentially at their upper end, so that m
    times the gap between the m-th and the next is exponential, too (Renyi 1953). Many matches need
    no such test: what is seen between them and the others says more.

    Parameters
    ----------
    log_odds : float64
    threshold : float, a probability

    Examples
    --------
    >>> rest = -np.linspace(5.0, 12.0, 30)
    >>> is_gap(np.append(rest, [20.0, 21.0]), 0.5), is_gap(np.append(rest, 1.0), 0.5)
    (True, False)
    """
    cut = np.log(threshold / max(1.0 - threshold, MARGIN))
    ordered = np.sort(log_odds)[::-1]
    n = int(np.count_nonzero(ordered >= cut))
    rest = ordered[n : n + TAIL]
    if not 0 < n <= FEW or len(rest) < MIN_REST:
        return True
    scale = max(float((rest - rest[-1])[:-1].mean()), MARGIN)
    return bool(n * (ordered[n - 1] - rest[0]) / scale > -np.log(CHANCE))


def are_copies(evidence: Evidence, levels: PairLevels, probabilities: np.ndarray) -> bool:
    """Whether matches differ by slips rather than by rule: products that differ in the name only.

    Between two tables names may differ by rule; within one a copy has its cells from the original.

    Parameters
    ----------
    evidence : Evidence
    levels : PairLevels, of the candidates
    probabilities : float64, of the candidates
    """
    matches = probabilities >= EVEN
    unlike = (levels.levels[matches] < UNLIKE) & (levels.levels[matches] >= 0)
    known = (levels.levels[matches] >= 0).sum(axis=0)
    # Two imaginary matches that agree: a few may differ by accident.
    differing = unlike.sum(axis=0) / (known + 2.0)
    telling = evidence.others[:, :UNLIKE].sum(axis=1) > EVEN
    return not bool((telling & (differing > MAX_DIFFERING)).any())


def _with_decided(
    found: Candidates, decided: Mapping[tuple[int, int], bool]
) -> tuple[Candidates, np.ndarray]:
    """Return candidates with decided pairs among them, and what was decided: 1, 0 or NaN."""
    if not decided:
        return found, np.full(len(found), np.nan)
    pairs = [*zip(found.left.tolist(), found.right.tolist(), strict=True)]
    known = {*pairs}
    new = [pair for pair in decided if pair not in known]
    # No key found them: with the columns of well-found pairs ``count_missed`` leaves them out.
    extra = *np.array(new, np.int64).reshape(-1, 2).T, np.full(len(new), MIN_COLUMNS_FOR_RECALL)
    parts = zip((found.left, found.right, found.n_columns), extra, strict=True)
    said = [float(decided.get(pair, np.nan)) for pair in (*pairs, *new)]
    return Candidates(*map(np.concatenate, parts)), np.array(said)


# -- groups ----------------------------------------------------------------------------------------


def group_rows(
    n: int,
    left: np.ndarray,
    right: np.ndarray,
    probabilities: np.ndarray,
    threshold: float,
    probability: Probability,
    decided: np.ndarray | None = None,
) -> np.ndarray:
    """Return the group of each row: the first of its rows.

    Parameters
    ----------
    n : int
        How many rows there are.
    left, right : int64, the rows of pairs
    probabilities : float64
        The probability that each pair is a match.
    threshold : float
        Pairs from this probability on connect rows, and the average within a group is no less.
    probability : function of two arrays of rows, for pairs that are not among those given
    decided : float64, optional
        1 for pairs that are in one group at any rate, 0 for pairs that never are, NaN for others.

    Examples
    --------
    Rows 0 to 2 are alike, 3 and 4 too; one pair between them, 2 and 3, is a mistake.

    >>> left, right = np.array([0, 0, 1, 2, 3]), np.array([1, 2, 2, 3, 4])
    >>> group_rows(5, left, right, np.full(5, 0.9), 0.5, lambda i, j: np.zeros(len(i))).tolist()
    [0, 0, 0, 3, 3]
    """
    decided = np.full(len(left), np.nan) if decided is None else decided
    groups = np.arange(n)
    parts = [*_components(n, left, right, np.where(decided == 0, 0.0, probabilities), threshold)]
    # Two rows that are connected agree: a weak bridge needs a third one.
    checked = [rows for rows in parts if 2 < len(rows) <= MAX_ROWS]
    for rows in parts:
        groups[rows] = rows[0]
    to = np.select([decided == 1, decided == 0], [TOGETHER, APART], UNDECIDED + 1.0 - probabilities)
    known = left * n + right, to
    for rows, condensed in zip(checked, _distances(checked, n, known, probability), strict=True):
        # Means of many distances are rounded: one that equals the cut must not exceed it.
        cut = UNDECIDED + 1.0 - threshold
        from scipy.cluster.hierarchy import fcluster, linkage  # not to be loaded by a join

        labels = fcluster(linkage(condensed, "average"), cut + 1e-9, "distance")
        _, first = np.unique(labels, return_index=True)
        groups[rows] = rows[first[labels - 1]]
    return groups


def _components(
    n: int, left: np.ndarray, right: np.ndarray, probabilities: np.ndarray, threshold: float
) -> Iterator[np.ndarray]:
    """Yield connected components of at least two rows; large ones lose their weakest pairs."""
    from scipy.sparse import coo_array  # not to be loaded by a join, as above
    from scipy.sparse.csgraph import connected_components

    kept = probabilities >= threshold
    left, right, probabilities = left[kept], right[kept], probabilities[kept]
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(n, n))
    _, labels = connected_components(graph, directed=False)
    order = np.argsort(labels, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if len(rows) <= MAX_ROWS:
            if len(rows) > 1:
                yield rows
            continue
        inside = labels[left] == labels[rows[0]]
        i, j, weights = left[inside], right[inside], probabilities[inside]
        stricter = float(np.median(weights))
        if stricter <= threshold:  # half of the pairs are as sure as can be: copies of one record
            yield rows
            continue
        at = np.searchsorted(rows, i), np.searchsorted(rows, j)
        for part in _components(len(rows), *at, weights, stricter):
            yield rows[part]


def _distances(
    groups: list[np.ndarray], n: int, known: tuple[np.ndarray, np.ndarray], probability: Probability
) -> list[np.ndarray]:
    """Return the distances of all pairs of rows of each group, as ``linkage`` takes them."""
    if not groups:
        return []
    pairs = [np.sort(rows)[np.array(np.triu_indices(len(rows), 1))] for rows in groups]
    left, right = np.concatenate(pairs, axis=1)
    order, wanted = np.argsort(known[0]), left * n + right
    place = np.minimum(np.searchsorted(known[0], wanted, sorter=order), len(order) - 1)
    place = order[place]
    found = known[0][place] == wanted
    out = np.where(found, known[1][place], 0.0)
    out[~found] = UNDECIDED + 1.0 - probability(left[~found], right[~found])
    return np.split(out, np.cumsum([both.shape[1] for both in pairs])[:-1])


# -- decisions by hand -----------------------------------------------------------------------------


def _decision(said: Any) -> bool | None:
    """Read whether two rows are the same; None where that is left open."""
    # A column of 1, 0 and empty cells is read as numbers, so that 1 is written 1.0.
    word = "" if said is None else str(said).strip().lower().removesuffix(".0")
    if word not in SAME and word not in SKIPPED:
        raise _refused("yes, no or skip as 'same'", repr(said))
    return SAME.get(word)


def read_decisions(
    given: Any, ids: tuple[Sequence[Any], Sequence[Any]], shift: int = 0
) -> dict[tuple[int, int], bool]:
    """Return decided pairs as positions of rows, the lower first.

    Parameters
    ----------
    given : path of a CSV file, frame, or list of mappings
        With the columns ``left``, ``right`` and ``same`` (yes, no or skip), or the keys ``pair``
        and ``same``.
    ids : lists, the ids of the rows of either table
    shift : int
        Added to the positions in the second table.

    Examples
    --------
    >>> ids = ["a", "b", "c"]
    >>> read_decisions(
    ...     [{"pair": ["c", "a"], "same": "no"}, {"pair": ["a", "b"], "same": ""}], (ids, ids)
    ... )
    {(0, 2): False}
    """
    if given is None:
        return {}
    found: dict[tuple[int, int], bool] = {}
    # As texts too: a CSV file has no other ids.
    places = [dict(zip(map(str, some), range(len(some)), strict=True)) for some in ids]
    for record in _records(given):
        same = _decision(record.get("same"))
        if same is None:
            continue
        pair = record.get("pair", (record.get("left"), record.get("right")))
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise _refused("two ids for each pair", repr(pair))
        a, b = (_find(id, known) for id, known in zip(pair, places, strict=True))
        key = (min(a, b + shift), max(a, b + shift))
        if key[0] == key[1]:
            raise _refused("two different rows", f"row {pair[0]!r} with itself")
        if found.setdefault(key, same) != same:
            raise _refused("one decision for each pair", f"both yes and no for {[*pair]}")
    check_consistent(found, [*ids[0], *ids[1]])
    return found


def _records(given: Any) -> list[Mapping[str, Any]]:
    if isinstance(given, list | tuple):
        wrong = [one for one in given if not isinstance(one, Mapping)]
        if wrong:
            raise _refused("a list of mappings", repr(wrong[0]))
        return list(given)
    table = read_table(given)
    known = {column.name for column in table.every}
    if gone := [name for name in ("left", "right", "same") if name not in known]:
        raise _refused("the columns left, right and same", f"no {gone[0]!r}")
    return [table.record(row) for row in range(len(table))]


def _find(id: Any, places: Mapping[str, int]) -> int:
    text = str(id).removesuffix(".0") if isinstance(id, float) else str(id)
    if text not in places:
        hint = suggest(text, [*places][:10_000])
        raise InvalidInput(Param("decisions"), "ids of rows of the table", repr(id), hint)
    return places[text]


def _refused(needed: str, found: str) -> InvalidInput:
    hint = ("Pass for example ", Param("decisions", [{"pair": [3, 17], "same": True}]))
    return InvalidInput(Param("decisions"), needed, found, hint)


def check_consistent(decided: Mapping[tuple[int, int], bool], ids: Sequence[Any]) -> None:
    """Refuse decisions that contradict each other: a is b, b is c, but c is not a.

    Parameters
    ----------
    decided : mapping of pairs of positions to whether they are the same
    ids : the id of the row at each position
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = sorted({row for pair in decided for row in pair})
    same = [pair for pair, alike in decided.items() if alike]
    places = np.searchsorted(rows, np.array(same, np.int64).reshape(-1, 2))
    graph = coo_array((np.ones(len(same)), tuple(places.T)), shape=(len(rows), len(rows)))
    groups = dict(zip(rows, connected_components(graph, directed=False)[1].tolist(), strict=True))
    for (a, b), alike in decided.items():
        if not alike and groups[a] == groups[b]:
            found = f"{ids[a]!r} and {ids[b]!r} are different, but the same by other decisions"
            hint = "Take one of them back"
            raise InvalidInput(Param("decisions"), "no contradiction", found, hint)
