"""Growing forests and reading similarities from them, beside numpy, scipy and scikit-learn."""

from functools import partial

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

TREES = 1000


def uniform(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d), dtype=np.float32)


def connected(n, d, seed=0):
    """Make normal columns, each leaning on the one before."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    for j in range(1, d):
        rows[:, j] += 0.7 * rows[:, j - 1]
    return rows


def same(ours, theirs):
    """Want the same matrix up to rounding."""
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    gap = float(np.max(np.abs(ours - theirs)))
    return f"values differ by up to {gap:.1e}" if gap > 1e-6 else ""


def same_shape(ours, theirs):
    """Check that forests have the same size; random trees cannot be compared individually."""
    return "" if ours == theirs else f"{ours} and {theirs}"


# -- how often two rows share a leaf: 1,000 new rows, 10,000 fitted ones, 1,000 trees ------------


def matching_problem(small):
    from lookalike.measures import StochasticForest

    n, m = (300, 40) if small else (10_000, 1_000)
    measure = StochasticForest(TREES, 5, random_state=0).fit(uniform(n, 10))
    new = uniform(m, 10, seed=1)
    return measure, new, measure.encode(new).arrays["codes"], measure.rows_.arrays["codes"]


def matching(problem):
    measure, new, _, _ = problem
    return lambda: measure.similarity(new)  # finds the leaves of the new rows, too


def matching_numpy(problem):
    """Compare blocks of codes that stay in the cache, which is several times faster than one."""
    _, _, a, b = problem

    def run():
        out = np.empty((len(a), len(b)))
        for i in range(len(a)):
            for j in range(0, len(b), 500):
                out[i, j : j + 500] = np.count_nonzero(a[i] == b[j : j + 500], axis=1)
        out /= a.shape[1]
        return out

    return run


def matching_scipy(problem):
    from scipy.spatial.distance import cdist

    _, _, a, b = problem
    return lambda: 1 - cdist(a, b, metric="hamming")


# -- growing balanced trees and finding the leaves of all rows -----------------------------------


def encoding_problem(small):
    return uniform(200 if small else 10_000, 100)


def encoding(rows):
    from lookalike.measures import StochasticForest

    return lambda: StochasticForest(TREES, 5, random_state=0).fit(rows).rows_.arrays["codes"].shape


def encoding_sklearn(rows):
    from sklearn.ensemble import RandomTreesEmbedding

    def run():
        forest = RandomTreesEmbedding(TREES, max_depth=5, random_state=0)
        return forest.fit_transform(rows).shape[0], len(forest.estimators_)

    return run


# -- growing alone -------------------------------------------------------------------------------


def growing(rows):
    from lookalike.trees.thresholds.stochastic import grow_stochastic

    return lambda: grow_stochastic(rows, TREES, 5, random_state=0).n_trees


def growing_sklearn(rows):
    from sklearn.ensemble import IsolationForest

    return lambda: len(IsolationForest(n_estimators=TREES, random_state=0).fit(rows).estimators_)


def synthetic_problem(small):
    from lookalike.trees.growers import add_synthetic

    rows = connected(100 if small else 2_000, 10)
    return rows, np.concatenate([rows, add_synthetic(rows, random_state=0)])


def synthetic(problem):
    from lookalike.trees import SyntheticForest

    return lambda: SyntheticForest(100, random_state=0).grow(problem[0]).forest.n_trees


def synthetic_sklearn(problem):
    from sklearn.ensemble import RandomForestClassifier

    labels = np.repeat([1, 0], len(problem[0]))

    def run():
        forest = RandomForestClassifier(
            100, max_features=0.5, max_samples=0.8, random_state=0, n_jobs=-1
        )
        return len(forest.fit(problem[1], labels).estimators_)

    return run


# -- same-leaf proximity of a fitted random forest -----------------------------------------------


def proximity_problem(small):
    from sklearn.ensemble import RandomForestClassifier

    rows = connected(150 if small else 5_000, 20)
    labels = (rows[:, 3] + rows[:, 7] > 0).astype(int)
    return rows, RandomForestClassifier(100, random_state=0, n_jobs=-1).fit(rows, labels)


def proximity(problem):
    from lookalike.measures import ForestProximity

    rows, forest = problem
    return lambda: ForestProximity("shi", model=forest).fit(rows).similarity()


def proximity_numpy(problem):
    rows, forest = problem

    def run():
        leaves = forest.apply(rows)
        out = np.zeros((len(rows), len(rows)))
        for column in leaves.T:
            out += column[:, None] == column
        out /= leaves.shape[1]
        return out

    return run


def proximity_sparse(problem):
    from sklearn.preprocessing import OneHotEncoder

    rows, forest = problem

    def run():
        hot = OneHotEncoder(dtype=np.float32).fit_transform(forest.apply(rows))
        return (hot @ hot.T).toarray() / len(forest.estimators_)

    return run


# -- ratio similarity of a fully grown forest ----------------------------------------------------


def ratio_problem(small):
    from lookalike.measures import ForestProximity

    n = 60 if small else 2_000
    # Both sides take a time proportional to the trees; twenty keep the slow side under a minute.
    return ForestProximity("ratio", n_estimators=20, random_state=0).fit(connected(n, 10))


def ratio(measure):
    return lambda: measure.similarity()


def ratio_numpy(measure, real=np.float64):
    """Per tree, multiply the path and outcome matrices over its different tests."""
    forest, bins = measure.forest_, measure.rows_.arrays["bins"]
    codes = measure.rows_.arrays["codes"]
    trees = []
    for t in range(forest.n_trees):
        at = np.arange(forest.offsets[t], forest.offsets[t + 1])
        inside = at[forest.feature[at] >= 0]
        _, first = np.unique(forest.tests.test[inside], return_index=True)
        number = {forest.tests.test[v]: u for u, v in enumerate(inside[first])}
        outcome = bins[:, forest.feature[inside[first]]] <= forest.tests.cut[inside[first]]
        on_path = np.zeros(outcome.shape, real)
        first_leaf, last_leaf = forest.nodes.first[inside], forest.nodes.last[inside]
        for v, low, high in zip(inside, first_leaf, last_leaf, strict=True):
            through = (codes[:, t] >= low) & (codes[:, t] < high)
            on_path[through, number[forest.tests.test[v]]] = 1
        trees.append((on_path, outcome.astype(real)))

    def run():
        out = np.zeros((len(bins), len(bins)))
        for p, r in trees:
            a, b = p * r, p * (1 - r)
            g = a @ r.T + b @ (1 - r).T
            c = a @ a.T + b @ b.T
            h = p.sum(axis=1)
            out += (g + g.T - c) / (h[:, None] + h - c)
        return out / len(trees)

    return run


# -- ten nearest of 20,000 rows, without a matrix ------------------------------------------------


def neighbors_problem(method):
    def problem(small):
        from lookalike.measures import ForestProximity
        from lookalike.trees import IsolatingForest, SyntheticForest

        rows = connected(120 if small else 20_000, 10)
        grower = IsolatingForest if method == "ting" else SyntheticForest
        return ForestProximity(method, grower(max_samples=256), random_state=0).fit(rows)

    return problem


def neighbors(measure):
    return lambda: measure.kneighbors(n_neighbors=10)


SAME_LEAF = "apply + numpy per tree"
SPARSE = "sparse one-hot product"
# -- RF-GAP: all lists of ten neighbors ------------------------------------------------------------

LEAF_INCIDENCE = "scipy CSR, leaf incidence"


def gap_problem(small):
    """Return rows, a forest fitted on them, its leaves and how often it drew each row."""
    from sklearn.ensemble import RandomForestRegressor

    n = 500 if small else 50_000
    rows = connected(n, 10)
    target = rows[:, 0] * rows[:, 1] + rows[:, 2]
    forest = RandomForestRegressor(100, n_jobs=-1, random_state=0).fit(rows, target)
    drawn = [np.bincount(rows, minlength=n) for rows in forest.estimators_samples_]
    return rows, forest, forest.apply(rows), np.stack(drawn, axis=1)


def gap(problem):
    from lookalike.measures import ForestProximity

    rows, forest, _, _ = problem
    measure = ForestProximity("gap", model=forest).fit(rows)
    return lambda: measure.neighbors(None, 10).distances


def gap_sparse(problem):
    """Multiply weights of leaves by rows and leaves, as the authors' program does, in blocks."""
    from scipy import sparse

    _, _, leaves, drawn = problem
    n, trees = leaves.shape
    offsets = np.concatenate([[0], np.cumsum(leaves.max(axis=0) + 1)])
    column, row = (leaves + offsets[:-1]).ravel(), np.repeat(np.arange(n), trees)
    size = (n, int(offsets[-1]))
    times = sparse.csr_array((drawn.ravel().astype(float), (row, column)), size)
    times.eliminate_zeros()
    mass = np.asarray(times.sum(axis=0)).ravel()
    unseen = (drawn == 0) / (drawn == 0).sum(axis=1, keepdims=True)
    query = sparse.csr_array((unseen.ravel() / mass[column], (row, column)), size)
    query.eliminate_zeros()
    members = times.T.tocsr()

    def run():
        out = np.ones((n, 10))
        for start in range(0, n, 1_000):
            block = (query[start : start + 1_000] @ members).tocsr()
            for i, (a, b) in enumerate(zip(block.indptr, block.indptr[1:], strict=False)):
                largest = -np.sort(-block.data[a:b])[:10]
                out[start + i, : len(largest)] = 1.0 - largest
        return out

    return run


CASES = [
    Case(
        "shared leaves, 1,000 x 10,000 rows, 1,000 trees",
        matching_problem,
        matching,
        {"numpy, blocks": matching_numpy, "scipy hamming": matching_scipy},
        same,
        (Faster("numpy, blocks", 1 / 40), Faster("scipy hamming", 1 / 5)),
    ),
    Case(
        "grow 1,000 balanced trees, find the leaves of 10,000 x 100",
        encoding_problem,
        encoding,
        {"RandomTreesEmbedding": encoding_sklearn},
        same_shape,
        (Faster("RandomTreesEmbedding", 1 / 50),),
    ),
    Case(
        "grow 1,000 balanced trees",
        encoding_problem,
        growing,
        {"IsolationForest": growing_sklearn},
        same_shape,
        (Faster("IsolationForest", 0.1),),
    ),
    Case(
        "grow 100 trees against synthetic rows",
        synthetic_problem,
        synthetic,
        {"RandomForestClassifier": synthetic_sklearn},
        same_shape,
        (Faster("RandomForestClassifier", 3),),
    ),
    Case(
        "same-leaf proximity of a fitted forest, 5,000 rows, 100 trees",
        proximity_problem,
        proximity,
        {SAME_LEAF: proximity_numpy, SPARSE: proximity_sparse},
        same,
        (Faster(SAME_LEAF, 1 / 10), Faster(SPARSE, 1 / 2.5)),
    ),
    Case(
        "ratio similarity, 2,000 rows, fully grown trees",
        ratio_problem,
        ratio,
        {
            "numpy, products per tree": ratio_numpy,
            "the same in single precision": partial(ratio_numpy, real=np.float32),
        },
        same,
        (Faster("numpy, products per tree", 1 / 100),),
    ),
    *(
        Case(
            f"ten nearest of 20,000 by {method}",
            neighbors_problem(method),
            neighbors,
            {},
            same,
            (Smaller(1000),),
        )
        for method in ("ratio", "shi", "zhu3", "ting")
    ),
    Case(
        "ten nearest of 50,000 by gap, a fitted forest of 100 trees",
        gap_problem,
        gap,
        {LEAF_INCIDENCE: gap_sparse},
        same,
        (Faster(LEAF_INCIDENCE, 1 / 5), Smaller(1000)),
    ),
]
