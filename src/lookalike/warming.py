"""Compile all loops before they are needed, as when a container image is built.

A loop is compiled for the types of the arrays it gets, so the surest way to compile what people
will use is to use it: every measure by its examples, every column distance, every clustering method
and every estimator, on a few small tables.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lookalike import hubness, prediction, represent
from lookalike._runtime.config import config
from lookalike._runtime.estimator import clone
from lookalike._runtime.progress import Progress
from lookalike.clustering import DensitySearch, MixedKMeans, SimilarityClustering
from lookalike.columns import DISTANCES
from lookalike.index import Index, ReFeat
from lookalike.kernels import COMPILED, cache_folder
from lookalike.kernels.first_use import compile_at_once
from lookalike.leaderboard import compare, diagnose
from lookalike.measures import MEASURES, ForestProximity, Gower, Ranked, StochasticForest, Vector
from lookalike.represent.prototypes import METHODS
from lookalike.saving.fields import Choice
from lookalike.show.report import report
from lookalike.table import Table, read_table

N_ROWS = 60  # of a table that only serves to compile
# More than the 4096 rows from which on a search is pruned by quantized lower bounds.
N_ROWS_QUANTIZED = 4200
LEVELS = ["low", "middle", "high"]
# What is called on new rows, of each estimator that has it.
USES = ("predict", "predict_proba", "decision_path", "score_samples", "transform")

Step = tuple[str, Callable[[], object]]


class Warmed(NamedTuple):
    """What ``warm`` did.

    Parameters
    ----------
    folder : where compiled loops are kept; None if no folder can be written to
    compiled : how many loops were compiled; 0 if all of them were there
    seconds : how long it took
    """

    folder: Path | None
    compiled: int
    seconds: float


def warm(progress: Callable[[str, int, int], object] | None = None) -> Warmed:
    """Compile all loops now, so that no later call waits for the compiler (ahead of time).

    Takes minutes the first time and seconds if everything is compiled already. The compiled loops
    are kept on disk for the processor, the Python and the version of lookalike at hand: call it in
    the image, or on the machine, that will answer questions.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(what, done, total)`` before each part. None: a bar, as elsewhere.

    Returns
    -------
    Warmed : the ``folder`` of the compiled loops, how many were ``compiled``, and the ``seconds``

    Examples
    --------
    >>> import lookalike as la
    >>> done = la.warm()  # doctest: +SKIP
    >>> done.compiled  # doctest: +SKIP
    174
    """
    began, path = time.monotonic(), cache_folder()
    folder = None if path is None else Path(path)
    if not COMPILED:
        return Warmed(folder, 0, 0.0)
    from numba.core.event import install_recorder

    every = list(steps())
    with (
        install_recorder("numba:compile") as seen,
        Progress("compiling", len(every), quiet=progress is not None) as bar,
        compile_at_once(),
        config(progress=False),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # the tables are made up, and their answers are not read
        for done, (what, go) in enumerate(every):
            if progress is not None:
                progress(what, done, len(every))
            go()
            bar.advance()
    # numba compiles helpers of its own on the way, and umap-learn may be loaded.
    modules = [e.data["dispatcher"].py_func.__module__ for _, e in seen.buffer if e.is_start]
    compiled = sum(str(module).startswith("lookalike.") for module in modules)
    return Warmed(folder, compiled, time.monotonic() - began)


def steps() -> Iterator[Step]:
    """Yield every part of the library that compiles something: what it is, and a call of it."""
    for name, measure in MEASURES.items():
        for example in measure.examples():
            yield name, partial(_compare, example)
    for name, distance in DISTANCES.items():
        for kind in distance.kinds:
            if kind not in ("number", "category", "order", "flag"):  # in the tables of all measures
                yield f"{kind} columns by {name}", partial(_compare_cells, name, kind)
    for estimator, tables in _estimators():
        yield type(estimator).__name__, partial(_use, estimator, tables)
    for call in (_prune_by_lower_bounds, _keep_long_lists, _walk_trees, _represent, _index, _judge):
        yield call.__name__[1:].replace("_", " "), call


# -- tables ----------------------------------------------------------------------------------------


def _numbers(n: int = N_ROWS, columns: int = 9, dtype: Any = np.float64) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, columns)).astype(dtype)


def _mixed(n: int = N_ROWS, missing: float = 0.1, alike: bool = False) -> Table:
    """Return columns of numbers, some missing, of categories, ordered levels and flags."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    size[rng.random(n) < missing] = np.nan
    columns = {
        "size": np.sign(size) if alike else size,
        "weight": np.ones(n) if alike else rng.normal(size=n),
        "color": rng.choice(["red", "green", "blue"], n).tolist(),
        "grade": rng.choice(LEVELS, n).tolist(),
        "new": (rng.random(n) < 0.5).tolist(),
    }
    return read_table(columns, kinds={"grade": LEVELS})


def _tables() -> list[Any]:
    return [_mixed(missing=0.0), _mixed(), _numbers()]


def _objects(*shapes: str) -> Table:
    """Return a column of numbers, and one of objects of each shape."""
    rng = np.random.default_rng(0)
    words = [rng.choice(list("abcdefgh"), rng.integers(1, 6)).tolist() for _ in range(N_ROWS)]
    make: dict[str, Callable[[list[str]], Any]] = {
        "text": " ".join,
        "set": frozenset,
        "sequence": tuple,
        "sets in sequence": lambda word: tuple(map(frozenset, word)),
        "series": lambda word: rng.normal(size=6),
        "vector": lambda word: rng.random(4),
        "histogram": lambda word: rng.random(4),
        "graph": lambda word: {
            "nodes": dict(enumerate(word)),
            "edges": [(i, i + 1) for i in range(len(word) - 1)],
        },
    }
    columns = {shape: [make[shape](word) for word in words] for shape in shapes}
    kinds = {shape: shape.rpartition(" ")[2] for shape in shapes}
    return read_table({"size": _numbers()[:, 0], **columns}, kinds=kinds)


# -- what is used ----------------------------------------------------------------------------------


def _compare(measure: Any) -> None:
    """Use a measure in every way: fitted rows and new ones, with missing cells and without."""
    traits = measure.traits
    tables = [_numbers(), _numbers(dtype=np.float32)]
    if traits.pairwise:
        tables = [np.abs(tables[0][:, None] - tables[0]).sum(axis=2)]
    elif not traits.kinds or "category" in traits.kinds:
        tables = _tables()
    for table in tables:
        fitted = clone(measure).fit(table)
        fitted.similarity()
        fitted.kneighbors(n_neighbors=3)
        fitted.explain(0, 1)
        if not traits.pairwise:
            fitted.distance(table)
            fitted.kneighbors(table, n_neighbors=3)


def _compare_cells(name: str, kind: str) -> None:
    shape = "sets in sequence" if name == "edit_sets" else kind
    fitted = Gower(distances={shape: name}).fit(_objects(shape))
    fitted.similarity()
    fitted.explain(0, 1)


def _estimators() -> Iterator[tuple[Any, list[Any]]]:
    """Yield estimators, each with the tables that it can learn from."""
    tables, numbers = _tables(), _numbers()
    methods = SimilarityClustering.FIELDS["method"]
    assert isinstance(methods, Choice)
    for method in methods.values:
        for measure, some in ((Gower(), tables[:2]), (Vector(), [numbers])):
            yield SimilarityClustering(measure, method=method, random_state=0), some
    # Two clusters far apart: no list of neighbors leads from one to the other.
    apart = _numbers(600) + 100.0 * (np.arange(600) % 2)[:, None]
    yield SimilarityClustering(Vector(), method="hdbscan"), [apart]
    yield MixedKMeans(2, n_init=1, random_state=0), [numbers, tables[0]]
    yield DensitySearch(Vector()), [numbers]
    objects = _objects("set", "text")
    for options in ({}, {"projection": "squared"}, {"numeric": "value"}, {"ccp_alpha": 0.01}):
        few: dict[str, Any] = {"n_estimators": 3, "random_state": 0, **options}
        yield prediction.RandomSimilarityForestClassifier(**few), [*tables, objects]
        yield prediction.RandomSimilarityForestRegressor(**few), [*tables, objects]
    yield prediction.RandomSimilarityIsolationForest(3, random_state=0), [*tables, objects]
    yield prediction.SimilarityForestClassifier(n_estimators=3, random_state=0), [numbers]
    for estimator in (
        prediction.NeighborClassifier(Gower()),
        prediction.NeighborRegressor(Gower(), "tune"),
        prediction.SimilarityNetworkClassifier(Gower(), random_state=0),
        represent.SimilarityRepresentation(Gower(), random_state=0),
        represent.MapLayout(Gower()),
        Gower(weights="relieff"),
        Gower(weights="least_squares"),
    ):
        yield estimator, tables[1:2]


def _use(estimator: Any, tables: list[Any]) -> None:
    """Fit an estimator, and ask it whatever it answers about new rows."""
    for table in tables:
        fitted = clone(estimator).fit(table, np.arange(len(table)) % 2)
        for use in USES:
            if hasattr(fitted, use):
                getattr(fitted, use)(table)


def _prune_by_lower_bounds() -> None:
    for measure in (Ranked(), Vector("cityblock"), Vector("chebyshev"), Vector(), Vector("cosine")):
        for dtype in (np.float64, np.float32):
            measure.fit(_numbers(N_ROWS_QUANTIZED, dtype=dtype)).kneighbors(
                _numbers(3, dtype=dtype), 3
            )
            # So many rows are equal that the first candidates cannot be all: a second pass.
            alike = np.sign(_numbers(N_ROWS_QUANTIZED, 2, dtype))
            measure.fit(alike).kneighbors(alike[:3], 3)
    for missing in (0.0, 0.1):
        for alike in (False, True):
            rows = _mixed(N_ROWS_QUANTIZED, missing, alike)
            Gower().fit(rows).kneighbors(rows[:3], 3)


def _keep_long_lists() -> None:
    for n in (130, 600):
        Vector("cityblock").fit(_numbers(n, 2)).kneighbors(_numbers(5, 2), 120)


def _walk_trees() -> None:
    for dtype in (np.float64, np.float32):
        StochasticForest(3, 9, random_state=0).fit(_numbers(N_ROWS_QUANTIZED, dtype=dtype))
    for table in _tables():
        forest = prediction.RandomSimilarityForestClassifier(3, random_state=0).fit(
            table, np.arange(N_ROWS) % 2
        )
        forest.trees_.outcomes(forest.trees_.encode(read_table(table)))
        ForestProximity("ratio", forest).fit(table).similarity()


def _represent() -> None:
    measure = Gower().fit(_mixed())
    square = measure.similarity()
    for tnorm in ("min", "product", "lukasiewicz"):
        represent.transitive_closure(square, tnorm=tnorm)
        represent.transitive_closure(square, tnorm=tnorm, new=square[:3])
    for mode in ("path", "plain"):
        represent.power_similarity(square, 3, mode=mode)
    for method in METHODS:
        y = np.arange(N_ROWS) % 2
        represent.select_prototypes(Gower(), _mixed(), y, method, 5, random_state=0)
    represent.layout(measure, random_state=0)
    represent.layout(measure.neighbors(k=5), random_state=0)  # a bare graph starts from hops


def _index() -> None:
    for table in (_mixed(), _numbers(), _objects("set")):
        index = Index().fit(table)
        index.search(0, k=5)
        index.add(table)
        index.search(0, k=5, like=[1], unlike=[2])
        hits: Any = index.search(0, k=5)
        hits[0].explanation  # noqa: B018
    found = ReFeat(random_state=0).fit(_numbers())
    found.search(0, k=3)
    found.relevance_by(np.ones((2, found.forest_.n_trees)))


def _judge() -> None:
    measure, y = Vector().fit(_numbers()), np.arange(N_ROWS) % 2
    hubness.hubness_report(measure, y, k=3)
    hubness.reachability(measure, k=3)
    compare(_numbers(), y=y)
    diagnose(measure, y=y)
    for table in (_mixed(missing=0.0), _mixed()):
        prediction.find_outliers(table, n_estimators=3, random_state=0)
        prediction.find_outliers(table, "neighbors", measure=Gower())
    report(_mixed(), np.where(y, "yes", "no").tolist())
    report(_numbers(), np.arange(N_ROWS) * 1.0)
