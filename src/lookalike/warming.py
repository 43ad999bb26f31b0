"""Compile all kernels before they are needed, as when a container image is built.

A kernel is compiled for the types of the arrays it gets, so it is used: every measure by its own
examples, every column distance and clustering method, and whatever else has kernels. It saves the
first calls the wait for the compiler: 124 processor seconds for the 279 kernels compiled here, and
65 of the 104 that ``lookalike demo`` takes (docs/explanation/speed.md).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lookalike import prediction, represent
from lookalike._runtime.config import config
from lookalike._runtime.estimator import clone
from lookalike._runtime.progress import Progress
from lookalike.clustering import DensitySearch, MixedKMeans, SimilarityClustering
from lookalike.columns import DISTANCES
from lookalike.index import ReFeat
from lookalike.kernels import COMPILED, cache_folder
from lookalike.kernels.first_use import compile_at_once
from lookalike.measures import MEASURES, Gower, Ranked, StochasticForest, Vector
from lookalike.table import Table, read_table
from lookalike.verbs.report import report

# Rows of tables that only serve to compile; from 4096 on a search is pruned by lower bounds.
N_ROWS, N_ROWS_QUANTIZED = 60, 4200
USES = ("predict", "predict_proba", "decision_path", "score_samples", "transform", "distance")
OBJECTS: dict[str, list[Any]] = {  # two cells of each kind of column
    "text": ["a word", "another"],
    "set": [frozenset("ab"), frozenset("bcd")],
    "sequence": [("a", "b"), ("b", "c", "d")],
    "sets in sequence": [(frozenset("ab"), frozenset("c")), (frozenset("b"),)],
    "graph": [{"nodes": {0: "a"}, "edges": []}, {"nodes": {0: "a", 1: "b"}, "edges": [(0, 1)]}],
    **{kind: [[1.0, 0.0, 2.0], [0.5, 3.0, 1.0]] for kind in ("series", "vector", "histogram")},
    "place vector": [[52.5, 13.4], [48.1, 11.6]],
    "normal vector": [[0.0, 1.0], [1.0, 2.0]],
}
# Distances that need cells of their own; the last word is the kind.
OWN_CELLS = {
    "edit_sets": "sets in sequence",
    "great_circle": "place vector",
    "gaussian": "normal vector",
}


class Warmed(NamedTuple):
    """What ``warm`` did."""

    folder: Path | None
    compiled: int
    seconds: float


def warm() -> Warmed:
    """Compile all loops now, so that no later call waits for the compiler (ahead of time).

    Takes minutes the first time and seconds after it. The compiled loops are kept on disk for this
    processor, Python and version of lookalike: call it where questions will be answered.

    Returns
    -------
    Warmed : the ``folder`` of the loops (None: none can be written to), how many were ``compiled``
        (0: all of them were there), and the ``seconds`` it took

    Examples
    --------
    >>> la.warm().compiled  # doctest: +SKIP
    279
    """
    began, path = time.monotonic(), cache_folder()
    folder = None if path is None else Path(path)
    if not COMPILED:
        return Warmed(folder, 0, 0.0)
    from numba.core.event import install_recorder

    every = list(steps())
    with (
        install_recorder("numba:compile") as seen,
        Progress("compiling", len(every)) as bar,
        compile_at_once(),
        config(progress=False),
        warnings.catch_warnings(action="ignore"),  # tables are made up, their answers not read
    ):
        for _, go in every:
            go()
            bar.advance()
    # numba compiles helpers of its own on the way, and umap-learn may be loaded.
    modules = [str(e.data["dispatcher"].py_func.__module__) for _, e in seen.buffer if e.is_start]
    n_ours = sum(module.startswith("lookalike.") for module in modules)
    return Warmed(folder, n_ours, time.monotonic() - began)


def steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield every part of the library that compiles something: what it is, and a call of it."""
    numbers, mixed = _numbers(), [_mixed(missing=0.0), _mixed()]
    for name, measure in MEASURES.items():
        for example in measure.examples():
            kinds, tables = example.traits.kinds, [*mixed, numbers]
            if example.traits.pairwise:
                tables = [np.abs(numbers[:, None] - numbers).sum(axis=2)]
            elif kinds and "category" not in kinds:
                tables = [numbers, _numbers(dtype=np.float32)]
            yield name, partial(_use, example, tables)
    for name, distance in DISTANCES.items():
        for kind in distance.kinds:
            if kind not in ("number", "category", "order", "flag"):  # in the tables of all measures
                shape = OWN_CELLS.get(name, kind)
                compared = Gower(distances={shape: name})
                yield f"{kind} columns by {name}", partial(_use, compared, [_objects(shape)])
    for estimator, tables in _estimators(numbers, mixed):
        yield type(estimator).__name__, partial(_use, estimator, tables, supervised=True)
    yield "lower bounds, long lists, closures", _use_functions


def _numbers(n: int = N_ROWS, columns: int = 9, dtype: Any = np.float64) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, columns)).astype(dtype)


def _mixed(n: int = N_ROWS, missing: float = 0.1, alike: bool = False) -> Table:
    """Return columns of numbers, some missing, of categories, ordered levels and flags."""
    rng, levels = np.random.default_rng(0), ["low", "middle", "high"]
    size = np.where(rng.random(n) < missing, np.nan, rng.normal(size=n))
    columns = {
        "size": np.sign(size) if alike else size,
        "weight": np.ones(n) if alike else rng.normal(size=n),
        "color": rng.choice(["red", "green", "blue"], n).tolist(),
        "grade": rng.choice(levels, n).tolist(),
        "new": (rng.random(n) < 0.5).tolist(),
    }
    return read_table(columns, kinds={"grade": levels})


def _objects(shape: str) -> Table:
    columns = {"size": _numbers()[:, 0], shape: OBJECTS[shape] * (N_ROWS // 2)}
    return read_table(columns, kinds={shape: shape.rpartition(" ")[2]})


def _use(estimator: Any, tables: list[Any], supervised: bool = False) -> None:
    """Fit an estimator, and ask it about fitted rows and new ones, whatever of ``USES`` it has."""
    for table in tables:
        fitted = clone(estimator).fit(table, np.arange(len(table)) % 2 if supervised else None)
        if hasattr(fitted, "similarity"):
            fitted.similarity()
            fitted.kneighbors(n_neighbors=3)
            fitted.explain(0, 1)
        # New rows of a matrix of distances would be distances to rows.
        for use in USES if np.shape(table) != (N_ROWS, N_ROWS) else ():
            getattr(fitted, use, len)(table)


def _estimators(numbers: np.ndarray, mixed: list[Table]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield estimators with kernels of their own, each with tables that it can learn from."""
    methods: Any = SimilarityClustering.FIELDS["method"]
    for method in methods.values:
        yield SimilarityClustering(Gower(), method=method, random_state=0), mixed
        yield SimilarityClustering(Vector(), method=method, random_state=0), [numbers]
    # Two clusters far apart: no list of neighbors leads from one to the other.
    yield (
        SimilarityClustering(Vector(), method="hdbscan"),
        [_numbers(600) + np.repeat([[0.0], [100.0]], 300, axis=0)],
    )
    yield MixedKMeans(2, n_init=1, random_state=0), [numbers, mixed[0]]
    yield DensitySearch(Vector()), [numbers]
    yield represent.MapLayout(Gower()), mixed
    yield Gower(weights="relieff"), mixed
    every = [*mixed, numbers, _objects("set"), _objects("text")]
    yield prediction.RandomSimilarityForestClassifier(3, ccp_alpha=0.01, random_state=0), every
    yield prediction.RandomSimilarityIsolationForest(3, random_state=0), every


def _use_functions() -> None:
    for dtype in (np.float64, np.float32):
        rows = _numbers(N_ROWS_QUANTIZED, dtype=dtype)
        # So many rows are equal that the first candidates cannot be all: a second pass.
        alike = np.sign(_numbers(N_ROWS_QUANTIZED, 2, dtype))
        for measure in (Ranked(), *map(Vector, ("cityblock", "chebyshev", "euclidean", "cosine"))):
            measure.fit(rows).kneighbors(rows[:3], 3)
            measure.fit(alike).kneighbors(alike[:3], 3)
        StochasticForest(3, 9, random_state=0).fit(rows)
    for options in product((0.0, 0.1), (False, True)):
        mixed = _mixed(N_ROWS_QUANTIZED, *options)
        Gower().fit(mixed).kneighbors(mixed[:3], 3)
    Gower().fit(_mixed(600)).neighbors(k=2)  # a tree of boxes
    Vector("cityblock").fit(_numbers(600, 2)).kneighbors(_numbers(5, 2), 120)  # long lists
    index = ReFeat(random_state=0).fit(_numbers())
    index.search(0, k=3)
    index.relevance_by(np.ones((2, index.forest_.n_trees)))
    gower = Gower().fit(_mixed())
    for tnorm in ("min", "product"):
        represent.transitive_closure(gower.similarity(), tnorm=tnorm, new=gower.similarity()[:3])
    represent.layout(gower.neighbors(k=5), random_state=0)  # a bare graph starts from hops
    report(_mixed(), ["yes", "no"] * (N_ROWS // 2))
