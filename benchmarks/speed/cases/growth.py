"""Exponents of time and memory for every measure and task; see ``benchmarks.speed.growth``."""

import atexit
import shutil
import tempfile
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed.cases.tables import doubles, people
from benchmarks.speed.growth import Growth

PAIRS = "all pairs of rows are compared"
FOREST = "n log n, and rows of fully grown trees are fetched in an order that no cache likes"
LEAVES = "every question looks at the ways or leaves of all trees, which grow with the rows"
OUTGROWN = "the matrix outgrows the cache"
CACHE = "scipy's linkage, whose matrix outgrows the cache"
SORTED = "n log n: values are sorted, and looked up in lists that outgrow the cache"
LARGE = 128_000  # rows of numbers that no cache holds: below, more rows also mean slower memory
TILES = "tiles of up to 2,048 x 2,048 pairs; linear once there are several"
WHOLE = "a matrix of all pairs while it fits, of landmarks beyond"
LANDMARKS = "rows go to the nearest of the clusters that landmarks make"
SAMPLE = "a sample of the rows is looked at; all of them are read"
ASSIGNED = "the least sum of distances takes cubic time in the worst case"
SOLVED_AGAIN = "lists that were too short are made longer, and all pairs are found again"
MATRIX = "the answer is a matrix of all pairs"


def numbers(n, columns=8):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(20, columns)) * 3
    return centers[np.arange(n) % 20] + rng.normal(size=(n, columns))


def mixed(n):
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    return {
        "size": size,
        "weight": rng.normal(size=n),
        "color": rng.choice(["red", "green", "blue", "white"], n).tolist(),
        "new": (rng.random(n) < 0.5).tolist(),
    }


def labels(n):
    return np.arange(n) % 3


def fit(make, rows, n):
    table = rows(n)
    return lambda: make().fit(table)


def fit_target(make, rows, n):
    table, y = rows(n), labels(n)
    return lambda: make().fit(table, y)


def predict(make, rows, n):
    fitted, new = make().fit(rows(500), labels(500)), rows(n)
    return lambda: fitted.predict(new)


def neighbors(make, rows, n):
    fitted = make().fit(rows(n))
    return lambda: fitted.kneighbors(n_neighbors=10)


def question(make, rows, n):
    fitted, new = make().fit(rows(n)), rows(20)
    fitted.kneighbors(new, n_neighbors=10)  # codes are made at the first question
    return lambda: fitted.kneighbors(new, n_neighbors=10)


def report(n):
    from lookalike.hubness import hubness_report
    from lookalike.measures import Vector

    fitted = Vector("cityblock").fit(numbers(n))
    return lambda: hubness_report(fitted)


def search(n):
    import lookalike as la

    index = la.Index().fit(mixed(n))
    index.search(0, k=10)
    return lambda: [index.search(row, k=10) for row in range(20)]


def add(n):
    import lookalike as la

    rows = mixed(n)
    index = la.Index().fit(mixed(1000))
    return lambda: index.add(rows)


def matrix(n):
    from lookalike.measures import Gower

    fitted = Gower().fit(mixed(n))
    return fitted.similarity


def ask(verb, options, n):
    import lookalike as la

    rows = {**mixed(n), "group": [f"group {label}" for label in labels(n)]}
    return lambda: getattr(la, verb)(rows, **options)


def ask_both(verb, times, n):
    """Ask about n rows and so many times as many others."""
    import lookalike as la

    rows = mixed(n + times * n)
    ours, theirs = ({name: cells[part] for name, cells in rows.items()} for part in halves(n))
    return lambda: getattr(la, verb)(ours, theirs)


def halves(n):
    return slice(0, n), slice(n, None)


def ask_doubles(n):
    import lookalike as la

    frame, _ = doubles(False, n)
    return lambda: la.dedupe(frame, on=list(frame))


def ask_links(n):
    import lookalike as la

    frame, _ = doubles(False, n)
    again = frame[n:].reset_index(drop=True)
    return lambda: la.link(frame[:n], again, on=list(frame))


def ask_audit(n):
    import lookalike as la

    tables = people(False, n)
    return lambda: la.audit(*tables)


def build(n):
    import lookalike as la

    rows = mixed(n)
    return lambda: la.Index().fit(rows)


def build_shards(n):
    """Build an index in a folder, from one Parquet file, as ``lookalike index build`` does."""
    import lookalike as la

    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file, numbers = Path(folder) / "rows.parquet", count()
    pq.write_table(pa.table(mixed(n)), file)
    # A folder of its own for each call: a finished build is not repeated.
    return lambda: la.index.build_index([file], Path(folder) / str(next(numbers)))


def read(n):
    import lookalike as la

    rows = mixed(n)
    return lambda: la.read_table(rows)


def closure(n):
    from lookalike.measures import Gower
    from lookalike.represent import transitive_closure

    square = Gower().fit(mixed(n)).similarity()
    return lambda: transitive_closure(square)


def represent(n):
    from lookalike.measures import Gower
    from lookalike.represent import SimilarityRepresentation

    table, new = mixed(500), mixed(n)
    fitted = SimilarityRepresentation(Gower(), random_state=0).fit(table, labels(500))
    return lambda: fitted.transform(new)


def layout(n):
    from lookalike.measures import Vector
    from lookalike.represent import layout as map_of

    graph = Vector().fit(numbers(n)).neighbors(k=15)
    return lambda: map_of(graph, random_state=0)


def measures():
    from lookalike.hubness import LocalScaling, MutualProximity
    from lookalike.measures import ForestProximity, Gower, Ranked, StochasticForest, Vector

    vector = partial(Vector, "cityblock")
    deep = partial(ForestProximity, "ratio", n_estimators=10, random_state=0)
    small = {"n_estimators": 20, "random_state": 0}
    yield "Gower", Gower, mixed
    yield "Vector, cityblock", vector, numbers
    yield "Vector, euclidean", Vector, numbers
    yield "Ranked", Ranked, numbers
    yield "StochasticForest", partial(StochasticForest, **small), numbers
    for method in ("shi", "zhu3", "ting"):
        yield f"ForestProximity, {method}", partial(ForestProximity, method, **small), numbers
    yield "ForestProximity, ratio", deep, numbers
    yield "LocalScaling", lambda: LocalScaling(vector()), numbers
    model = "gauss_independent"
    yield "MutualProximity, Gauss", lambda: MutualProximity(vector(), model=model), numbers


def growths():
    """Return every piece of work."""
    from lookalike.clustering import SimilarityClustering
    from lookalike.measures import Gower, Vector
    from lookalike.prediction import NeighborClassifier, RandomSimilarityForestClassifier

    learning = ("LocalScaling", "MutualProximity, Gauss")  # from the neighbors of all rows
    for name, make, rows in measures():
        fits, reason = (2.0, PAIRS) if name in learning else (1.0, "")
        above = ""
        if name == "Ranked":
            above = SORTED
        elif name.startswith("ForestProximity"):
            above = FOREST
        start = 2000 if fits > 1 else 16_000
        first = LARGE if name.startswith(("Vector", "Ranked")) else start
        yield Growth(f"{name}: fit", partial(fit, make, rows), fits, 1.0, first, reason, above)
        above = TILES if "ratio" in name or "zhu3" in name else ""
        yield Growth(
            f"{name}: neighbors of all",
            partial(neighbors, make, rows),
            2.0,
            1.0,
            2000,
            PAIRS,
            above,
        )
        deep = name.endswith(("ratio", "zhu3"))
        yield Growth(
            f"{name}: 20 questions",
            partial(question, make, rows),
            start=start,
            exception=LEAVES if deep else "",
        )
    yield Growth("Gower: the whole matrix", matrix, 2.0, 2.0, 1000, MATRIX)
    yield Growth("read_table", read)
    label, one = {"label": "group"}, {"row": 0}
    # Verb, options, exponents of time and of memory, the first size, why, and known exceptions. The
    # first sizes are those from which on the rows cost more than what every call costs.
    for verb, options, time, memory, start, reason, above in (
        ("inspect", {}, 1.0, 1.0, 64_000, "", ""),
        ("search", one, 1.0, 1.0, 64_000, "", SORTED),
        ("explain", {"row": 0, "other": 1}, 1.0, 1.0, 64_000, "", SORTED),
        ("cluster", {}, 2.0, 2.0, 2000, WHOLE, ""),
        ("cluster", {}, 1.0, 1.0, 16_000, LANDMARKS, ""),
        ("outliers", {}, 2.0, 1.0, 8000, PAIRS, ""),
        ("hubs", {}, 2.0, 1.0, 16_000, PAIRS, ""),
        ("classify", label, 1.0, 1.0, 1000, "", FOREST),
        ("regress", {"label": "weight"}, 1.0, 1.0, 1000, "", FOREST),
        ("compare", {"measures": "gower", **label}, 1.0, 1.0, 128_000, SAMPLE, ""),
        ("report", label, 1.0, 1.0, 32_000, SAMPLE, ""),
        ("impute", {}, 2.0, 1.0, 64_000, PAIRS, ""),
    ):
        call = partial(ask, verb, options)
        name = f"la.{verb}, landmarks" if reason == LANDMARKS else f"la.{verb}"
        yield Growth(name, call, time, memory, start, reason, above)
    # Rows of two tables grow together, so that all pairs of them do.
    yield Growth("la.join", partial(ask_both, "join", 1), 2.0, 1.0, 8000, PAIRS)
    yield Growth("la.match", partial(ask_both, "match", 3), 2.0, 1.0, 8000, PAIRS)
    # With as many controls as treated rows all of them are used.
    none_left = partial(ask_both, "match", 1)
    yield Growth("la.match, no spare controls", none_left, 3.0, 2.0, 100, ASSIGNED, SOLVED_AGAIN)
    yield Growth("la.audit", ask_audit, 2.0, 1.0, 16_000, PAIRS)
    yield Growth("la.dedupe", ask_doubles, start=8000)
    yield Growth("la.link", ask_links, start=8000)
    yield Growth("la.Index, build", build, start=64_000)
    yield Growth("la.index, build of shards", build_shards, start=64_000)
    yield Growth("Index.search, 20 questions", search)
    yield Growth("Index.add", add)
    yield Growth("hubness_report", report, 2.0, 1.0, 2000, PAIRS)
    for method, exponent, memory, reason in (
        ("density", 2.0, 1.0, PAIRS),
        ("hdbscan", 2.0, 1.0, PAIRS),
        ("medoids", 2.0, 2.0, MATRIX),
        ("components", 2.0, 2.0, MATRIX),
        ("spectral", 2.0, 2.0, MATRIX),
        ("complete", 2.0, 2.0, MATRIX),
    ):
        make = partial(SimilarityClustering, Vector(), method=method, n_clusters=5, random_state=0)
        if method in ("density", "hdbscan"):
            make = partial(SimilarityClustering, Vector(), method=method)
        above = CACHE if method == "complete" else ""
        call = partial(fit, make, numbers)
        yield Growth(f"{method} clusters", call, exponent, memory, 1000, reason, above)
    forest = partial(RandomSimilarityForestClassifier, n_estimators=10, random_state=0)
    grow = partial(fit_target, forest, mixed)
    yield Growth("random similarity forest: fit", grow, exception=FOREST)
    yield Growth("random similarity forest: predict", partial(predict, forest, mixed))
    near = partial(NeighborClassifier, Gower())
    yield Growth("NeighborClassifier: predict", partial(predict, near, mixed))
    yield Growth("representation by prototypes", represent)
    yield Growth("closure of a matrix", closure, 2.0, 2.0, 400, MATRIX, OUTGROWN)
    # From 4,096 rows on there are byte codes too, so memory takes a step between 4,000 and 8,000.
    yield Growth("layout of a neighbor graph", layout, start=8000)


CASES: list = []  # no baselines; ``GROWTHS`` is measured instead
GROWTHS = growths
