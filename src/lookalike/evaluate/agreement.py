"""Whether neighbors agree with labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput
from lookalike.evaluate.space import as_space, lists_of, needs_distances, size_of
from lookalike.evaluate.vote import vote
from lookalike.measures.contract.matrices import check_pairs
from lookalike.saving.fields import Choice
from lookalike.table.model.targets import code_labels, label_sets


def loo_predict(space: Any, y: Any, k: int = 5, *, tie: str = "first") -> np.ndarray:
    """Guess the label of each row from its k nearest others.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    y : n labels
    k : int
        Number of neighbors that vote.
    tie : {"first", "nearest"}
        Which label wins when several have the most votes: that of the nearest neighbor which has
        one of them, or that of the very nearest neighbor whatever its votes.

    Returns
    -------
    array of n labels

    Examples
    --------
    >>> from lookalike.evaluate import loo_predict
    >>> from lookalike.measures import Vector
    >>> loo_predict(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), [0, 0, 1, 1], k=1)
    array([0, 0, 0, 1])
    """
    codes, labels = _vote(space, y, k, tie, "loo_predict")[1:]
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    # An array of objects keeps labels of mixed types as they are.
    dtype = np.asarray(y).dtype
    return out[codes].astype(dtype) if dtype.kind in "biufUS" else out[codes]


def loo_accuracy(space: Any, y: Any, k: int = 5, *, tie: str = "first") -> float:
    """Return the share of rows whose k nearest others vote for their label.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    y : n labels
    k : int
        Number of neighbors that vote.
    tie : {"first", "nearest"}
        As in ``loo_predict``.

    Examples
    --------
    >>> from lookalike.evaluate import loo_accuracy
    >>> from lookalike.measures import Vector
    >>> loo_accuracy(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), [0, 0, 1, 1], k=1)
    0.75
    """
    truth, codes, _ = _vote(space, y, k, tie, "loo_accuracy")
    return float((codes == truth).mean())


def _vote(
    space: Any, y: Any, k: int, tie: str, who: str
) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Return true codes, elected codes and the labels."""
    Choice("first", "nearest").check(who, "tie", tie)
    checked = as_space(space, who)
    truth, labels = code_labels(y, size_of(checked), who)
    neighbors = truth[lists_of(checked, k, who).indices]
    elected = vote(neighbors, np.ones(neighbors.shape), len(labels), tie)
    return truth, elected, labels


@dataclass(frozen=True)
class McNemar:
    """Outcome of McNemar's test.

    Parameters
    ----------
    statistic : float
        chi-squared with one degree of freedom; the smaller of the two counts if exact.
    pvalue : float
    only_first, only_second : int
        Objects on which only one of the two was right.
    """

    statistic: float
    pvalue: float
    only_first: int
    only_second: int

    @property
    def significant(self) -> bool:
        """Whether p is below 0.05."""
        return self.pvalue < 0.05


def mcnemar(first: Any, second: Any, *, exact: bool = False) -> McNemar:
    """Test whether one of two classifiers is right more often than the other on the same rows.

    ``max(|b - c| - 1, 0)**2 / (b + c)``, where b and c count the rows on which only the first or
    only the second is right [1]_.

    Parameters
    ----------
    first, second : n truth values
        On which rows each of the two is right.
    exact : bool
        Take the two-sided binomial test instead of chi-squared; better if b + c is below 25.

    References
    ----------
    .. [1] McNemar (1947). Note on the sampling error of the difference between correlated
       proportions or percentages. Psychometrika 12. doi:10.1007/BF02295996

    Examples
    --------
    >>> from lookalike.evaluate import mcnemar
    >>> test = mcnemar([True] * 10 + [False] * 2, [False] * 10 + [True] * 2)
    >>> round(test.statistic, 6), round(test.pvalue, 6)
    (4.083333, 0.043308)
    """
    from scipy.stats import binomtest, chi2

    one, two = np.asarray(first), np.asarray(second)
    if one.shape != two.shape or one.ndim != 1 or one.dtype != bool or two.dtype != bool:
        found = f"shapes {one.shape} and {two.shape}, types {one.dtype} and {two.dtype}"
        hint = "Compare predictions with the labels first"
        raise InvalidInput("mcnemar", "two boolean arrays of n: right or wrong", found, hint)
    b, c = int((one & ~two).sum()), int((~one & two).sum())
    if b + c == 0:  # the two never differ: 0 / 0 in the formula, and no evidence against equality
        return McNemar(0.0, 1.0, b, c)
    if exact:
        return McNemar(float(min(b, c)), float(binomtest(b, b + c).pvalue), b, c)
    statistic = max(abs(b - c) - 1, 0) ** 2 / (b + c)
    return McNemar(statistic, float(chi2.sf(statistic, 1)), b, c)


def goodman_kruskal(space: Any, y: Any) -> float:
    """Measure whether rows with one label lie closer together than rows with different labels.

    ``(Q_c - Q_d) / (Q_c + Q_d)``: of all pairs of a distance within a label and a distance between
    labels, Q_c have the former smaller and Q_d larger. 1 is perfect, 0 none, and only the order of
    distances matters, so different measures can be compared [1]_. Ties and pairs of rows that
    cannot be compared do not count; without any comparison the value is 0.

    Parameters
    ----------
    space : fitted measure or square matrix of distances
    y : n labels

    References
    ----------
    .. [1] Goodman, Kruskal (1954). Measures of Association for Cross Classifications. Journal of
       the American Statistical Association 49. doi:10.1080/01621459.1954.10501231

    Examples
    --------
    >>> from lookalike.evaluate import goodman_kruskal
    >>> from lookalike.measures import Vector
    >>> goodman_kruskal(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), [0, 0, 1, 1])
    0.5
    """
    measure = needs_distances(as_space(space, "goodman_kruskal"), "goodman_kruskal")
    rows = measure.rows_
    n = len(rows)
    codes, _ = code_labels(y, n, "goodman_kruskal")
    # A symmetric measure is read above the diagonal only: half the pairs, half the memory.
    both_ways = not measure.traits.symmetric
    size, hint = 8 if both_ways else 4, "Take a sample of the rows"
    check_pairs("goodman_kruskal", n, n, hint, bytes_per_pair=size, what="all distances")

    def split_block(part: slice) -> tuple[np.ndarray, np.ndarray]:
        others = slice(0 if both_ways else part.start, n)
        d = measure.block(rows[part], rows[others])
        left, right = np.arange(part.start, part.stop)[:, None], np.arange(others.start, n)
        counts = (left != right if both_ways else left < right) & ~np.isnan(d)
        same = codes[left] == codes[right]
        return d[counts & same], d[counts & ~same]

    parts = [(part,) for part in blocks(n, 128)]
    sides = zip(*run(split_block, parts, getattr(measure, "n_jobs", None)), strict=True)
    within, between = (np.sort(np.concatenate(side)) for side in sides)
    concordant, discordant = _count_pairs(within, between), _count_pairs(between, within)
    total = concordant + discordant
    return (concordant - discordant) / total if total else 0.0


def _count_pairs(low: np.ndarray, high: np.ndarray) -> int:
    """Count pairs with the first below the second; both sorted. Python integers: no overflow."""
    # Search for the shorter side in the longer one: m log n instead of n log m steps. Equal
    # distances are counted on neither side, hence "right" for the low and "left" for the high.
    total = 0
    for part in blocks(min(len(low), len(high)), 1 << 16):
        if len(low) <= len(high):
            counts = len(high) - np.searchsorted(high, low[part], "right")
        else:
            counts = np.searchsorted(low, high[part], "left")
        total += int(counts.sum())
    return total


def label_agreement(space: Any, labels: Sequence[Any], k: int = 5) -> np.ndarray:
    """Return for each row how well its sets of labels agree with those of its k neighbors.

    The mean over the neighbors of ``|G(x) & G(y)| / |G(x) | G(y)|``; two empty sets count 0.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    labels : n collections of labels
    k : int
        Number of neighbors.

    Examples
    --------
    >>> from lookalike.evaluate import label_agreement
    >>> from lookalike.measures import Vector
    >>> genres = [{"rock"}, {"rock", "pop"}, {"pop"}, set()]
    >>> label_agreement(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), genres, k=1)
    array([0.5, 0.5, 0.5, 0. ])
    """
    checked = as_space(space, "label_agreement")
    sets = label_sets(labels, size_of(checked), "label_agreement")
    lists = lists_of(checked, k, "label_agreement")
    totals = np.zeros(len(sets))
    for i, near in enumerate(lists.indices.tolist()):
        for j in near:
            union = len(sets[i] | sets[j])
            # Two rows without labels are 0 / 0; they share nothing, so they count 0.
            totals[i] += len(sets[i] & sets[j]) / union if union else 0.0
    return np.asarray(totals / lists.k)


def retrieval_accuracy(
    space: Any, labels: Sequence[Any], k: int = 5, *, skip_unlabelled: bool = False
) -> float:
    """Return how well lists of k neighbors match when rows carry several labels each.

    The mean of ``label_agreement`` over all rows.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    labels : n collections of labels
    k : int
        Number of neighbors.
    skip_unlabelled : bool
        Leave rows without any label out of the mean; they remain in the lists of others.

    Examples
    --------
    >>> from lookalike.evaluate import retrieval_accuracy
    >>> from lookalike.measures import Vector
    >>> genres = [{"rock"}, {"rock", "pop"}, {"pop"}, set()]
    >>> retrieval_accuracy(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), genres, k=1)
    0.375
    """
    agreement = label_agreement(space, labels, k)
    if skip_unlabelled:
        agreement = agreement[[len(cell) > 0 for cell in labels]]
        if not len(agreement):
            who = "retrieval_accuracy"
            raise InvalidInput(who, "rows with labels", "none", "Pass their labels")
    return float(agreement.mean())
