"""Who is near whom in a folder of shards, and what follows from it, by many workers."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.random_state import make_generator
from lookalike._version import __version__
from lookalike.clustering.density import graph_density
from lookalike.errors import InPython, InvalidInput, LookalikeError, Param, Phrase, TooLarge
from lookalike.hubness import k_occurrence, skewness
from lookalike.hubness.survival import mutual_proximity_graph
from lookalike.index.dask.clients import connect
from lookalike.index.dask.parts import Part, run_parts
from lookalike.index.dask.summary import Hubness, Summary
from lookalike.index.dask.tasks import graph_part, moments_part
from lookalike.index.shards.folder import SHARDS, ShardFolder
from lookalike.measures.contract.rows import check_k
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import Shard, open_shard
from lookalike.saving.fields import Integer

ROWS = 8192  # whose neighbors one task finds
ASKED = "question"  # how the names of questions begin, which stand beside
WORK = "graphs"  # the folder of what was worked out, inside that of the index
Tell = Callable[[Summary], None]


def knn_graph(
    folder: str | os.PathLike[str],
    k: int = 5,
    client: Any = None,
    *,
    rows_per_task: int = ROWS,
    tell: Tell = lambda summary: None,
) -> NeighborGraph:
    """Return the k nearest rows of every row of an index in a folder, found by many workers.

    Each task finds the neighbors of some rows among all, as ``Index.search`` would, and writes them
    to the folder; after a stop only those that are not there are found. The lists are those of one
    process, byte for byte.

    Parameters
    ----------
    folder : path of an index (``fit_encode``, ``lookalike.index.build_index``)
        From which no row was ever deleted.
    k : int
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    rows_per_task : int
        Fewer: more tasks, so that less is lost with a worker.
    tell : callable
        Told a ``Summary`` when it is done.

    Examples
    --------
    >>> from lookalike.index.dask import knn_graph
    >>> graph = knn_graph("rows.index", k=10, client="tcp://scheduler:8786")  # doctest: +SKIP
    """
    opened = _open(folder, "knn_graph")
    n = opened.manifest.next_position
    check_k(k, n - 1, "knn_graph", True, "k")
    _check_room("knn_graph", 16 * n * k)
    work = _work(opened, f"neighbors-{k}-{_rows_per_task(rows_per_task)}")
    parts = _parts(opened, work, rows_per_task, (int(k),))
    with connect(client) as workers:
        tell(run_parts(workers, graph_part, parts, "found the neighbors of"))
    found = NeighborGraph.empty(n, k, n)
    for shard, start, stop in _written(parts):
        found.indices[start:stop] = shard.array("indices")
        found.distances[start:stop] = shard.array("distances")
    last = opened.head.measure.traits.undefined_last
    return found.finish("last" if last else "raise")


def hubness(
    folder: str | os.PathLike[str],
    k: int = 5,
    client: Any = None,
    *,
    sample: int = 30,
    candidates: int | None = None,
    random_state: Any = 0,
    rows_per_task: int = ROWS,
    tell: Tell = lambda summary: None,
) -> Hubness:
    """Say how uneven the neighbor lists of an index in a folder are, before and after a repair.

    The repair is mutual proximity with moments from a sample of rows, so its cost grows linearly
    with the rows; it re-ranks the candidates of each list.

    Parameters
    ----------
    folder, client, rows_per_task, tell : as in ``knn_graph``
    k : int
        Length of the lists.
    sample : int
        Rows that means and spreads of distances are taken from.
    candidates : int, optional
        Rows that are re-ranked for each list; None: four times k.
    random_state : None, int, RandomState or Generator
        Which rows are sampled.

    Examples
    --------
    >>> from lookalike.index.dask import hubness
    >>> found = hubness("rows.index", k=10)  # doctest: +SKIP
    """
    opened = _open(folder, "hubness")
    n = opened.manifest.next_position
    if not Integer(2).fits(sample) or sample >= n:
        hint = "Take fewer rows than there are"
        raise InvalidInput("hubness", f"a sample of 2 to {n - 1} rows", repr(sample), hint)
    wide = min(n - 1, 4 * k if candidates is None else candidates)
    check_k(k, wide, "hubness", False, "k")
    reference = np.sort(make_generator(random_state).choice(n, sample, replace=False))
    with connect(client) as workers:
        graph = knn_graph(opened.path, wide, workers, rows_per_task=rows_per_task, tell=tell)
        name = f"moments-{_name_of(reference)}-{_rows_per_task(rows_per_task)}"
        parts = _parts(opened, _work(opened, name), rows_per_task, (tuple(reference.tolist()),))
        tell(run_parts(workers, moments_part, parts, "averaged the distances of"))
    mean, sd = np.empty(n), np.empty(n)
    for shard, start, stop in _written(parts):
        mean[start:stop], sd[start:stop] = shard.array("mean"), shard.array("sd")
    short = NeighborGraph(graph.indices[:, :k], graph.distances[:, :k], n)
    repaired = mutual_proximity_graph(graph, mean, sd, k)
    counts, after = k_occurrence(short, k), k_occurrence(repaired, k)
    return Hubness(counts, float(skewness(counts)), mean, sd, repaired, float(skewness(after)))


def density_clusters(
    folder: str | os.PathLike[str],
    k: int = 10,
    client: Any = None,
    *,
    eps: float | None = None,
    min_neighbors: int = 5,
    rows_per_task: int = ROWS,
    tell: Tell = lambda summary: None,
) -> np.ndarray:
    """Return a cluster for every row of an index in a folder, -1 for noise, by density.

    As DBSCAN, of the pairs that stand in each other's lists of k; see
    ``lookalike.clustering.density``.

    Parameters
    ----------
    folder, k, client, rows_per_task, tell : as in ``knn_graph``
    eps : float, optional
        How near a neighbor counts; None: the knee of the distances to the neighbor number
        ``min_neighbors``.
    min_neighbors : int
        Rows within eps, itself among them, that make a row part of a dense region.

    Examples
    --------
    >>> from lookalike.index.dask import density_clusters
    >>> labels = density_clusters("rows.index", k=20, min_neighbors=10)  # doctest: +SKIP
    """
    graph = knn_graph(folder, k, client, rows_per_task=rows_per_task, tell=tell)
    return graph_density(graph, eps, min_neighbors)


# -- parts of the work -----------------------------------------------------------------------------


def _open(folder: str | os.PathLike[str], who: str) -> ShardFolder:
    opened = ShardFolder.open(Path(folder).absolute())
    rows = sum(
        open_shard(opened.path / SHARDS / name).number("rows") for name in opened.manifest.shards
    )
    if opened.manifest.deleted is not None or rows != opened.manifest.next_position:
        hint = Phrase(
            "Build a new folder from files without them", InPython(", or ask Index.neighbors")
        )
        needed = "an index from which no row was deleted"
        raise InvalidInput(who, needed, "rows that were deleted", hint)
    return opened


def _rows_per_task(rows: Any) -> int:
    if not Integer(1).fits(rows):
        raise InvalidInput("scale", "at least one row per task", repr(rows), "Raise it")
    return int(rows)


def _check_room(who: str, needed: int) -> None:
    limit = settings().memory_limit
    if needed > limit:
        hint = Phrase(
            "Raise ",
            Param("memory_limit", of="config"),
            "; the parts are in the folder, as shards",
        )
        raise TooLarge(
            who, f"{show_bytes(needed)} for all lists", f"a limit of {show_bytes(limit)}", hint
        )


def _work(opened: ShardFolder, name: str) -> Path:
    """Return the folder of some work, for the rows that the folder has now.

    What was worked out for rows as they were before is removed: nothing can use it any more.
    """
    here = f"{opened.manifest.generation:06d}-{opened.manifest.mark}"
    work = opened.path / WORK / here / name
    work.mkdir(parents=True, exist_ok=True)
    for old in (opened.path / WORK).iterdir():
        if old.name != here and not old.name.startswith(ASKED):
            shutil.rmtree(old, ignore_errors=True)
    return work


def _name_of(numbers: np.ndarray) -> str:
    return hashlib.sha256(numbers.astype("<i8").tobytes()).hexdigest()[:16]


def _parts(opened: ShardFolder, work: Path, rows: int, more: tuple[Any, ...]) -> list[Part]:
    n, mark = opened.manifest.next_position, opened.manifest.mark
    parts = []
    for number, start in enumerate(range(0, n, rows)):
        stop, target = min(start + rows, n), work / f"{number:06d}"
        args = (str(opened.path), __version__, mark, str(target), start, stop, *more)
        parts.append(Part(args, _is_there(target, start, stop)))
    return parts


def _is_there(target: Path, start: int, stop: int) -> bool:
    try:
        about = open_shard(target).about
    except LookalikeError:
        return False
    return about.get("start") == start and about.get("stop") == stop


def _written(parts: list[Part]) -> list[tuple[Shard, int, int]]:
    return [(open_shard(part.args[3]), part.args[4], part.args[5]) for part in parts]
