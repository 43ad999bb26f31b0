"""Approximate candidates for nearest neighbors: a graph over sketches of the rows.

A sketch is a compressed row: about a thousand bits whose Hamming distance estimates the number of
different leaves, or its numbers in single precision. Links between near sketches (a hierarchical
navigable small world [1]_, by faiss) lead from any row towards those near a query. The measure
re-ranks the candidates, so distances are exact and only a row that was not a candidate is missed.

References
----------
.. [1] Y. A. Malkov, D. A. Yashunin (2020). Efficient and robust approximate nearest neighbor search
   using hierarchical navigable small world graphs. IEEE Transactions on Pattern Analysis and
   Machine Intelligence 42(4). doi:10.1109/TPAMI.2018.2889473
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.extras import needing
from lookalike._runtime.threads import blocks, look_for_blas, run
from lookalike.errors import Param

# The recalls of decision 21 were measured with these two.
LINKS_PER_ROW = 16  # M of HNSW
CONSTRUCTION_WIDTH = 80  # efConstruction of HNSW: candidates kept while a row is linked
ROWS_PER_ADD = 2048  # rows linked between two checks for Ctrl-C; the graph depends on it
QUERIES_PER_TASK = 64
MIN_SKETCH_BITS = 1024  # each tree gets the same number of bits, so there may be more
MAX_COORDINATE = 1e15  # in units of the range: its square is still a float32


@dataclass(frozen=True, eq=False)
class Sketch:
    """How rows become sketches.

    Parameters
    ----------
    metric : {"bits", "euclidean", "cityblock"}
        What a difference of sketches is: bits that differ, or a distance of points.
    array : str
        Which array of the encoded rows is drawn.
    draw : callable from an array of rows to their sketches, each row on its own
        uint8 arrays of packed bits, or float32 arrays.
    """

    metric: str
    array: str
    draw: Callable[[np.ndarray], np.ndarray]


def bit_sketch(n_trees: int) -> Sketch:
    """Return the sketch of leaf codes: random bits for every leaf of every tree.

    Rows that share a leaf share its bits; of the bits of two leaves half differ on average. The
    bits that differ thus count the trees that part two rows, with a spread that falls with the
    square root of the bits (b-bit minwise hashing without the minima).

    Parameters
    ----------
    n_trees : int

    Examples
    --------
    >>> import numpy as np
    >>> sketch = bit_sketch(3)
    >>> one, same, other = sketch.draw(np.array([[0, 5, 7], [0, 5, 7], [1, 4, 7]], np.uint8))
    >>> bool((one == same).all()), bool((one == other).all())
    (True, False)
    """
    per_tree = -(-MIN_SKETCH_BITS // n_trees)
    words = -(-per_tree // 64)

    def draw(codes: np.ndarray) -> np.ndarray:
        tree = np.arange(n_trees, dtype=np.uint64) << np.uint64(32)
        word = np.arange(words, dtype=np.uint64)
        mixed = _mix((codes + tree)[:, :, None] * np.uint64(words) + word)
        # The lowest bit of each word first, on any machine.
        octets = mixed.astype("<u8").view(np.uint8)
        bits = np.unpackbits(octets, axis=2, count=per_tree, bitorder="little")
        return np.packbits(bits.reshape(len(codes), -1), axis=1)

    return Sketch("bits", "codes", draw)


def _mix(x: np.ndarray) -> np.ndarray:
    """Return integers hashed so that every bit depends on all bits (splitmix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def point_sketch(values: np.ndarray, metric: str) -> Sketch | None:
    """Return the sketch of points: centered, in single precision.

    None where their range overflows.

    Parameters
    ----------
    values : float array (rows, columns), the rows that are going to be searched
    metric : {"euclidean", "cityblock"}
    """
    with np.errstate(over="ignore", invalid="ignore"):
        # Centered, because float32 loses the differences of large numbers.
        center = values.mean(axis=0, dtype=np.float64)
        unit = max(float(np.abs(values[at] - center).max()) for at in blocks(len(values), 4096))
    if not np.isfinite(unit):
        return None

    def draw(x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            scaled = np.clip((x - center) / (unit or 1.0), -MAX_COORDINATE, MAX_COORDINATE)
        return np.ascontiguousarray(scaled, np.float32)

    return Sketch(metric, "x", draw)


class SketchGraph:
    """A graph over sketches, made once; searching changes nothing in it.

    It is the same in every run: rows are linked sequentially, by one thread, in batches of a fixed
    size (``ROWS_PER_ADD``), which the graph depends on.

    Parameters
    ----------
    sketch : Sketch
    values : array of the rows, as ``sketch.draw`` takes it
    """

    def __init__(self, sketch: Sketch, values: np.ndarray) -> None:
        faiss = load_faiss("SketchGraph")
        self.sketch, width = sketch, sketch.draw(values[:1]).shape[1]
        if sketch.metric == "bits":
            self._graph = faiss.IndexBinaryHNSW(8 * width, LINKS_PER_ROW)
        else:
            kind = faiss.METRIC_L1 if sketch.metric == "cityblock" else faiss.METRIC_L2
            self._graph = faiss.IndexHNSWFlat(width, LINKS_PER_ROW, kind)
        self._graph.hnsw.efConstruction = CONSTRUCTION_WIDTH

        def add(at: slice) -> None:
            with _one_thread(faiss):
                self._graph.add(sketch.draw(values[at]))

        run(add, [(at,) for at in blocks(len(values), ROWS_PER_ADD)], 1, "linking rows")

    def propose(self, rows: np.ndarray, reach: int, n_jobs: int | None = None) -> np.ndarray:
        """Return positions of rows with near sketches; -1 where the walk found fewer.

        Parameters
        ----------
        rows : array, as ``sketch.draw`` takes it
        reach : int
            Candidates kept during the walk (efSearch), all of which are returned.
        n_jobs : int, optional

        Returns
        -------
        int64 array of shape (queries, reach)
        """
        faiss = load_faiss("SketchGraph")
        near = np.empty((len(rows), reach), np.int64)

        def walk(part: slice) -> None:
            params = faiss.SearchParametersHNSW(efSearch=reach)
            with _one_thread(faiss):
                sketches = self.sketch.draw(rows[part])
                _, near[part] = self._graph.search(sketches, reach, params=params)

        parts = [(part,) for part in blocks(len(rows), QUERIES_PER_TASK)]
        run(walk, parts, n_jobs, "proposing neighbors")
        return near


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    """Limit faiss to one thread.

    Our own threads call it, and rows linked in parallel would give another graph in every run.
    """
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def load_faiss(who: str) -> Any:
    """Return faiss; the error names the extra to install.

    Parameters
    ----------
    who : str, whose name the error begins with
    """
    new = "faiss" not in sys.modules
    with needing("fast", who, (", or leave out ", Param("approximate", True))):
        import faiss
    if new:
        look_for_blas()  # faiss brings one of its own
    return faiss
