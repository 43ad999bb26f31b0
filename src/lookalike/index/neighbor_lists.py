"""The nearest rows of all rows, written part by part to a folder, exactly or approximately."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.estimator import check_is_fitted
from lookalike._runtime.files import locked, make_folder
from lookalike._runtime.threads import blocks, run
from lookalike._version import __version__
from lookalike.errors import InvalidInput
from lookalike.index.sketches import recall_of
from lookalike.index.snapshot import check_list_size
from lookalike.kernels.first_use import compile_at_once
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import check_k
from lookalike.neighbors.blocks import QUERIES_PER_BLOCK
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import find_shard, open_shard, write_shard
from lookalike.saving import fields
from lookalike.saving.encode import digest_of

WHO = "list_neighbors"
ORDER = "order"  # the shard that is written first: it holds what was begun
ROWS_PER_PART = 32 * QUERIES_PER_BLOCK
# Runs of near rows whose exact lists tell the recall: half of them to choose how far to look, the
# others to state it. A run is long enough to be searched as a part is. All chosen by hand.
ROWS_PER_RUN = 1024
MAX_SAMPLED_RUNS, RUNS_PER_SAMPLED, MIN_SAMPLED_RUNS = 32, 8, 8
FIRST_TILES = 8  # doubled by halves until the recall is reached
STANDARD_ERRORS = 1.0  # above the recall asked for, on the runs it is chosen on


@dataclass(frozen=True)
class NeighborLists:
    """The nearest rows of all rows, in a folder.

    Iterating yields parts, each as (positions, NeighborGraph), without reading the others; near
    rows are in one part.

    Parameters
    ----------
    folder : str
    n_rows, k : int
    n_tiles : int or None
        How many tiles of 1,024 near rows each block of 256 rows was compared with; None: all that
        may hold a nearest row, so that the lists are exact.
    recall : float
        The share of the k nearest rows that were found, measured on runs of near rows that
        ``n_tiles`` was not chosen on; 1 for exact lists. Rows as near as the last of the true ones
        count.
    recall_error : float
        Standard error of the recall, over these runs.
    """

    folder: str
    n_rows: int
    k: int
    n_tiles: int | None = None
    recall: float = 1.0
    recall_error: float = 0.0

    def __iter__(self) -> Iterator[tuple[np.ndarray, NeighborGraph]]:
        for number in range(-(-self.n_rows // ROWS_PER_PART)):
            part = open_shard(Path(self.folder, f"{number:06d}"))
            lists = part.array("indices"), part.array("distances")
            yield part.array("positions"), NeighborGraph(*lists, self.n_rows)

    def graph(self) -> NeighborGraph:
        """Return all lists, by position, in memory."""
        check_list_size(WHO, self.n_rows, self.k, "iterate over the parts")
        whole = NeighborGraph.empty(self.n_rows, self.k, self.n_rows)
        for positions, part in self:
            whole.indices[positions], whole.distances[positions] = part.indices, part.distances
        return whole


def list_neighbors(
    measure: Measure, folder: str | os.PathLike[str], k: int = 5, *, recall: float = 1.0
) -> NeighborLists:
    """Find the nearest rows of every fitted row, in parts that outlast an interruption.

    As ``measure.neighbors(k=k)``, for so many rows that it takes minutes or hours: run it again
    after a stop, and only the parts that are not in the folder are computed. Near rows are searched
    together, and compared with the nearest tiles of rows first. With a recall below 1 they are
    compared with a limited number of tiles, chosen on a sample of the rows; the recall reached is
    measured on another sample. A bar shows the parts done, of equally many rows.

    Parameters
    ----------
    measure : Measure, fitted
    folder : path
        Created if missing; of this computation only.
    k : int
    recall : float
        The share of the nearest rows to be found, from 0.5; 1: exact lists. Measures without lower
        bounds of their distances (forests, hubness reducers, objects such as vectors) are searched
        exactly.

    Returns
    -------
    NeighborLists

    Examples
    --------
    >>> import lookalike as la, os, tempfile
    >>> from lookalike.index import list_neighbors
    >>> from lookalike.measures import Gower
    >>> folder = os.path.join(tempfile.mkdtemp(), "lists")
    >>> measure = Gower().fit({"size": [1.0, 2.5, 2.0], "color": ["red", "blue", "red"]})
    >>> list_neighbors(measure, folder, k=1).graph().indices.ravel().tolist()
    [2, 2, 0]
    """
    check_is_fitted(measure, "rows_")
    measure.check_holds_rows(WHO)
    n = len(measure.rows_)
    check_k(k, n - 1, WHO, True, "k")
    fields.Real(0.5, 1.0).check(WHO, "recall", recall, "Use 1 for exact lists")
    path = make_folder(Path(folder).absolute())
    # Without compiled kernels sampled rows are compared with all others, so that their recall is 1,
    # whatever that of the other rows.
    compiled = compile_at_once() if recall < 1.0 else nullcontext()
    with locked(path, WHO), compiled:
        lists = _begin(measure, path, int(k), float(recall))
        order = open_shard(path / ORDER).array("positions")
        cut = enumerate(order[part] for part in blocks(n, ROWS_PER_PART))
        parts = [(path / f"{number:06d}", positions) for number, positions in cut]
        todo = [part for part in parts if find_shard(part[0]) is None]
        last = "last" if measure.traits.undefined_last else "raise"

        def write_part(target: Path, positions: np.ndarray) -> None:
            found = _search(measure, positions, lists.k, lists.n_tiles).finish(last)
            write_shard(target, {**found.to_arrays(), ("positions",): positions}, {})

        # A thread for each part: what a part does in parallel is done in turn then.
        run(write_part, todo, getattr(measure, "n_jobs", None), "finding neighbors")
    return lists


def _begin(measure: Measure, path: Path, k: int, recall: float) -> NeighborLists:
    """Return what an earlier run began, or how far to look; refuse a folder of something else."""
    request = digest_of((__version__, measure, k, recall, ROWS_PER_PART))
    begun = find_shard(path / ORDER)
    about = {"request": request} if begun is None else dict(begun.about)
    others = begun is None and any(entry.name[0] != "." for entry in path.iterdir())
    if others or about.pop("request", None) != request:
        needed = f"an empty folder, or one of these lists, in {str(path)!r}"
        hint = "Choose another folder, or remove this one"
        raise InvalidInput(WHO, needed, "other files, or other lists", hint)
    if begun is None:
        order, n = measure.near_order(measure.rows_), len(measure.rows_)
        about = {"n_rows": n, "k": k}
        if recall < 1.0 and order is not None:
            about |= _tuned(measure, k, recall, order)
        # Kept, since rows that were searched before under other weights are in another order.
        positions = np.arange(n) if order is None else order
        write_shard(path / ORDER, {("positions",): positions}, {**about, "request": request})
    return NeighborLists(str(path), **about)


def _tuned(measure: Measure, k: int, recall: float, order: np.ndarray) -> dict[str, Any]:
    """Return how many tiles give the recall, and that of other rows with its standard error.

    Nothing where exact lists cost hardly more.
    """
    n_runs = len(order) // ROWS_PER_RUN
    size = min(MAX_SAMPLED_RUNS, n_runs // RUNS_PER_SAMPLED)
    if size < MIN_SAMPLED_RUNS:  # too few to tell a recall; exact lists take seconds
        return {}
    drawn = np.random.default_rng(0).choice(n_runs, size, replace=False)
    runs = order[: n_runs * ROWS_PER_RUN].reshape(n_runs, ROWS_PER_RUN)[drawn]
    pairs = [(at, _search(measure, at, k, None).distances) for at in runs]
    chosen, judged = pairs[::2], pairs[1::2]

    def reached(sample: list[tuple[np.ndarray, np.ndarray]], n_tiles: int) -> tuple[float, float]:
        # By run: rows of one are found, or missed, together.
        found = ((_search(measure, at, k, n_tiles).distances, true) for at, true in sample)
        each = np.array([recall_of(*pair) for pair in found])
        return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))

    n_tiles, most = FIRST_TILES, n_runs // 2
    while n_tiles < most:
        mean, error = reached(chosen, n_tiles)
        if mean - STANDARD_ERRORS * error >= recall:
            stated, its_error = reached(judged, n_tiles)
            return {"n_tiles": n_tiles, "recall": stated, "recall_error": its_error}
        n_tiles += n_tiles // 2
    return {}


def _search(measure: Any, at: np.ndarray, k: int, n_tiles: int | None) -> NeighborGraph:
    """Return unfinished lists of the rows at some positions."""
    rows = measure.rows_
    if n_tiles is None:
        return measure.nearest(rows[at], rows, k, exclude=at)
    return measure.nearest_in_tiles(rows, at, k, n_tiles)
