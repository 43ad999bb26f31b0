"""A million mixed rows as similarities to 50 prototypes, and closures beside Floyd and Warshall."""

from functools import partial

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

PROTOTYPES = 50
SWEEPS = 50  # of Floyd and Warshall on 5,000 rows: 1 percent of them
PART = "1% of Floyd-Warshall in numpy"
WHOLE = "Floyd-Warshall in numpy"
LINKAGE = "scipy single linkage"


# -- transform -------------------------------------------------------------------------------------


def rows(small):
    """Five columns of numbers, three of words, two flags, with one gap in twenty."""
    import lookalike as la

    n = 5_000 if small else 1_000_000
    random = np.random.default_rng(3)
    columns = {f"number {j}": random.random(n) for j in range(5)}
    for values in columns.values():
        values[random.random(n) < 0.05] = np.nan
    words = np.array(["red", "green", "blue", "black", "white", None], dtype=object)
    columns |= {f"word {j}": words[random.integers(0, 6, n)] for j in range(3)}
    columns |= {f"flag {j}": random.integers(0, 2, n).astype(bool) for j in range(2)}
    return la.read_table(columns)


def transform(table):
    from lookalike.measures import Gower
    from lookalike.represent import SimilarityRepresentation

    fitted = table[: min(2_000, len(table))]
    model = SimilarityRepresentation(Gower(), n_prototypes=PROTOTYPES).fit(fitted)
    return lambda: model.transform(table)


def by_hand(table):
    """Column by column, vectorized over the rows, as usual in numpy."""
    from lookalike.measures import Gower
    from lookalike.represent import SimilarityRepresentation

    fitted = table[: min(2_000, len(table))]
    at = SimilarityRepresentation(Gower(), n_prototypes=PROTOTYPES).fit(fitted).prototypes_

    def run():
        total, compared = np.zeros((len(table), len(at))), np.zeros((len(table), len(at)))
        for column in table:
            own, other = column.values[:, None], fitted[at][column.name].values
            if column.kind.name == "number":
                seen = fitted[column.name].values
                share = np.abs(own - other) / (np.nanmax(seen) - np.nanmin(seen))
                likeness, known = 1 - np.minimum(share, 1), ~np.isnan(share)
            else:
                likeness, known = own == other, (own >= 0) & (other >= 0)
                if column.kind.name == "flag":
                    known &= (own == 1) | (other == 1)
            total += np.where(known, likeness, 0.0)
            compared += known
        return np.divide(total, compared, out=np.full_like(total, 0.5), where=compared > 0)

    return run


def same_columns(ours, theirs):
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    gap = np.abs(ours - theirs).max()
    return f"similarities differ by up to {gap:.1e}" if gap > 1e-12 else ""


# -- closure ---------------------------------------------------------------------------------------


def relation(small, n):
    n = 50 if small else n
    s = np.random.default_rng(4).random((n, n))
    s = np.maximum(s, s.T)
    np.fill_diagonal(s, 1.0)
    return s


def closure(s):
    from lookalike.represent import transitive_closure

    return lambda: transitive_closure(s)


def floyd_warshall(s, sweeps=None):
    def run():
        r = s.copy()
        for k in range(len(r) if sweeps is None else min(sweeps, len(r))):
            np.maximum(r, np.minimum(r[:, k, None], r[k]), out=r)
        return r

    return run


def single_linkage(s):
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import squareform

    return lambda: 1 - squareform(cophenet(linkage(squareform(1 - s), "single")))


def same_closure(ours, theirs):
    gap = np.abs(ours - theirs).max()
    return f"values differ by up to {gap:.1e}" if gap > 1e-12 else ""


def on_the_way(ours, theirs):
    """Want no entry above the closure: some of the sweeps only bring entries nearer to it."""
    if len(ours) <= SWEEPS or np.abs(ours - theirs).max() <= 1e-12:
        return same_closure(ours, theirs)
    above = theirs > ours + 1e-12
    return f"{above.sum()} entries above the closure" if above.any() else ""


CASES = [
    Case(
        "1,000,000 mixed rows to 50 prototypes",
        rows,
        transform,
        {"numpy, column by column": by_hand},
        same_columns,
        (Smaller(1000),),
    ),
    Case(
        "min-closure of 600 rows",
        partial(relation, n=600),
        closure,
        {WHOLE: floyd_warshall},
        same_closure,
        (Faster(WHOLE, 1 / 50),),
    ),
    Case(
        # All 5,000 sweeps in numpy take many minutes: 50 times faster than them is no slower than
        # twice the time of every hundredth.
        "min-closure of 5,000 rows",
        partial(relation, n=5_000),
        closure,
        {PART: partial(floyd_warshall, sweeps=SWEEPS), LINKAGE: single_linkage},
        on_the_way,
        (Faster(PART, 2.0),),
    ),
]
