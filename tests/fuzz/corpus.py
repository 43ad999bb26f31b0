"""Small fitted instances of everything that can be saved: what the fuzzer damages."""

import warnings

import numpy as np

import lookalike as la
from lookalike._load import open_rooms
from lookalike._save import SAVEABLE
from lookalike.columns import MatrixDistance
from lookalike.forests.grower import Grower
from lookalike.measures import Combined, ForestProximity, Gower, Precomputed, Vector
from lookalike.measures.base import MEASURES, Measure

N = 12
RNG = np.random.default_rng(3)
NUMBERS = RNG.random((N, 3)).round(2)
LABELS = np.array(["yes", "no", "maybe"] * (N // 3))
TARGET = NUMBERS[:, 0] + NUMBERS[:, 1]


def numeric():
    """Return columns of numbers."""
    return {name: NUMBERS[:, j] for j, name in enumerate(("a", "b", "c"))}


def plain():
    """Return columns that trees can test, with gaps."""
    size = [None if i == 4 else float(i % 5) for i in range(N)]
    color = [None if i == 7 else "red green blue".split()[i % 3] for i in range(N)]
    grade = [("low", "mid", "high")[i * i % 3] for i in range(N)]
    return {"size": size, "color": color, "grade": grade, "new": [i % 2 == 0 for i in range(N)]}


PLAIN_KINDS = {"grade": ["low", "mid", "high"], "new": "flag", "color": "category"}


def mixed():
    """Return a table with a column of every kind."""
    gap = 5
    words = ["alpha beta", "beta", "gamma alpha", "delta", "beta gamma"]
    more = {
        "title": [words[i % 5] + str(i % 3) for i in range(N)],
        "tags": [frozenset("abcde"[i % 3 : i % 3 + 1 + i % 2]) for i in range(N)],
        "visits": [tuple("xyz"[: 1 + i % 3]) for i in range(N)],
        "carts": [(frozenset({i % 3, 1}), frozenset({i % 2})) for i in range(N)],
        "curve": [[float(j * (i % 4)) for j in range(3 + i % 3)] for i in range(N)],
        "bins": [[1.0 + i % 3, 2.0, float(i % 2)] for i in range(N)],
        "place": [[float(i % 4), 1.0 + float(i % 5)] for i in range(N)],
        "net": [{"nodes": {0: "a", 1: "b", 2: "ab"[i % 2]}, "edges": [(0, 1), (1, 2)][: 1 + i % 2]} for i in range(N)],
    }
    more["title"][gap] = None
    more["tags"][gap] = None
    kinds = {
        "title": "text",
        "tags": "set",
        "visits": "sequence",
        "carts": "sequence",
        "curve": "series",
        "bins": "histogram",
        "place": "vector",
        "net": "graph",
    }
    return la.read_table({**plain(), **more}, kinds={**PLAIN_KINDS, **kinds})


def table_for(measure):
    """Return rows that a measure can be fitted to."""
    kinds = measure.traits.kinds
    if isinstance(measure, Precomputed):
        return np.abs(NUMBERS[:, :1] - NUMBERS[:, :1].T)
    if kinds and "category" not in kinds and "order" not in kinds:
        return numeric()
    if kinds:
        return la.read_table(plain(), kinds=PLAIN_KINDS)
    return mixed() if measure.traits.missing else numeric()


def build():
    """Yield (name, fitted object) of everything that can be saved, each small."""
    from lookalike.cluster import AutoClustering, DensitySearch, SimilarityClustering
    from lookalike.columns import distances_of
    from lookalike.forests import CellSimilarityForest
    from lookalike.predict import (
        NeighborClassifier,
        NeighborRegressor,
        RandomSimilarityForestClassifier,
        RandomSimilarityForestRegressor,
        RandomSimilarityIsolationForest,
        SimilarityForestClassifier,
        SimilarityNetworkClassifier,
        SimilarityNetworkRegressor,
    )
    from lookalike.represent import (
        LayeredRepresentation,
        NystroemRepresentation,
        SimilarityRepresentation,
    )
    from lookalike.search import Index, ReFeat

    open_rooms()
    for name, cls in sorted(MEASURES.items()):
        if cls.__module__.startswith("lookalike.") and cls is not Measure:
            for number, measure in enumerate(cls.examples()):
                yield f"{name}-{number}", measure.fit(table_for(measure), LABELS)
    table = mixed()
    yield "Gower-mixed", Gower(undefined=0.5).fit(table)
    yield "Gower-unfitted", Gower(weights={"a": 2.0}, kinds={"a": "number"})
    for column in table:
        for distance in distances_of(column.kind.name):
            if (distance == "edit_sets") > (column.name == "carts"):
                continue
            if column.name == "curve" and distance != "dtw":
                continue
            few = table.compare_by([column.name])
            yield f"Gower-{column.name}-{distance}", Gower(
                distances={column.name: distance}, undefined=0.5
            ).fit(few)
    matrix = np.abs(NUMBERS[:, :1] - NUMBERS[:, :1].T)
    yield "Gower-matrix", Gower(distances={"at": MatrixDistance(matrix)}).fit({"at": np.arange(N)})
    forest = CellSimilarityForest(4)
    yield "ForestProximity-cells", ForestProximity("shi", forest, random_state=0).fit(table)
    halves = [(0.5, Gower(), ["size", "tags"]), (0.5, Gower(), ["title"])]
    yield "Combined-columns", Combined(halves).fit(table)
    some = la.read_table(plain(), kinds=PLAIN_KINDS)
    yield "NeighborClassifier", NeighborClassifier(Gower(), 3).fit(some, LABELS)
    yield "NeighborClassifier-auto", NeighborClassifier(Gower()).fit(some, "grade")
    yield "NeighborRegressor", NeighborRegressor(Vector(), 3).fit(numeric(), TARGET)
    small = {"n_estimators": 4, "random_state": 0}
    yield "RandomSimilarityForestClassifier", RandomSimilarityForestClassifier(
        **small, oob_score=True
    ).fit(table, LABELS)
    yield "RandomSimilarityForestRegressor", RandomSimilarityForestRegressor(**small).fit(
        table, TARGET
    )
    yield "RandomSimilarityIsolationForest", RandomSimilarityIsolationForest(
        **small, contamination=0.1
    ).fit(table)
    yield "SimilarityForestClassifier", SimilarityForestClassifier(
        Gower(), **small
    ).fit(some, LABELS)
    yield "SimilarityForestClassifier-numbers", SimilarityForestClassifier(**small).fit(
        numeric(), LABELS
    )
    yield "SimilarityNetworkClassifier", SimilarityNetworkClassifier(random_state=0).fit(
        some, LABELS
    )
    yield "SimilarityNetworkRegressor", SimilarityNetworkRegressor(random_state=0).fit(
        some, TARGET
    )
    yield "SimilarityRepresentation", SimilarityRepresentation(
        Gower(), n_prototypes=4, random_state=0
    ).fit(some)
    yield "LayeredRepresentation", LayeredRepresentation(n_prototypes=3, random_state=0).fit(numeric())
    yield "NystroemRepresentation", NystroemRepresentation(
        Vector(), n_prototypes=5, random_state=0
    ).fit(numeric())
    for method in ("spectral", "affinity", "complete", "ward", "medoids", "density", "hdbscan"):
        count = "auto" if method in ("density", "hdbscan") else 2
        yield f"SimilarityClustering-{method}", SimilarityClustering(
            Gower(undefined=0.5), count, method=method, random_state=0
        ).fit(some)
    yield "DensitySearch", DensitySearch(Vector(), min_neighbors=(2, 3)).fit(numeric())
    yield "AutoClustering", AutoClustering([Gower(), Vector()], n_clusters=[2, 3]).fit(numeric())
    index = Index(Gower()).fit(table)
    index.add(table[[1, 2]])
    index.delete([0, 3])
    yield "Index", index
    named = Index("auto", id_column="id").fit({**numeric(), "id": [f"r{i}" for i in range(N)]})
    yield "Index-ids", named
    yield "ReFeat", ReFeat(n_estimators=4, random_state=0).fit(numeric())
    yield "Table", table
    yield "NeighborGraph", Gower().fit(some).neighbors(k=3)
    for cls in sorted(SAVEABLE.values(), key=lambda cls: cls.__name__):
        if issubclass(cls, Grower) and cls.__module__.startswith("lookalike.forests.growers"):
            if cls.__name__ != "MatrixGrower":
                yield cls.__name__, cls()
