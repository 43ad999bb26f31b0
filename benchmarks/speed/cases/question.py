"""One question to many rows: the search itself, then `Index.search` as a user calls it.

10,000,000 rows of numbers are asked only with LOOKALIKE_BENCH_LARGE=1.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller, Tail

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


def films(small):
    """Five hundred of the films, spread over all of them: numbers, a set and a histogram."""
    from lookalike.datasets import load_films
    from lookalike.measures import Gower

    table = load_films()
    measure = Gower(undefined=0.5).fit(table[:5_000] if small else table)
    n = len(measure.rows_)
    return measure, np.arange(0, n, n // 500)[:500]


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


# -- Index.search, with hits -----------------------------------------------------------------------

LEVELS, QUESTIONS = 5, 20
SKLEARN, FAISS = "scikit-learn brute, one-hot", "faiss flat, one-hot"
TOPN = f"gower_topn (1 of {QUESTIONS} questions)"
PROCESS = "scikit-learn brute, one-hot, in a process of its own"


def mixed(n):
    """Ten numbers from 0 to 1 with both ends among them, ten categories."""

    def problem(small):
        rng = np.random.default_rng(0)
        size = min(n, 5_000) if small else n
        numbers = rng.random((size, COLUMNS // 2))
        numbers[0], numbers[1] = 0.0, 1.0
        return numbers, rng.integers(0, LEVELS, (size, COLUMNS // 2))

    return problem


def numbers_only(n):
    def problem(small):
        return np.random.default_rng(0).random((min(n, 5_000) if small else n, COLUMNS))

    return problem


def mixed_columns(problem):
    numbers, codes = problem
    columns = {f"x{j}": column for j, column in enumerate(numbers.T)}
    return columns | {f"c{j}": column.astype(float) for j, column in enumerate(codes.T)}


def mixed_index(problem):
    import lookalike as la
    from lookalike.measures import Gower

    kinds = {f"c{j}": "category" for j in range(COLUMNS // 2)}
    return la.Index(Gower(kinds=kinds), kinds=kinds).fit(mixed_columns(problem))


def one_hot(problem):
    """Columns whose cityblock distance is Gower's times the number of columns."""
    numbers, codes = problem
    flags = [(codes == level) / 2 for level in range(LEVELS)]
    return np.hstack([numbers, *flags]).astype(np.float32)


def asked_of(n):
    return np.random.default_rng(1).integers(0, n, QUESTIONS).tolist()


def ask(answer, asked, callers):
    """Return a call that runs all queries sequentially or by several concurrent threads."""

    def run():
        if callers == 1:
            return np.array([answer(id) for id in asked])
        with ThreadPoolExecutor(callers) as pool:
            return np.array(list(pool.map(answer, asked)))

    return run


def ask_index(problem, callers, tail, make=mixed_index):
    index = make(problem)

    def answer(id):
        began = time.perf_counter()
        found = [hit.distance * COLUMNS for hit in index.search(id, K)]
        tail.seconds.append(time.perf_counter() - began)
        return found

    answer(0)
    tail.seconds.clear()
    return ask(answer, asked_of(len(index)), callers)


def ask_sklearn(problem, callers, make=one_hot):
    from sklearn.neighbors import NearestNeighbors

    x = make(problem)
    model = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric="cityblock").fit(x)
    return ask(lambda id: model.kneighbors(x[id : id + 1])[0][0, 1:], asked_of(len(x)), callers)


def ask_faiss(problem, callers, make=one_hot):
    import faiss

    x = np.ascontiguousarray(make(problem), np.float32)
    index = faiss.IndexFlat(x.shape[1], faiss.METRIC_L1)
    index.add(x)
    return ask(lambda id: index.search(x[id : id + 1], K + 1)[0][0, 1:], asked_of(len(x)), callers)


def ask_topn(problem):
    import gower
    import pandas as pd

    numbers, codes = problem
    frame = pd.DataFrame(mixed_columns((numbers, codes)))
    for j in range(COLUMNS // 2):
        frame[f"c{j}"] = frame[f"c{j}"].astype(int).astype(str).astype(object)
    id = asked_of(len(frame))[0]

    def run():
        gower.gower_topn(frame.iloc[id : id + 1], frame, n=K + 1)

    return run


def close(ours, theirs):
    """Want the same distances; the rows themselves may be tied in single precision."""
    if theirs is None or ours is None:
        return ""
    same = ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    return "" if same else "other distances"


def question(n, callers, rivals, targets=()):
    # On few cores a caller of long searches waits for those before it; short ones take turns.
    tail = Tail(5 if n <= 100_000 else 5 * callers)
    who = "1 caller" if callers == 1 else f"{callers} concurrent callers"
    return Case(
        name=f"Index.search, {n:,} x {COLUMNS} mixed cells, {who}",
        problem=mixed(n),
        ours=partial(ask_index, callers=callers, tail=tail),
        rivals=rivals,
        agree=close,
        targets=(*targets, tail),
    )


def every_rival(callers):
    both = {SKLEARN: partial(ask_sklearn, callers=callers)}
    return both | {FAISS: partial(ask_faiss, callers=callers)}


def numbers_index(problem):
    import lookalike as la
    from lookalike.measures import Vector

    return la.Index(Vector("cityblock")).fit(problem)


def times_columns(problem):
    return COLUMNS * problem


def numbers_question(n):
    tail = Tail(5)
    return Case(
        name=f"Index.search, {n:,} x {COLUMNS} numbers, 1 caller",
        problem=numbers_only(n),
        ours=partial(ask_index, callers=1, tail=tail, make=numbers_index),
        rivals={"scikit-learn brute": partial(ask_sklearn, callers=1, make=times_columns)},
        agree=close,
        targets=(Faster("scikit-learn brute", 1.0), tail),
    )


# -- the first question of a process ---------------------------------------------------------------

FIRST = "import lookalike as la, sys; la.load(sys.argv[1]).search(0)"
FIRST_SKLEARN = """
import sys
import numpy as np
from sklearn.neighbors import NearestNeighbors
x = np.load(sys.argv[1])
NearestNeighbors(n_neighbors=11, algorithm="brute", metric="cityblock").fit(x).kneighbors(x[:1])
"""


def in_a_process(code, save, problem):
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "rows"
    save(problem, path)

    def run():
        assert folder  # lives as long as this function does
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)

    return run


def save_index(problem, path):
    mixed_index(problem).save(path)


def save_rows(problem, path):
    with path.open("wb") as file:
        np.save(file, one_hot(problem))


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
    Case(
        name="Gower, 500 questions to the 58,788 films",
        problem=films,
        ours=by_bytes,
        rivals={EVERYTHING: by_floats},
        agree=agree,
        targets=(Faster(EVERYTHING, 0.5), Smaller(100)),
    ),
    question(10_000, 1, every_rival(1) | {TOPN: ask_topn}),
    question(10_000, 8, every_rival(8)),
    question(100_000, 1, every_rival(1), (Faster(SKLEARN, 1.0),)),
    question(100_000, 8, every_rival(8)),
    question(1_000_000, 1, every_rival(1), (Faster(SKLEARN, 1.0),)),
    question(1_000_000, 8, every_rival(8)),
    numbers_question(100_000),
    Case(
        name=f"the first question of a process, 100,000 x {COLUMNS} mixed cells from a file",
        problem=mixed(100_000),
        ours=partial(in_a_process, FIRST, save_index),
        rivals={PROCESS: partial(in_a_process, FIRST_SKLEARN, save_rows)},
        agree=close,
    ),
    *([numbers_question(10_000_000)] if os.environ.get("LOOKALIKE_BENCH_LARGE") == "1" else []),
]
