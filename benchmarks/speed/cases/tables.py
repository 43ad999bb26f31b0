"""Mixed tables with missing cells: join beside DuckDB, audit beside SDMetrics, impute."""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.speed.case import Case, Faster, Smaller

NUMBERS, CATEGORIES = 10, 10
MISSING = 0.03
DUCKDB = "DuckDB NEAREST"
TIE = 1e-9


def mixed(n, seed):
    import pandas as pd

    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {f"n{j}": random.lognormal(size=n) for j in range(NUMBERS)}
        | {f"c{j}": random.choice(list("abcdefgh"), n) for j in range(CATEGORIES)}
    )
    frame = frame.mask(random.random(frame.shape) < MISSING)
    return frame.assign(position=np.arange(n))


def two_tables(small):
    n, m = (20, 500) if small else (1_000, 50_000)
    return mixed(n, 1), mixed(m, 2)


def join(a, b):
    import lookalike as la

    found = la.join(a.drop(columns="position"), b.drop(columns="position"), measure="gower")
    return found.matches, found.distances


def nearest(a, b):
    """Gower's distance of the columns that are filled in both rows, as SQL."""
    import duckdb
    import pyarrow as pa

    spans = {f"n{j}": float(b[f"n{j}"].max() - b[f"n{j}"].min()) for j in range(NUMBERS)}
    differ = [f"least(coalesce(abs(a.{n} - b.{n}) / {r!r}, 0), 1)" for n, r in spans.items()]
    differ += [f"coalesce((a.c{j} <> b.c{j})::int, 0)" for j in range(CATEGORIES)]
    names = [*spans, *(f"c{j}" for j in range(CATEGORIES))]
    both = " + ".join(f"(a.{n} is not null and b.{n} is not null)::int" for n in names)
    far = f"({' + '.join(differ)}) / ({both})"
    a, b = (pa.Table.from_pandas(frame) for frame in (a, b))  # NaN of pandas is null
    query = f"""select a.position, b.position as found, {far} as distance
        from a join b nearest 1 by distance {far} order by a.position"""
    frame = duckdb.sql(query).fetchnumpy()
    return np.asarray(frame["found"]), np.asarray(frame["distance"])


def agree(ours, theirs):
    """Want the same rows, except where two are equally near."""
    (i, d), (j, e) = ours, theirs
    if len(i) != len(j):
        return f"{len(i)} and {len(j)} pairs"
    if not np.allclose(d, e, rtol=TIE, atol=TIE):
        return f"distances differ by up to {np.abs(d - e).max():.1e}"
    return ""


def in_process(answer, problem):
    return lambda: answer(*problem)


def alone(name, problem):
    """Ask in a process of its own, which imports everything and reads both tables from files."""
    if name == "nearest":
        import duckdb  # noqa: F401  a rival that is not installed is left out
    folder = Path(tempfile.mkdtemp())
    for table, frame in zip("ab", problem, strict=True):
        frame.to_parquet(folder / f"{table}.parquet")
    read = ", ".join(f"pd.read_parquet({str(folder / f'{t}.parquet')!r})" for t in "ab")
    code = f"""import numpy as np, pandas as pd
from benchmarks.speed.cases.tables import {name}
np.save({str(folder / "answer.npy")!r}, np.stack({name}({read})))"""

    def ask():
        subprocess.run([sys.executable, "-c", code], check=True)
        found, distances = np.load(folder / "answer.npy")
        return found, distances

    return ask


def people(small):
    """Real, synthetic and held-out rows of five columns."""
    import pandas as pd

    def draw(n, seed):
        random = np.random.default_rng(seed)
        words = {name: random.choice(list("abcdefg"), n) for name in ("job", "town")}
        ages = {"age": random.integers(18, 90, n).astype(float)}
        return pd.DataFrame(
            ages | {"income": random.lognormal(10, 1, n), "score": random.normal(size=n)} | words
        )

    return [draw(60 if small else 3_000, seed) for seed in range(3)]


def audit(problem):
    import lookalike as la

    def ask():
        scores = la.audit(*problem).scores
        return scores["overfitting_protection"], scores["median_distance"]

    return ask


def sdmetrics(problem):
    from sdmetrics.single_table import DCRBaselineProtection, DCROverfittingProtection

    real, made, held = problem
    kinds = dict.fromkeys(real, "numerical") | dict.fromkeys(("job", "town"), "categorical")
    about = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}

    def ask():
        base = DCRBaselineProtection.compute_breakdown(real, made, about, None)
        score = DCROverfittingProtection.compute(real, made, held, about, None)
        return score, base["median_DCR_to_real_data"]["synthetic_data"]

    return ask


def same_scores(ours, theirs):
    return "" if np.allclose(ours, theirs, rtol=0, atol=1e-12) else f"{ours} and {theirs}"


def holes(small):
    return mixed(100 if small else 2_000, 3).drop(columns="position")


def impute(frame):
    from lookalike.prediction import NeighborImputer

    return lambda: NeighborImputer().fit_transform(frame)


def impute_one_hot(frame):
    """Fill numbers and one-hot levels by equal weights; what turns them into levels is left out."""
    import pandas as pd
    from sklearn.impute import KNNImputer

    def ask():
        parts = [frame.filter(like="n")]
        for name in frame.filter(like="c"):
            levels = pd.get_dummies(frame[name]).astype(float)
            parts.append(levels.where(frame[name].notna()))
        return (
            KNNImputer()
            .set_output(transform="pandas")
            .fit_transform(
                pd.concat(parts, axis=1).set_axis(range(sum(map(len, map(list, parts)))), axis=1)
            )
        )

    return ask


def complete(ours, theirs):
    """Want no missing cell; the values differ, and are compared in a study."""
    left = [int(frame.isna().sum().sum()) for frame in (ours, theirs)]
    return "" if left == [0, 0] else f"{left[0]} and {left[1]} cells still missing"


CASES = [
    Case(
        "impute, 2,000 rows of 20 mixed columns, weights learned for each",
        holes,
        impute,
        {"KNNImputer, one-hot": impute_one_hot},
        complete,
        (),
    ),
    Case(
        "audit, 3,000 synthetic rows beside 3,000 real and 3,000 held out",
        people,
        audit,
        {"SDMetrics": sdmetrics},
        same_scores,
        (Faster("SDMetrics", 1 / 50),),
    ),
    Case(
        "join, 1,000 x 50,000 rows of 20 mixed columns",
        two_tables,
        partial(in_process, join),
        {DUCKDB: partial(in_process, nearest)},
        agree,
        (Faster(DUCKDB, 1 / 50), Smaller(1_000)),
    ),
    Case(
        "join, the first call of a process",
        two_tables,
        partial(alone, "join"),
        {DUCKDB: partial(alone, "nearest")},
        agree,
        (Faster(DUCKDB, 1 / 10),),
    ),
]
