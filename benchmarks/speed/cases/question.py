"""One question to many rows: bytes propose and floats decide, beside looking at everything."""

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

K = 10
ROWS, COLUMNS = 1_000_000, 20
EVERYTHING = "floats only"
READING = "numpy: codes.sum()"


def problem_of(gaps, n_queries):
    def problem(small):
        import lookalike as la
        from lookalike.measures import Gower

        n = 5_000 if small else ROWS
        rng = np.random.default_rng(0)
        columns = {}
        for j in range(COLUMNS // 2):
            x = rng.gamma(2.0, size=n)
            c = rng.integers(0, 3 + 2 * j, n).astype(np.float64)
            for values in (x, c):
                values[rng.random(n) < gaps] = np.nan
            columns[f"x{j}"], columns[f"c{j}"] = x, c
        kinds = {f"c{j}": "category" for j in range(COLUMNS // 2)}
        measure = Gower(undefined=0.5, kinds=kinds).fit(la.read_table(columns, kinds=kinds))
        return measure, np.arange(n_queries)

    return problem


def by_bytes(problem):
    measure, at = problem
    rows = measure.rows_[at]
    measure.nearest(rows, measure.rows_, K, exclude=at)  # codes and compiled code are there

    def run():
        return measure.nearest(rows, measure.rows_, K, exclude=at)

    return run


def by_floats(problem):
    from lookalike.measures import Measure

    measure, at = problem
    rows = measure.rows_[at]
    Measure.nearest(measure, rows[:1], measure.rows_[:5000], K)

    def run():
        return Measure.nearest(measure, rows, measure.rows_, K, exclude=at)

    return run


def reading(problem):
    measure, _ = problem
    codes = np.random.default_rng(0).integers(0, 255, (len(measure.rows_), COLUMNS), dtype=np.uint8)

    def run():
        codes.sum()

    return run


def agree(ours, theirs):
    if theirs is None:
        return ""
    same = np.array_equal(ours.indices, theirs.indices)
    same = same and np.array_equal(ours.distances, theirs.distances)
    return "" if same else "other lists"


CASES = [
    Case(
        name=f"Gower, one question to {ROWS:,} x {COLUMNS} mixed cells",
        problem=problem_of(0.0, 1),
        ours=by_bytes,
        rivals={EVERYTHING: by_floats, READING: reading},
        agree=agree,
        targets=(Faster(EVERYTHING, 0.1), Faster(READING, 4.0), Smaller(50)),
    ),
    Case(
        name=f"Gower, 100 questions to {ROWS:,} x {COLUMNS} mixed cells",
        problem=problem_of(0.0, 100),
        ours=by_bytes,
        rivals={EVERYTHING: by_floats},
        agree=agree,
        targets=(Faster(EVERYTHING, 0.2), Smaller(100)),
    ),
    Case(
        name=f"Gower, 100 questions to {ROWS:,} x {COLUMNS} mixed cells, 10 % missing",
        problem=problem_of(0.1, 100),
        ours=by_bytes,
        rivals={EVERYTHING: by_floats},
        agree=agree,
        targets=(Faster(EVERYTHING, 1 / 3), Smaller(100)),
    ),
]
