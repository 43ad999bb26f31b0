"""Exponents of time and memory for every measure and task; see ``benchmarks.speed.growth``."""

from functools import partial

import numpy as np

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
CODES = "byte codes from 4,096 rows on, and working space for blocks of queries: a step in memory"
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


def ask_both(verb, n):
    """Ask about n rows and as many others."""
    import lookalike as la

    rows = mixed(2 * n)
    ours, theirs = ({name: cells[part] for name, cells in rows.items()} for part in halves(n))
    return lambda: getattr(la, verb)(ours, theirs)


def halves(n):
    return slice(0, n), slice(n, 2 * n)


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
    # Verb, options, exponents of time and of memory, the first size, why.
    for verb, options, time, memory, start, reason in (
        ("inspect", {}, 1.0, 1.0, 16_000, ""),
        ("search", one, 1.0, 1.0, 64_000, ""),
        ("cluster", {}, 1.0, 1.0, 16_000, ""),  # landmarks; up to 8,000 rows all pairs
        ("outliers", {}, 1.0, 1.0, 8000, ""),  # a sample; up to 4,096 rows all pairs
        ("hubs", {}, 2.0, 1.0, 1000, PAIRS),
        ("classify", label, 1.0, 1.0, 1000, ""),
        ("regress", {"label": "weight"}, 1.0, 1.0, 1000, ""),
        ("compare", {"measures": "gower", **label}, 1.0, 1.0, 4000, ""),  # a sample of 2,000
        ("report", label, 1.0, 1.0, 4000, ""),
    ):
        call = partial(ask, verb, options)
        above = FOREST if verb in ("classify", "regress") else ""
        yield Growth(f"la.{verb}", call, time, memory, start, reason, above)
    # Rows of two tables grow together, so that all pairs of them do.
    yield Growth("la.join", partial(ask_both, "join"), 2.0, 1.0, 2000, PAIRS, CODES)
    yield Growth("la.match", partial(ask_both, "match"), 2.0, 1.0, 1000, PAIRS)
    yield Growth("la.audit", ask_audit, 2.0, 1.0, 2000, PAIRS)
    yield Growth("la.impute", partial(ask, "impute", {}), 2.0, 1.0, 1000, PAIRS)
    yield Growth("la.dedupe", ask_doubles, start=2000)
    yield Growth("la.link", ask_links, start=2000)
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
