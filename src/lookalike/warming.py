"""Compile all loops before they are needed, as when a container image is built.

A loop is compiled for the types of the arrays it gets, so the surest way to compile what people
will use is to use it: small tables of every kind take every road once. Measures, column distances
and clustering methods are read from their registries, so a new one is warmed without a word here.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.config import config
from lookalike._runtime.progress import Progress
from lookalike._warm_tables import FEW, KINDS, MANY, cells, kinds_of, mixed, numbers

Road = tuple[str, Callable[[], object]]


class Warmed(NamedTuple):
    """What ``warm`` did.

    Parameters
    ----------
    folder : where compiled loops are kept; None if there is no place that can be written to
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
    from lookalike.kernels import COMPILED, cache_folder
    from lookalike.kernels.first_use import compile_at_once

    began, found = time.monotonic(), cache_folder()
    folder = None if found is None else Path(found)
    if not COMPILED:
        return Warmed(folder, 0, 0.0)
    from numba.core.event import install_recorder

    every = list(roads())
    with (
        install_recorder("numba:compile") as seen,
        Progress("compiling", len(every), quiet=progress is not None) as bar,
        compile_at_once(),
        config(progress=False),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # the tables are made up; nobody reads the answers
        for done, (what, go) in enumerate(every):
            if progress is not None:
                progress(what, done, len(every))
            go()
            bar.advance()
    ours = [event for _, event in seen.buffer if event.is_start and _is_ours(event)]
    return Warmed(folder, len(ours), time.monotonic() - began)


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("lookalike.")


def roads() -> Iterator[Road]:
    """Yield every part of the library that compiles something: what it is, and a call of it."""
    yield from _measures()
    yield from _columns()
    yield from _tasks()


# -- the roads -------------------------------------------------------------------------------------


def _measures() -> Iterator[Road]:
    import lookalike.hubness  # noqa: F401  registers its measures
    from lookalike.measures import MEASURES

    for name, measure in MEASURES.items():
        for at, example in enumerate(measure.examples(), 1):
            yield f"{name} {at}", lambda example=example: _compare(example)  # type: ignore[misc]
    yield "tall balanced trees", _tall_trees
    yield "bytes that propose neighbors", _propose
    yield "lists of many neighbors", _long_lists
    yield "column weights", _weights


def _compare(measure: Any) -> None:
    """Use a measure in every way: fitted rows and new ones, with gaps and without."""
    from sklearn.base import clone

    from lookalike.table import read_table

    traits = measure.traits
    tables: list[Any]
    if traits.pairwise:
        x = numbers()
        tables = [np.abs(x[:, None] - x).sum(axis=2)]
    elif not traits.kinds or "category" in traits.kinds:
        tables = [mixed(gaps=0.0), mixed(), numbers()]
    else:
        tables = [numbers(), numbers(dtype=np.float32)]
    for table in tables:
        fitted = clone(measure).fit(read_table(table, kinds=kinds_of(table)))
        fitted.similarity()
        fitted.kneighbors(n_neighbors=3)
        fitted.explain(0, 1)
        if not traits.pairwise:
            fitted.distance(table)
            fitted.kneighbors(table, n_neighbors=3)


def _tall_trees() -> None:
    from lookalike.measures import StochasticForest

    for dtype in (np.float64, np.float32):
        StochasticForest(3, 9, random_state=0).fit(numbers(MANY, dtype=dtype))


def _propose() -> None:
    from lookalike.measures import Gower, Ranked, Vector

    new = numbers(3)
    for measure in (Ranked(), Vector("cityblock"), Vector("chebyshev"), Vector(), Vector("cosine")):
        for dtype in (np.float64, np.float32):
            measure.fit(numbers(MANY, dtype=dtype)).kneighbors(new.astype(dtype), 3)
            # So many rows are alike that the first ones proposed cannot be all: a second look.
            alike = np.sign(numbers(MANY, 2, dtype))
            measure.fit(alike).kneighbors(alike[:3], 3)
    for gaps in (0.0, 0.1):
        rows = mixed(MANY, gaps)
        for table in (rows, rows | {"size": np.sign(rows["size"]), "weight": np.ones(MANY)}):
            Gower(kinds=KINDS).fit(table).kneighbors({n: c[:3] for n, c in table.items()}, 3)


def _long_lists() -> None:
    from lookalike.measures import Vector

    Vector("cityblock").fit(numbers(600, 2)).kneighbors(numbers(5, 2), 120)
    Vector("cityblock").fit(numbers(130, 2)).kneighbors(numbers(5, 2), 120)


def _weights() -> None:
    from lookalike.measures import Gower

    y = np.arange(FEW) % 2
    for weights in ("relieff", "least_squares"):
        Gower(kinds=KINDS, weights=weights).fit(mixed(), y)


def _columns() -> Iterator[Road]:
    from lookalike.columns import DISTANCES

    for name, distance in DISTANCES.items():
        for kind in distance.kinds:
            if kind in ("number", "category", "order", "flag"):
                continue  # in the tables of the measures
            yield (
                f"{kind} columns by {name}",
                lambda name=name, kind=kind: _compare_cells(name, kind),  # type: ignore[misc]
            )


def _compare_cells(name: str, kind: str) -> None:
    from lookalike.measures import Gower

    column = cells("sets in sequence" if name == "edit_sets" else kind)
    table = {"cells": column, "size": numbers(len(column), 1)[:, 0]}
    fitted = Gower(kinds={"cells": kind}, distances={"cells": name}).fit(table)
    fitted.similarity()
    fitted.explain(0, 1)


def _tasks() -> Iterator[Road]:
    from lookalike.clustering import SimilarityClustering
    from lookalike.saving.fields import Choice

    rule = SimilarityClustering.FIELDS["method"]
    assert isinstance(rule, Choice)
    for method in rule.values:
        yield f"{method} clusters", lambda method=method: _cluster(method)  # type: ignore[misc]
    yield "means of mixed columns", _means
    yield "the density search", _search_densities
    yield "random similarity forests", _forests
    yield "similarity networks and neighbors", _predict
    yield "representations", _represent
    yield "hubness", _hubness
    yield "an index", _index
    yield "the leaderboard", _board
    yield "outliers", _outliers
    yield "a report", _report


def _means() -> None:
    from lookalike.clustering import MixedKMeans

    for table in (numbers(60), {"x": numbers(60)[:, 0], "c": list("ab" * 30)}):
        MixedKMeans(2, n_init=1, random_state=0).fit(table)


def _cluster(method: str) -> None:
    from lookalike.clustering import SimilarityClustering
    from lookalike.measures import Gower, Vector

    halves = 100.0 * (np.arange(600) % 2)[:, None]
    apart = numbers(600) + halves  # two clusters: no list of neighbors leads out of either
    for measure, table in (
        (Gower(kinds=KINDS), mixed()),
        (Vector(), numbers()),
        (Vector(), apart),
    ):
        SimilarityClustering(measure, method=method, random_state=0).fit(table)


def _search_densities() -> None:
    from lookalike.clustering import DensitySearch
    from lookalike.measures import Vector

    DensitySearch(Vector()).fit(numbers(), np.arange(FEW) % 3)


def _forests() -> None:
    from lookalike.measures import ForestProximity
    from lookalike.prediction import (
        RandomSimilarityForestClassifier,
        RandomSimilarityForestRegressor,
        RandomSimilarityIsolationForest,
        SimilarityForestClassifier,
    )
    from lookalike.table import read_table

    table = {**mixed(), "tags": cells("set"), "name": cells("text")}
    kinds = {**KINDS, "tags": "set", "name": "text"}
    y = np.arange(FEW) % 2
    tables = ((table, kinds), (mixed(gaps=0.0), KINDS), (numbers(), None))
    for rows, known in tables:
        for options in ({}, {"projection": "squared"}, {"numeric": "value"}, {"ccp_alpha": 0.01}):
            few: dict[str, Any] = {"n_estimators": 3, "random_state": 0, "kinds": known, **options}
            forest = RandomSimilarityForestClassifier(**few).fit(rows, y)
            forest.predict_proba(rows)
            forest.decision_path(rows)
            forest.trees_.outcomes(forest.trees_.encode(read_table(rows, kinds=known)))
            ForestProximity("ratio", forest).fit(rows).similarity()
            RandomSimilarityForestRegressor(**few).fit(rows, y * 1.0).predict(rows)
        RandomSimilarityIsolationForest(n_estimators=3, random_state=0, kinds=known).fit(
            rows
        ).score_samples(rows)
    SimilarityForestClassifier(n_estimators=3, random_state=0).fit(numbers(), y).predict(numbers())


def _predict() -> None:
    from lookalike.measures import Gower
    from lookalike.prediction import (
        NeighborClassifier,
        NeighborRegressor,
        SimilarityNetworkClassifier,
    )

    y = np.arange(FEW) % 2
    table = mixed()
    NeighborClassifier(Gower(kinds=KINDS)).fit(table, y).predict(table)
    NeighborRegressor(Gower(kinds=KINDS), "tune").fit(table, y * 1.0).predict(table)
    SimilarityNetworkClassifier(Gower(kinds=KINDS), random_state=0).fit(table, y).predict(table)


def _represent() -> None:
    from lookalike.measures import Gower
    from lookalike.represent import (
        MapLayout,
        SimilarityRepresentation,
        layout,
        power_similarity,
        select_prototypes,
        transitive_closure,
    )
    from lookalike.represent.prototypes import METHODS

    y = np.arange(FEW) % 2
    measure = Gower(kinds=KINDS).fit(mixed())
    square = measure.similarity()
    for tnorm in ("min", "product", "lukasiewicz"):
        transitive_closure(square, tnorm=tnorm)
        transitive_closure(square, tnorm=tnorm, new=square[:3])
    for mode in ("path", "plain"):
        power_similarity(square, 3, mode=mode)
    for method in METHODS:
        select_prototypes(Gower(kinds=KINDS), mixed(), y, method, 5, random_state=0)
    SimilarityRepresentation(Gower(kinds=KINDS), random_state=0).fit(mixed(), y).transform(mixed())
    layout(measure, random_state=0)
    layout(measure.neighbors(k=5), random_state=0)  # a bare graph starts from hops
    MapLayout(Gower(kinds=KINDS)).fit(mixed()).transform(mixed(7))


def _hubness() -> None:
    from lookalike.hubness import hubness_report, reachability
    from lookalike.measures import Vector

    measure = Vector().fit(numbers())
    hubness_report(measure, np.arange(FEW) % 2, k=3)
    reachability(measure, k=3)


def _index() -> None:
    from lookalike.index import Index, ReFeat

    for table in (mixed(), numbers(), {**mixed(gaps=0.0), "tags": cells("set")}):
        index = Index(kinds=kinds_of(table)).fit(table)
        index.search(0, k=5)
        index.add(table)
        index.search(0, k=5, like=[1], unlike=[2])
        hits: Any = index.search(0, k=5)
        hits[0].explanation  # noqa: B018
    ReFeat(random_state=0).fit(numbers()).search(0, k=3)


def _board() -> None:
    from lookalike.leaderboard import compare, diagnose
    from lookalike.measures import Vector

    y = np.arange(FEW) % 2
    compare(numbers(), y=y)
    diagnose(Vector().fit(numbers()), y=y)


def _outliers() -> None:
    from lookalike.measures import Gower
    from lookalike.prediction import find_outliers

    for table in (mixed(), mixed(gaps=0.0)):
        kinds = kinds_of(table)
        find_outliers(table, n_estimators=3, kinds=kinds, random_state=0)
        find_outliers(table, "neighbors", measure=Gower(kinds=kinds), kinds=kinds)


def _report() -> None:
    from lookalike.show.report import report

    y = np.arange(FEW)
    report(mixed(), ["yes" if at % 2 else "no" for at in y], kinds=KINDS)
    report(numbers(), y * 1.0)
