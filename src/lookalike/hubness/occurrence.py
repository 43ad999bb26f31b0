"""The k-occurrence: in how many neighbor lists each row is; hubs, orphans and inequality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput, Param
from lookalike.evaluate.space import Space, as_space, lists_of, size_of
from lookalike.measures.contract.rows import check_k
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Choice, Real
from lookalike.table.model.targets import code_labels

TIES = Choice("index", "expected", "random")


def k_occurrence(
    space: Any, k: int = 5, *, ties: str = "index", random_state: Any = None
) -> np.ndarray:
    """Count for each row in how many lists of k nearest neighbors it is.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    k : int
        Length of the lists.
    ties : {"index", "expected", "random"}
        How ties for the last entries of a list are broken. ``index``: the lower position wins.
        ``expected``: tied rows share the entries, so that counts are means over all ways to break
        the ties, and measures with many ties show no artificial hubs. ``random``: drawn.
    random_state : None, int, RandomState or Generator
        For ``ties="random"``.

    Returns
    -------
    array of n; it sums to n * k

    References
    ----------
    .. [1] Radovanovic, Nanopoulos, Ivanovic (2010). Hubs in Space: Popular Nearest Neighbors in
       High-Dimensional Data. Journal of Machine Learning Research 11, 2487-2531.

    Examples
    --------
    >>> from lookalike.hubness import k_occurrence
    >>> from lookalike.measures import Vector
    >>> k_occurrence(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), k=2)
    array([2, 3, 3, 0])
    """
    checked = as_space(space, "k_occurrence")
    return _tally(checked, k, ties, random_state, None, "k_occurrence")[0]


def badness(
    space: Any, y: Any, k: int = 5, *, ties: str = "index", random_state: Any = None
) -> np.ndarray:
    """Count for each row in how many lists of rows with another label it is.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    y : n labels
    k : int
        Length of the lists.
    ties : {"index", "expected", "random"}
        As in ``k_occurrence``.
    random_state : None, int, RandomState or Generator
        For ``ties="random"``.

    Examples
    --------
    >>> from lookalike.hubness import badness
    >>> from lookalike.measures import Vector
    >>> badness(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), [0, 0, 1, 1], k=2)
    array([1, 2, 2, 0])
    """
    checked = as_space(space, "badness")
    codes, _ = code_labels(y, size_of(checked), "badness")
    return _tally(checked, k, ties, random_state, codes, "badness")[1]


def _tally(
    space: Space, k: int, ties: str, random_state: Any, codes: np.ndarray | None, who: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return occurrences, and those in lists of rows with another label."""
    TIES.check(who, "ties", ties)
    lists = lists_of(space, k, who)
    n = len(lists)
    occurrence, bad = np.zeros(n), np.zeros(n)

    def add(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> None:
        occurrence[:] += np.bincount(columns, weights, minlength=n)
        if codes is not None:
            other = codes[rows] != codes[columns]
            bad[:] += np.bincount(columns[other], weights[other], minlength=n)

    owners = np.repeat(np.arange(n), k)
    if ties == "index":
        add(owners, lists.indices.ravel(), np.ones(n * k))
    else:
        # Rows nearer than the last entry are in the list however ties are broken; all rows at its
        # distance, also those outside of the list, share the entries that are left.
        last = lists.distances[:, -1]
        nearer = lists.distances < last[:, None]
        sure = nearer.ravel()
        add(owners[sure], lists.indices.ravel()[sure], np.ones(int(sure.sum())))
        n_left = k - nearer.sum(axis=1)
        rng = make_generator(random_state)
        for part, tied in _tied(space, last, k, who):
            if ties == "random":
                tied = _draw(tied, n_left[part], rng)
            rows, columns = np.nonzero(tied)
            share = n_left[part] / tied.sum(axis=1)
            add(rows + part.start, columns, share[rows])
    if ties == "expected":
        return occurrence, bad
    return occurrence.astype(np.int64), bad.astype(np.int64)


def _tied(space: Space, last: np.ndarray, k: int, who: str) -> Any:
    """Yield (rows, mask over all rows) of the rows at the distance of the last entry."""
    n = len(last)
    if isinstance(space, NeighborGraph):
        # A graph shows all ties of entry k only if its lists go on beyond them.
        complete = space.k == n - 1 or (space.k > k and (space.distances[:, -1] > last).all())
        if not complete:
            needed, found = "lists that reach beyond all ties of their last entry", space.k
            hint = ("Make the graph with a larger ", Param("k"), ", or pass the measure")
            raise InvalidInput(Param("ties", of=who), needed, f"lists of {found}", hint)
    for part in blocks(n, max(1, 2**21 // n)):  # 16 MB of distances at a time
        if isinstance(space, NeighborGraph):
            mask = np.zeros((part.stop - part.start, n), dtype=bool)
            rows, entries = np.nonzero(space.distances[part] == last[part, None])
            mask[rows, space.indices[part][rows, entries]] = True
        else:
            block = space.block(space.rows_[part], space.rows_)
            # Rows that cannot be compared are tied at the end of every list.
            block[np.isnan(block)] = np.inf
            mask = block == last[part, None]
            mask[np.arange(len(mask)), np.arange(part.start, part.stop)] = False
        yield part, mask


def _draw(tied: np.ndarray, n_left: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw as many of the tied rows of each list as there are entries left."""
    keys = np.where(tied, rng.random(tied.shape), np.inf)
    rank = np.argsort(keys, axis=1, kind="stable").argsort(axis=1)
    return tied & (rank < n_left[:, None])


@dataclass(frozen=True, eq=False)
class HubsAndOrphans:
    """Hubs, which are in many lists, and orphans, which are in none.

    Parameters
    ----------
    occurrence : array of n
        In how many lists of k each row is.
    k : float
    factor : float
        A hub is in more than ``factor * k`` lists.
    """

    occurrence: np.ndarray
    k: float
    factor: float = 5.0

    @property
    def hubs(self) -> np.ndarray:
        """Positions of rows in more than ``factor * k`` lists, the largest first."""
        rows = np.flatnonzero(self.occurrence > self.factor * self.k)
        return rows[np.argsort(-self.occurrence[rows], kind="stable")]

    @property
    def orphans(self) -> np.ndarray:
        """Positions of rows in no list."""
        return np.flatnonzero(self.occurrence == 0)

    @property
    def others(self) -> np.ndarray:
        """Positions of the rest."""
        counts = self.occurrence
        return np.flatnonzero((counts > 0) & (counts <= self.factor * self.k))

    @property
    def largest(self) -> float:
        """The largest occurrence."""
        return float(self.occurrence.max(initial=0))

    def groups(self) -> dict[str, np.ndarray]:
        """Return the three groups by name."""
        return {"hubs": self.hubs, "orphans": self.orphans, "others": self.others}

    def mean_occurrence(self, occurrence: np.ndarray | None = None) -> dict[str, float | None]:
        """Return the mean occurrence of each group; None for a group without members.

        Parameters
        ----------
        occurrence : array of n, optional
            That of another space, such as after reduction; the groups stay these.
        """
        counts = self.occurrence if occurrence is None else np.asarray(occurrence)
        groups = self.groups().items()
        return {name: float(counts[g].mean()) if len(g) else None for name, g in groups}

    def badness(
        self, bad: np.ndarray, occurrence: np.ndarray | None = None
    ) -> dict[str, float | None]:
        """Return the percentage of bad occurrences of each group; None where there are none.

        Parameters
        ----------
        bad : array of n
            As from ``badness``, of this or of another space.
        occurrence : array of n, optional
            The occurrence that belongs to it.
        """
        counts = self.occurrence if occurrence is None else np.asarray(occurrence)
        rates: dict[str, float | None] = {}
        for name, rows in self.groups().items():
            total = float(counts[rows].sum())
            rates[name] = 100 * float(np.asarray(bad)[rows].sum()) / total if total > 0 else None
        return rates


def hubs_and_orphans(
    space: Any, k: int = 5, *, factor: float = 5.0, ties: str = "index"
) -> HubsAndOrphans:
    """Find the rows that are in very many lists of neighbors, and those that are in none.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix; or occurrences, an array of n
    k : int
        Length of the lists.
    factor : float
        A hub is in more than ``factor * k`` lists.
    ties : {"index", "expected", "random"}
        As in ``k_occurrence``.

    Examples
    --------
    >>> from lookalike.hubness import hubs_and_orphans
    >>> from lookalike.measures import Vector
    >>> found = hubs_and_orphans(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), k=1)
    >>> found.hubs, found.orphans, found.largest
    (array([], dtype=int64), array([3]), 2.0)
    """
    if isinstance(space, np.ndarray) and space.ndim == 1:
        check_k(k, max(1, len(space) - 1), "hubs_and_orphans", True)
        return HubsAndOrphans(space, k, factor)
    return HubsAndOrphans(k_occurrence(space, k, ties=ties), k, factor)


def reachability(space: Any, k: int = 5) -> float:
    """Return the share of rows that are in at least one list: what browsing can ever reach.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    k : int
        Length of the lists.

    Examples
    --------
    >>> from lookalike.hubness import reachability
    >>> from lookalike.measures import Vector
    >>> reachability(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), k=1)
    0.75
    """
    return float((k_occurrence(space, k) > 0).mean())


def symmetric_share(space: Any, k: int | float = 5) -> float:
    """Return the share of neighbors that have the row among their own neighbors as well.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    k : int, or float between 0 and 1
        Length of the lists, or a share of the rows (rounded, at least 1).

    Examples
    --------
    >>> from lookalike.hubness import symmetric_share
    >>> from lookalike.measures import Vector
    >>> symmetric_share(Vector().fit([[0.0], [1.0], [3.0], [7.0]]), k=2)
    0.75
    """
    checked = as_space(space, "symmetric_share")
    n = size_of(checked)
    if isinstance(k, float) and 0 < k < 1:
        k = max(1, round(k * n))
    lists = lists_of(checked, k, "symmetric_share")  # type: ignore[arg-type]
    rows = np.repeat(np.arange(n), lists.k)
    columns = lists.indices.ravel()
    # A pair of rows as one number, so that reversed pairs are found by one sort.
    return float(np.isin(columns * n + rows, rows * n + columns).mean())


def antihub_scores(space: Any, k: int = 5) -> np.ndarray:
    """Score rows as outliers by how few lists reach them, and those around them: AntiHub2 [1]_.

    With N the k-occurrence, a row gets ``(1 - a) N(x) + a sum of N over its k nearest rows``, and
    its score is 1 over that plus 1: in few lists, among rows in few lists. Of a = 0, 0.1, ..., 1
    the first is taken that leaves the most different values among the tenth of the rows with the
    lowest ones: N alone has many ties, and no more than orphans at its end.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    k : int
        Length of the lists.

    Returns
    -------
    float64 array of n, in (0, 1]; the higher, the more of an outlier

    References
    ----------
    .. [1] M. Radovanovic, A. Nanopoulos, M. Ivanovic (2015). Reverse nearest neighbors in
       unsupervised distance-based outlier detection. IEEE Transactions on Knowledge and Data
       Engineering 27(5). doi:10.1109/TKDE.2014.2365790

    Examples
    --------
    >>> from lookalike.hubness import antihub_scores
    >>> from lookalike.measures import Vector
    >>> antihub_scores(Vector().fit([[0.0], [1.0], [2.0], [9.0]]), k=2).argmax()
    np.int64(3)
    """
    lists = lists_of(as_space(space, "antihub_scores"), k, "antihub_scores")
    counts = np.bincount(lists.indices[:, :k].ravel(), minlength=len(lists)).astype(np.float64)
    around = counts[lists.indices[:, :k]].sum(axis=1)
    n_lowest = max(1, round(0.1 * len(lists)))
    best, most = counts, -1
    for step in range(11):
        # In tenths, so that equal mixtures are equal numbers.
        mixed = ((10 - step) * counts + step * around) / 10
        different = len(np.unique(np.sort(mixed)[:n_lowest]))
        if different > most:
            best, most = mixed, different
    return np.asarray(1.0 / (1.0 + best))


# -- inequality ------------------------------------------------------------------------------------
# The k-occurrence as one number. The measures beside the skewness are those of Feldbauer,
# Leodolter, Plant, Flexer (2018), Fast Approximate Hubness Reduction for Large High-Dimensional
# Data, doi:10.1109/ICBK.2018.00055, and of the program that grew out of it: Feldbauer, Rattei,
# Flexer (2020), scikit-hubness, doi:10.21105/joss.01957.


def skewness(occurrence: Any) -> float:
    """Return the skewness of occurrences: 0 if symmetric, above about 1.4 there are strong hubs.

    ``m3 / m2**1.5`` with the central moments of the n occurrences, without bias correction; 0 if
    all are equal. With lists of k = 5 it is the S5 of the literature [1]_.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    References
    ----------
    .. [1] Radovanovic, Nanopoulos, Ivanovic (2010). Hubs in Space: Popular Nearest Neighbors in
       High-Dimensional Data. Journal of Machine Learning Research 11, 2487-2531.

    Examples
    --------
    >>> from lookalike.hubness import skewness
    >>> round(skewness([2, 3, 3, 0]), 6)
    -0.816497
    """
    counts = _counts(occurrence, "skewness")
    deviations = counts - counts.mean()
    variance = float((deviations**2).mean())
    # Shared ties are fractions: equal occurrences may differ in the last bits.
    if variance <= (1e-12 * counts.mean()) ** 2:
        return 0.0
    return float((deviations**3).mean() / variance**1.5)


def robin_hood(occurrence: Any) -> float:
    """Return the share of occurrences to be moved for all rows to have equally many.

    ``sum |N_i - mean N| / (2 sum N)``; 0 for equal shares, below 1 always.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import robin_hood
    >>> robin_hood([2, 3, 3, 0])
    0.25
    """
    counts = _counts(occurrence, "robin_hood")
    total = float(counts.sum())
    return float(np.abs(counts - counts.mean()).sum() / (2 * total)) if total > 0 else 0.0


def gini(occurrence: Any) -> float:
    """Return the Gini index of the occurrences: 0 for equal shares, near 1 if one row has all.

    ``sum_ij |N_i - N_j| / (2 n sum N)``.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import gini
    >>> gini([2, 3, 3, 0])
    0.3125
    """
    counts = np.sort(_counts(occurrence, "gini"))
    n, total = len(counts), float(counts.sum())
    if total == 0:
        return 0.0
    # In ascending order entry i is the larger one in i pairs and the smaller one in n - 1 - i.
    return float(((2 * np.arange(n) - n + 1) * counts).sum() / (n * total))


def atkinson(occurrence: Any, epsilon: float = 0.5) -> float:
    """Return the Atkinson index of the occurrences: 0 for equal shares, at most 1.

    ``1 - (mean N**(1 - e))**(1 / (1 - e)) / mean N``, and for e = 1 one minus the geometric mean
    over the mean. The larger e, the more the orphans count.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``
    epsilon : float from 0 to 1

    Examples
    --------
    >>> from lookalike.hubness import atkinson
    >>> round(atkinson([2, 3, 3, 0]), 4)
    0.2563
    """
    Real(0.0, 1.0).check("atkinson", "epsilon", epsilon, "Choose a number in this range")
    counts = _counts(occurrence, "atkinson")
    mean = float(counts.mean())
    if mean == 0:
        return 0.0
    if epsilon == 1:
        level = float(np.exp(np.log(counts).mean())) if (counts > 0).all() else 0.0
    else:
        level = float((counts ** (1 - epsilon)).mean() ** (1 / (1 - epsilon)))
    return max(0.0, 1 - level / mean)


def groupie_ratio(occurrence: Any) -> float:
    """Return the share of rows that have the largest hub in their list: ``max N / n``.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import groupie_ratio
    >>> groupie_ratio([2, 3, 3, 0])
    0.75
    """
    counts = _counts(occurrence, "groupie_ratio")
    return float(counts.max() / len(counts))


def antihub_occurrence(occurrence: Any) -> float:
    """Return the share of rows that are in no list (anti-hubs, or orphans).

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``

    Examples
    --------
    >>> from lookalike.hubness import antihub_occurrence
    >>> antihub_occurrence([2, 3, 3, 0])
    0.25
    """
    return float((_counts(occurrence, "antihub_occurrence") == 0).mean())


def hub_occurrence(occurrence: Any, factor: float = 5.0) -> float:
    """Return the share of all occurrences that are those of hubs.

    ``sum of N over rows with N > factor * k / sum N``, where k, the length of the lists, is the
    mean of N.

    Parameters
    ----------
    occurrence : array of n, from ``k_occurrence``
    factor : float
        How many times k a hub has; 5 as in ``hubs_and_orphans``. scikit-hubness takes 2.

    Examples
    --------
    >>> from lookalike.hubness import hub_occurrence
    >>> hub_occurrence([2, 3, 3, 0], factor=1.2)
    0.75
    """
    counts = _counts(occurrence, "hub_occurrence")
    total = float(counts.sum())
    hubs = counts > factor * counts.mean()
    return float(counts[hubs].sum() / total) if total > 0 else 0.0


def _counts(occurrence: Any, who: str) -> np.ndarray:
    counts = np.asarray(occurrence, dtype=np.float64)
    if counts.ndim != 1 or not len(counts) or not np.isfinite(counts).all() or (counts < 0).any():
        needed, found = "a finite occurrence >= 0 for each row", f"an array of shape {counts.shape}"
        raise InvalidInput(who, needed, found, "Pass what k_occurrence returns")
    return counts
