"""Hubs of a large collection of vectors, counted over sampled queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import make_generator
from lookalike._runtime.text import plain, short
from lookalike._runtime.threads import blocks
from lookalike.errors import Param, TooFewRows, WrongType
from lookalike.saving.fields import Integer
from lookalike.show import layout
from lookalike.show.result import Result, Spell

if TYPE_CHECKING:
    from rich.console import Console

N_QUERIES = 2_000  # in each half of the queries, at least, and in the bank of the other half
# More of fewer rows, so that every collection up to 100,000 takes about as long: with 2,000 of
# 20,000 the noise of counts fills the budget with other rows (60 % of planted hubs found, not 97).
N_PAIRS = 200_000_000
BLOCK_CELLS = 2**23  # similarities in memory at a time: 32 MB
FACTOR = 5.0  # times as many lists as a row is in on average; as in ``hubness_report``
MAX_HUB_SHARE = 0.002  # of the rows that are named hubs, as in the paper
N_SHOWN = 10


@dataclass(frozen=True, eq=False)
class HubScan(Result):
    """Hubs of a collection of vectors, before and after a reduction.

    Parameters
    ----------
    hubs : int64 array
        Positions of the rows in unusually many lists, most first.
    before, after : int64 arrays
        In how many of the sampled lists each row is, by cosine and after the reduction.
    caught_before, caught_after : float
        The share of the sampled queries with at least one of the hubs in their list.
    queries, k : int
        How many queries were sampled, and the length of their lists.
    ids : sequence, optional
        What rows are called; None: their positions.
    name : str
        Of the collection.
    """

    hubs: np.ndarray
    before: np.ndarray
    after: np.ndarray
    caught_before: float
    caught_after: float
    queries: int
    k: int
    ids: Sequence[Any] | None = None
    name: str = "vectors"

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        n, sampled = len(self.before), f"{self.queries:,} sampled queries"
        if not len(self.hubs):
            return f"No hubs among {n:,} vectors: no row is in unusually many of {sampled}."
        largest = int(self.before[self.hubs[0]])
        return (
            f"{len(self.hubs):,} of {n:,} vectors are hubs: {self.caught_before:.1%} of {sampled} "
            f"have one in their list of {self.k}; after the reduction {self.caught_after:.1%}. "
            f"The largest is in {largest:,} lists, then in {int(self.after[self.hubs[0]]):,}."
        )

    def cells(self) -> dict[str, list[Any]]:
        """Return a line per hub: its row and id, and in how many lists it is."""
        ids = self.hubs.tolist() if self.ids is None else [self.ids[row] for row in self.hubs]
        before, after = (counts[self.hubs].tolist() for counts in (self.before, self.after))
        return {"row": self.hubs.tolist(), "id": ids, "lists": before, "lists_reduced": after}

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics and the hubs."""
        shares = {"caught": self.caught_before, "caught_reduced": self.caught_after}
        size = {"rows": len(self.before), "queries": self.queries, "k": self.k}
        cells = self.cells()
        lines = [dict(zip(cells, line, strict=True)) for line in zip(*cells.values(), strict=True)]
        return {"sentence": self.sentence, **size, **shares, "hubs": plain(lines)}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the sentence and the largest hubs."""
        layout.headline(console, f"{self.name}: {self.sentence}")
        cells = self.cells()
        if not cells["row"]:
            return
        heads = [("row", "right"), ("lists", "right"), ("reduced", "right")]
        hubs = zip(cells["id"], cells["lists"], cells["lists_reduced"], strict=True)
        lines = [[short(id), f"{before:,}", f"{after:,}"] for id, before, after in hubs]
        console.print(layout.grid(heads, lines[:N_SHOWN]))


def scan_hubs(vectors: Any, k: int = 10, *, n_queries: int | None = None, seed: int = 0) -> HubScan:
    """Find the vectors that are in unusually many lists of nearest vectors, by cosine.

    For collections whose lists would take too long to make for every row: some rows are drawn as
    queries, and each is compared with all rows. Hubs are rows in at least five times as many lists
    as the mean row, and in more than chance explains (less than one such row is expected), at most
    0.2 % of the rows [1]_. The reduction subtracts from each similarity the mean similarity of the
    row to its k nearest of 2,000 queries of the other half, which is CSLS [2]_ with a bank.

    Parameters
    ----------
    vectors : array (n, width)
        Missing vectors have NaN, and are in no list.
    k : int
        Length of the lists.
    n_queries : int, optional
        How many rows are drawn as queries, at most all of them; half of them are the bank of the
        others. None: 4,000, and more of fewer than 100,000 rows.
    seed : int
        Of the draw.

    Returns
    -------
    HubScan

    References
    ----------
    .. [1] HubScan (2026). Detecting hubness poisoning in retrieval-augmented generation.
       arXiv:2602.22427
    .. [2] Conneau, Lample, Ranzato, Denoyer, Jegou (2018). Word translation without parallel data.
       International Conference on Learning Representations. arXiv:1710.04087

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.hubness import scan_hubs
    >>> rows = np.random.default_rng(0).normal(size=(2000, 96)) + 1
    >>> rows[7] = 1.0  # in the middle of all
    >>> found = scan_hubs(rows)
    >>> found.hubs[:1], found.caught_after < found.caught_before
    (array([7]), True)
    """
    Integer(1).check("scan_hubs", "k", k, "Raise it")
    rows, here = _unit_rows(vectors)
    n = len(rows)
    if n_queries is None:
        n_queries = 2 * max(N_QUERIES, N_PAIRS // max(1, n))
    Integer(2).check("scan_hubs", "n_queries", n_queries, "Raise it")
    drawn = make_generator(seed).permutation(here)
    m = min(len(drawn), n_queries) // 2
    k = min(k, m - 1)
    if k < 1:
        found = Param("n_samples", n)
        raise TooFewRows("scan_hubs", "at least 4 vectors", found, "Add vectors")
    lists = _lists(rows, (drawn[:m], drawn[m : 2 * m]), here, k)
    before, after = (np.bincount(some[some >= 0], minlength=n) for some in lists)
    hubs = _hubs(before, 2 * m * k / len(here))
    caught, then = (float(np.isin(some, hubs).any(axis=1).mean()) for some in lists)
    return HubScan(hubs, before, after, caught, then, 2 * m, k)


def _unit_rows(vectors: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of length 1 as 4-byte floats, and the positions of those that are there."""
    rows = np.asarray(vectors)
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        found = f"an array of {rows.dtype} of shape {rows.shape}"
        raise WrongType(
            "scan_hubs", "a matrix of numbers, a vector in each row", found, "Stack them"
        )
    unit = np.empty(rows.shape, np.float32)
    for part in blocks(len(rows), max(1, BLOCK_CELLS // max(1, rows.shape[1]))):
        some = rows[part].astype(np.float64)
        largest = np.abs(some).max(axis=1, initial=0.0, keepdims=True)
        some = some / np.where(largest > 0, largest, 1.0)  # squares neither overflow nor vanish
        length = np.sqrt((some * some).sum(axis=1, keepdims=True))
        unit[part] = some / np.where(length > 0, length, 1.0)
    gone = ~np.isfinite(unit).all(axis=1)
    unit[gone] = 0.0
    return unit, np.flatnonzero(~gone)


def _lists(
    rows: np.ndarray, halves: tuple[np.ndarray, np.ndarray], here: np.ndarray, k: int
) -> np.ndarray:
    """Return the positions of the nearest rows of each query, before and after the reduction."""
    m = len(halves[0])
    shape = 2, 2, m, k  # before or after, half, query, place
    values, positions = np.full(shape, -np.inf, np.float32), np.full(shape, -1)
    queries = [rows[half] for half in halves]
    parts = list(blocks(len(here), max(k, BLOCK_CELLS // m)))
    with Progress("scanning vectors", len(parts)) as progress:
        for part in parts:
            at = here[part]
            near = [some @ rows[at].T for some in queries]
            for similar, half in zip(near, halves, strict=True):
                # Its own nearest would be itself; in the bank it would be pushed away for being in
                # it.
                similar[half[:, None] == at] = -np.inf
            # Each half of the queries is the bank of the other: no similarity has one use only.
            usual = [np.partition(some[:N_QUERIES].T, -k, axis=1)[:, -k:] for some in near]
            for i, similar in enumerate(near):
                reduced = 2 * similar - usual[1 - i].mean(axis=1)
                _work_in(values[0, i], positions[0, i], similar, at)
                _work_in(values[1, i], positions[1, i], reduced, at)
            progress.advance()
    return positions.reshape(2, 2 * m, k)


def _work_in(
    values: np.ndarray, positions: np.ndarray, similar: np.ndarray, at: np.ndarray
) -> None:
    """Work the similarities to some rows into the lists, in place."""
    k = values.shape[1]
    if similar.shape[1] > k:
        top = np.argpartition(similar, -k, axis=1)[:, -k:]
        similar, at = np.take_along_axis(similar, top, axis=1), at[top]
    at = np.concatenate([positions, np.broadcast_to(at, similar.shape)], axis=1)
    similar = np.concatenate([values, similar], axis=1)
    order = np.argsort(-similar, axis=1, kind="stable")[:, :k]
    values[:] = np.take_along_axis(similar, order, axis=1)
    positions[:] = np.where(np.isfinite(values), np.take_along_axis(at, order, axis=1), -1)


def _hubs(counts: np.ndarray, mean: float) -> np.ndarray:
    """Return rows in far more lists than the mean row, most first."""
    from scipy.special import pdtrik  # scipy.stats would double the start of every search

    n = len(counts)
    # So many lists that less than one row in n would be in them by chance.
    chance = np.ceil(pdtrik(1.0 - 1.0 / n, mean)) + 1
    order = np.argsort(-counts, kind="stable")[: max(1, int(MAX_HUB_SHARE * n))]
    return order[counts[order] >= max(chance, FACTOR * mean)]
