"""ReliefF weights of 20 mixed columns from 1,000 rows, beside skrebate."""

import numpy as np

from benchmarks.speed.case import Case, Faster

SKREBATE = "skrebate"
D = 20


def problem(small):
    """Ten numbers and ten categories, each kind from useless to telling, and two classes."""
    n = 60 if small else 1_000
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n)
    x = random.random((n, D))
    x[:, 10:] = random.integers(0, 4, (n, 10))
    for j in range(10):
        x[:, j] += y * j / 10
        informative = random.random(n) < j / 20
        x[informative, 10 + j] = y[informative]
    return x, y


def ours(problem):
    from lookalike.measures import relieff_weights
    from lookalike.table import read_table

    x, y = problem
    table = read_table(x, kinds={f"x{j}": "category" for j in range(10, D)})
    return lambda: relieff_weights(table, y, n_neighbors=10, normalize=False)


def skrebate(problem):
    """With one thread, which is its default and was the fastest."""
    from skrebate import ReliefF

    x, y = problem
    return lambda: ReliefF(n_neighbors=10, n_features_to_select=D).fit(x, y).feature_importances_


def agree(ours, theirs):
    """Want nearly the same order of columns."""
    from scipy.stats import spearmanr

    same = spearmanr(ours, theirs).statistic
    return "" if same >= 0.95 else f"orders of columns agree at {same:.3f} only"


CASES = [
    Case(
        "relieff, 1,000 rows of 20 columns",
        problem,
        ours,
        {SKREBATE: skrebate},
        agree,
        (Faster(SKREBATE, 1 / 30),),
    )
]
