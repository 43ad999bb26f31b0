"""Random similarity forests: numbers beside scikit-learn's forest, objects beside plain Python.

The plain Python forest below does the same work in the obvious way, one call of the distance per
pair of cells. All its trees would take minutes, so it grows 4 of 100; the target is scaled to that:
1.25 times the time of 4 trees is a twentieth of the time of 100.
"""

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

TREES = 100
SKLEARN = "scikit-learn RandomForestClassifier"
PYTHON_TREES = 4
PYTHON = f"plain Python, a call per pair, {PYTHON_TREES} of {TREES} trees"


def numbers(small):
    from sklearn.datasets import make_classification

    n = 300 if small else 5_000
    X, y = make_classification(2 * n, 20, n_informative=8, random_state=0)
    return X[:n], y[:n], X[n:]


def our_forest():
    from lookalike.prediction import RandomSimilarityForestClassifier

    return RandomSimilarityForestClassifier(TREES, random_state=0)


def their_forest():
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, max_features=0.5, n_jobs=-1, random_state=0)


def fit_only(make):
    def prepare(problem):
        X, y, _ = problem
        return lambda: make().fit(X, y)

    return prepare


def predict_only(make):
    def prepare(problem):
        X, y, new = problem
        model = make().fit(X, y)
        return lambda: model.predict_proba(new)

    return prepare


def both_learned(ours, theirs):
    """Both forests know what they were fitted to; they are different forests."""
    problem = numbers(False)
    right = [float((model.predict(problem[0]) == problem[1]).mean()) for model in (ours, theirs)]
    return "" if min(right) > 0.99 else f"shares of fitted rows that are right: {right}"


def close_answers(ours, theirs):
    apart = float(np.abs(ours - theirs).mean())
    return "" if apart < 0.1 else f"probabilities are {apart:.3f} apart on average"


# -- objects ---------------------------------------------------------------------------------------


def baskets(small):
    """Make sets, texts and sequences of two kinds of customer."""
    import lookalike as la

    n = 60 if small else 2_000
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n)
    goods = [[f"item{i}" for i in range(30)], [f"item{i}" for i in range(10, 40)]]
    letters = [list("abcdefgh"), list("efghijkl")]
    table = la.read_table(
        {
            "basket": [set(random.choice(goods[g], 8).tolist()) for g in y],
            "name": ["".join(random.choice(letters[g], 10)) for g in y],
            "visits": [tuple(random.choice(goods[g], 6).tolist()) for g in y],
        },
        kinds={"basket": "set", "name": "text", "visits": "sequence"},
    )
    return table, y


def jaccard(u, v):
    return 1 - len(u & v) / len(u | v) if u | v else 0.0


def edits(u, v):
    """Levenshtein distance, two rows of the table at a time."""
    above = list(range(len(v) + 1))
    for i, a in enumerate(u, 1):
        here = [i]
        for j, b in enumerate(v, 1):
            here.append(min(above[j] + 1, here[-1] + 1, above[j - 1] + (a != b)))
        above = here
    return above[-1]


class PlainForest:
    """A few random similarity trees in plain Python."""

    def __init__(self, n_trees):
        self.n_trees = n_trees

    def fit(self, columns, y):
        self.random = np.random.default_rng(0)
        self.columns, self.y = columns, y
        self.leaves = 0
        for _ in range(self.n_trees):
            rows = np.sort(self.random.integers(0, len(y), len(y))).tolist()
            self.grow(rows)
        return self

    def varied(self, cells, delta, rows):
        pivot = rows[self.random.integers(len(rows))]
        return sum(delta(cells[pivot], cells[r]) ** 2 for r in rows) / len(rows)

    def grow(self, rows):
        best = None
        if len({self.y[r] for r in rows}) > 1:
            splits = [self.best_cut(*projection, rows) for projection in self.projections(rows)]
            best = min((split for split in splits if split), key=lambda s: s[0], default=None)
        if best is None:
            self.leaves += 1
            return
        _, place, threshold = best
        self.grow([r for r in rows if place[r] <= threshold])
        self.grow([r for r in rows if place[r] > threshold])

    def projections(self, rows):
        """Yield projections of the rows on pairs of cells, from half of the varied columns."""
        tried = 0
        for f in self.random.permutation(len(self.columns)):
            if tried == max(1, len(self.columns) // 2):
                return
            cells, delta = self.columns[f]
            if self.varied(cells, delta, rows) == 0:
                continue
            tried += 1
            groups = {c: [r for r in rows if self.y[r] == c] for c in (0, 1)}
            spread = {c: self.varied(cells, delta, group) for c, group in groups.items()}
            first = min(spread, key=spread.get)
            p = groups[first][self.random.integers(len(groups[first]))]
            others = [r for r in groups[1 - first] if delta(cells[r], cells[p]) > 0]
            if others:
                q = others[self.random.integers(len(others))]
                values = {
                    r: delta(cells[q], cells[r]) - delta(cells[p], cells[r]) for r in set(rows)
                }
                yield values, [len(groups[0]), len(groups[1])]

    def best_cut(self, place, right, rows):
        """Return the impurity, the projection and the threshold of the best cut, None if none."""
        best, left = None, [0, 0]
        ordered = sorted(rows, key=place.get)
        for i, r in enumerate(ordered[:-1]):
            left[self.y[r]] += 1
            right[self.y[r]] -= 1
            if place[r] < place[ordered[i + 1]]:
                score = sum(
                    sum(side) - sum(c * c for c in side) / sum(side) for side in (left, right)
                )
                if best is None or score < best[0]:
                    best = score, place, place[r]
        return best


def our_trees(problem):
    from lookalike.prediction import RandomSimilarityForestClassifier

    table, y = problem

    def call():
        return RandomSimilarityForestClassifier(TREES, {"name": "levenshtein"}, random_state=0).fit(
            table, y
        )

    return call


def python_trees(problem):
    table, y = problem
    columns = [
        (list(table["basket"].values), jaccard),
        (list(table["name"].values), edits),
        (list(table["visits"].values), edits),
    ]
    return lambda: PlainForest(PYTHON_TREES).fit(columns, y.tolist())


def like_trees(ours, theirs):
    """Trees of the same make have about as many leaves."""
    leaves = (ours.trees_.feature < 0).sum() / TREES
    ratio = leaves / (theirs.leaves / PYTHON_TREES)
    return "" if 0.7 < ratio < 1.4 else f"our trees have {ratio:.2f} times as many leaves"


CASES = [
    Case(
        "rsf fit: 5,000 rows, 20 numbers, 100 trees",
        numbers,
        fit_only(our_forest),
        {SKLEARN: fit_only(their_forest)},
        both_learned,
        (Faster(SKLEARN, 2.5), Smaller(1000)),
    ),
    Case(
        "rsf predict: 5,000 rows, 20 numbers, 100 trees",
        numbers,
        predict_only(our_forest),
        {SKLEARN: predict_only(their_forest)},
        close_answers,
        (Faster(SKLEARN, 4.0), Smaller(1000)),
    ),
    Case(
        "rsf fit: 2,000 rows, a set, a text and a sequence, 100 trees",
        baskets,
        our_trees,
        {PYTHON: python_trees},
        like_trees,
        (Faster(PYTHON, 0.05 * TREES / PYTHON_TREES), Smaller(1000)),
    ),
]
