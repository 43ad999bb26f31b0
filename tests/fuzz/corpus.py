"""Small fitted instances of everything that can be saved: what the fuzzer damages."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

import lookalike as la
from lookalike.clustering._clustering import BY_DENSITY, METHODS
from lookalike.columns import MatrixDistance, distances_of
from lookalike.measures import Combined, ForestProximity, Gower, Precomputed, Vector
from lookalike.measures.contract.base import MEASURES
from lookalike.measures.forest.methods import OutOfBag, Ting, Zhu2
from lookalike.prediction import NeighborClassifier, NeighborImputer, NeighborRegressor
from lookalike.saving.encode import SAVEABLE
from lookalike.saving.load import import_packages
from lookalike.trees import (
    CellSimilarityForest,
    ExtraForest,
    IsolatingForest,
    SyntheticForest,
)

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
        "net": [
            {"nodes": {0: "a", 1: "b", 2: "ab"[i % 2]}, "edges": [(0, 1), (1, 2)][: 1 + i % 2]}
            for i in range(N)
        ],
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


def at_places():
    """Return places in a matrix."""
    return {"at": np.arange(N)}


def matrix():
    """Return distances between all rows."""
    return np.abs(NUMBERS[:, :1] - NUMBERS[:, :1].T)


def with_ids():
    """Return columns of numbers and one of ids."""
    return {**numeric(), "id": [f"r{i}" for i in range(N)]}


def typed():
    """Return columns that trees can test, as a table."""
    return la.read_table(plain(), kinds=PLAIN_KINDS)


# What can be asked of a loaded object needs rows: the fuzzer names them, its workers make them.
ROWS = {
    "numeric": numeric,
    "typed": typed,
    "mixed": mixed,
    "matrix": matrix,
    "places": at_places,
    "none": lambda: None,
}


def rows_for(measure):
    """Return the name of rows that a measure can be fitted to."""
    kinds = measure.traits.kinds
    if isinstance(measure, Precomputed):
        return "matrix"
    if kinds and "category" not in kinds and "order" not in kinds:
        return "numeric"
    if kinds:
        return "typed"
    return "mixed" if measure.traits.missing else "numeric"


def build():
    """Yield (name, fitted object, name of its rows) of everything that can be saved, each small."""
    import_packages()
    for name, cls in sorted(MEASURES.items()):
        if cls.__module__.startswith("lookalike.") and cls.__name__ in SAVEABLE:
            for number, measure in enumerate(cls.examples()):
                rows = rows_for(measure)
                yield f"{name}-{number}", measure.fit(ROWS[rows](), LABELS), rows
    table, some = mixed(), typed()
    for reading in (Zhu2(), Ting(raw=True), OutOfBag(missing="by_mass")):
        bagged = SyntheticForest(20, max_samples=0.2)
        measure = ForestProximity(reading, bagged, random_state=0).fit(some)
        yield f"ForestProximity-{type(reading).__name__}", measure, "typed"
    frame = pd.DataFrame(numeric())
    forest = RandomForestRegressor(2, min_samples_leaf=2, random_state=0)
    forest.fit(frame, np.arange(N))
    yield "ForestProximity-model", ForestProximity("shi", model=forest).fit(frame), "numeric"
    yield "Gower-mixed", Gower(undefined=0.5).fit(table), "mixed"
    dates = {
        "day": [f"{i + 1}.3.2024" for i in range(N)],
        "price": [f"{i},50 kg" for i in range(N)],
    }
    yield "Gower-written", Gower().fit(dates), "none"
    yield "Gower-unfitted", Gower(weights={"a": 2.0}, kinds={"a": "number"}), "none"
    for column in table:
        for distance in distances_of(column.kind.name):
            if (distance == "edit_sets") > (column.name == "carts"):
                continue
            if column.name == "curve" and distance == "euclidean":  # for series of one length
                continue
            few = table.compare_by([column.name])
            measure = Gower(distances={column.name: distance}, undefined=0.5).fit(few)
            yield f"Gower-{column.name}-{distance}", measure, "mixed"
    given = MatrixDistance(matrix())
    yield "Gower-matrix", Gower(distances={"at": given}).fit(at_places()), "places"
    forest = CellSimilarityForest(4)
    yield (
        "ForestProximity-cells",
        ForestProximity("shi", forest, random_state=0).fit(table),
        "mixed",
    )
    halves = [(0.5, Gower(), ["size", "grade"]), (0.5, Gower(), ["visits"])]
    yield "Combined-columns", Combined(halves).fit(table), "mixed"
    yield "NeighborClassifier", NeighborClassifier(Gower(), 3).fit(some, LABELS), "typed"
    yield "NeighborClassifier-named", NeighborClassifier(Gower()).fit(some, "grade"), "typed"
    yield "NeighborRegressor", NeighborRegressor(Vector(), 3).fit(numeric(), TARGET), "numeric"
    yield "NeighborImputer", NeighborImputer(3, random_state=0).fit(some), "typed"
    yield from forests(table, some)
    yield from tasks(table, some)


def forests(table, some):
    """Yield fitted forests."""
    from lookalike.prediction import (
        RandomSimilarityForestClassifier,
        RandomSimilarityForestRegressor,
        RandomSimilarityIsolationForest,
        SimilarityForestClassifier,
    )

    small = {"n_estimators": 4, "random_state": 0}
    forest = RandomSimilarityForestClassifier(**small, oob_score=True).fit(table, LABELS)
    yield "RandomSimilarityForestClassifier", forest, "mixed"
    forest = RandomSimilarityForestRegressor(**small).fit(table, TARGET)
    yield "RandomSimilarityForestRegressor", forest, "mixed"
    forest = RandomSimilarityIsolationForest(**small, contamination=0.1).fit(table)
    yield "RandomSimilarityIsolationForest", forest, "mixed"
    forest = SimilarityForestClassifier(Gower(), **small).fit(some, LABELS)
    yield "SimilarityForestClassifier", forest, "typed"
    forest = SimilarityForestClassifier(**small).fit(numeric(), LABELS)
    yield "SimilarityForestClassifier-numbers", forest, "numeric"
    forest = SimilarityForestClassifier("precomputed", **small).fit(matrix(), LABELS)
    yield "SimilarityForestClassifier-matrix", forest, "matrix"


def tasks(table, some):
    """Yield fitted tasks, and records that tasks hold."""
    from lookalike.clustering import (
        AutoClustering,
        DensitySearch,
        MixedKMeans,
        SimilarityClustering,
    )
    from lookalike.index import Index, ReFeat
    from lookalike.prediction import SimilarityNetworkClassifier, SimilarityNetworkRegressor
    from lookalike.represent import (
        LayeredRepresentation,
        MapLayout,
        NeighborsTransformer,
        NystroemRepresentation,
        SimilarityRepresentation,
    )

    network = SimilarityNetworkClassifier(random_state=0).fit(some, LABELS)
    yield "SimilarityNetworkClassifier", network, "typed"
    network = SimilarityNetworkRegressor(random_state=0).fit(some, TARGET)
    yield "SimilarityNetworkRegressor", network, "typed"
    few = {"n_prototypes": 4, "random_state": 0}
    yield "SimilarityRepresentation", SimilarityRepresentation(Gower(), **few).fit(some), "typed"
    yield "LayeredRepresentation", LayeredRepresentation(**few).fit(numeric()), "numeric"
    yield (
        "NystroemRepresentation",
        NystroemRepresentation(Vector(), **few).fit(numeric()),
        "numeric",
    )
    yield "MapLayout", MapLayout(Gower(), 4).fit(some), "typed"
    yield "NeighborsTransformer", NeighborsTransformer("gower", n_neighbors=3).fit(some), "typed"
    for method in METHODS:
        count = "auto" if method in BY_DENSITY else 2
        model = SimilarityClustering(Gower(undefined=0.5), count, method=method, random_state=0)
        yield f"SimilarityClustering-{method}", model.fit(some), "typed"
    model = DensitySearch(Vector(), min_neighbors=(2, 3)).fit(numeric())
    yield "DensitySearch", model, "numeric"
    model = AutoClustering([Gower(), Vector()], n_clusters=[2, 3]).fit(numeric())
    yield "AutoClustering", model, "numeric"
    yield "MixedKMeans", MixedKMeans("auto", max_clusters=3, random_state=0).fit(some), "typed"
    index = Index(Gower()).fit(table)
    index.add(table[[1, 2]])
    index.delete([0, 3])
    yield "Index", index, "mixed"
    yield "Index-ids", Index("auto", id_column="id").fit(with_ids()), "numeric"
    yield "ReFeat", ReFeat(n_estimators=4, random_state=0).fit(numeric()), "numeric"
    yield "Table", table, "none"
    yield "NeighborGraph", Gower().fit(some).neighbors(k=3), "none"
    for cls in (SyntheticForest, ExtraForest, IsolatingForest, CellSimilarityForest):
        yield cls.__name__, cls(), "none"
