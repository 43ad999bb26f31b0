"""What tasks cost: questions to an index, rows that come later, clusters of many rows."""

import time

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller, Tail

K = 10
QUESTIONS = 200
SKLEARN = "scikit-learn brute"
ANEW = "a new index"
DBSCAN = "scikit-learn DBSCAN"


TAIL = Tail(5)


def rows(small):
    n = 2_000 if small else 100_000
    return np.random.default_rng(0).random((n, 20))


def ask_index(problem):
    from lookalike import Index
    from lookalike.measures import Vector

    index = Index(Vector("cityblock")).fit(problem)
    asked = np.random.default_rng(1).integers(0, len(problem), QUESTIONS).tolist()
    index.search(asked[0], K)  # compiled code is no part of an answer

    def run():
        found = []
        for id in asked:
            began = time.perf_counter()
            hits = index.search(id, K)
            TAIL.seconds.append(time.perf_counter() - began)
            found.append(hits.ids)
        return np.array(found)

    return run


def ask_sklearn(problem):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric="cityblock").fit(problem)
    asked = np.random.default_rng(1).integers(0, len(problem), QUESTIONS).tolist()

    def run():
        found = []
        for id in asked:
            near = model.kneighbors(problem[id : id + 1], return_distance=False)[0]
            found.append(near[near != id][:K])
        return np.array(found)

    return run


def same_rows(ours, theirs):
    wrong = int((ours != theirs).sum())
    return f"{wrong} of {ours.size} rows differ" if wrong else ""


def two_parts(small):
    n, more = (2_000, 100) if small else (1_000_000, 10_000)
    random = np.random.default_rng(0)
    return random.random((n, 10)), random.random((more, 10))


def add_rows(problem):
    from lookalike import Index
    from lookalike.measures import Vector

    fitted, more = problem
    index = Index(Vector("cityblock")).fit(fitted)

    def run():
        ids = index.add(more)
        return index, ids[0]

    return run


def fit_anew(problem):
    from lookalike import Index
    from lookalike.measures import Vector

    fitted, more = problem

    def run():
        return Index(Vector("cityblock")).fit(np.vstack([fitted, more])), len(fitted)

    return run


def same_answers(ours, theirs):
    """Want the same neighbors of the first row that was added, by distance."""
    found = []
    for index, id in (ours, theirs):
        found.append([hit.distance for hit in index.search(id, K)])
    # Ours may hold the rows several times by now, so look at the nearest that differ.
    one, other = (sorted({d for d in distances if d > 0}) for distances in found)
    size = min(len(one), len(other))
    return "" if one[:size] == other[:size] and size else f"{one} is not {other}"


def blobs(small):
    n = 2_000 if small else 100_000
    random = np.random.default_rng(0)
    return 8 * random.random((20, 20))[random.integers(0, 20, n)] + random.normal(size=(n, 20))


EPS, DENSE = 5.0, 10
MEDOIDS, KMEDOIDS = 50, "kmedoids (BUILD, FasterPAM)"


def density(problem):
    from lookalike.clustering import SimilarityClustering
    from lookalike.measures import Vector

    model = SimilarityClustering(Vector(), method="density", eps=EPS, min_neighbors=DENSE)
    return lambda: model.fit(problem).labels_


def dbscan(problem):
    from sklearn.cluster import DBSCAN

    model = DBSCAN(eps=EPS, min_samples=DENSE, algorithm="brute", n_jobs=-1)
    return lambda: model.fit(problem).labels_


def same_clusters(ours, theirs):
    """Want the same partition of the dense rows; a row between two clusters may go either way."""
    from sklearn.metrics import adjusted_rand_score

    score = adjusted_rand_score(theirs, ours)
    return "" if score > 0.9999 else f"adjusted Rand index {score:.4f}"


def square(small):
    from scipy.spatial.distance import cdist

    x = np.random.default_rng(0).random((300 if small else 4_000, 10))
    return cdist(x, x, "cityblock")


def our_medoids(problem):
    from lookalike.clustering import SimilarityClustering
    from lookalike.measures import Precomputed

    model = SimilarityClustering(Precomputed(), MEDOIDS, method="medoids")
    model.fit(problem[:50, :50])  # compiled code is no part of an answer
    return lambda: problem[:, model.fit(problem).exemplars_].min(axis=1).sum()


def their_medoids(problem):
    import kmedoids

    return lambda: kmedoids.fasterpam(problem, MEDOIDS, max_iter=300, init="build", n_cpu=1).loss


def no_dearer(ours, theirs):
    return "" if ours <= theirs * (1 + 1e-12) else f"total deviation {ours} above {theirs}"


CASES = [
    Case(
        "Index.search, one question at a time, 100,000 x 20",
        rows,
        ask_index,
        {SKLEARN: ask_sklearn},
        same_rows,
        (TAIL, Faster(SKLEARN, 1.0)),
    ),
    Case(
        "Index.add, 10,000 rows to 1,000,000 x 10",
        two_parts,
        add_rows,
        {ANEW: fit_anew},
        same_answers,
        (Faster(ANEW, 0.2),),
    ),
    Case(
        "density clusters of 100,000 x 20, without n x n",
        blobs,
        density,
        {DBSCAN: dbscan},
        same_clusters,
        (Smaller(1_000),),
    ),
    Case(
        "50 medoids of a 4,000 x 4,000 matrix",
        square,
        our_medoids,
        {KMEDOIDS: their_medoids},
        no_dearer,
        (Faster(KMEDOIDS, 1.0),),
    ),
]
