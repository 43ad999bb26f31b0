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


def people(small, n=3_000):
    """Real, synthetic and held-out rows of five columns."""
    import pandas as pd

    def draw(n, seed):
        random = np.random.default_rng(seed)
        words = {name: random.choice(list("abcdefg"), n) for name in ("job", "town")}
        ages = {"age": random.integers(18, 90, n).astype(float)}
        return pd.DataFrame(
            ages | {"income": random.lognormal(10, 1, n), "score": random.normal(size=n)} | words
        )

    return [draw(60 if small else n, seed) for seed in range(3)]


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


def doubles(small, n=10_000):
    """Make records of six texts, a fifth of them typed again with slips, and the true pairs."""
    import pandas as pd

    n, random = 200 if small else n, np.random.default_rng(0)
    words = ["".join(letters) for letters in random.choice(list("aeioulnrst"), (900, 6))]
    names = ("first", "last", "street", "town", "born", "phone")
    rows = random.choice(words, (n, len(names))).astype(object)
    rows[:, 2] = [f"{i} {word}" for i, word in zip(range(n), rows[:, 2], strict=True)]
    rows[:, 4] = [str(day) for day in random.integers(19_000_101, 19_991_231, n)]
    rows[:, 5] = [str(number) for number in random.integers(10**7, 10**8, n)]
    again = random.choice(n, n // 5, replace=False)
    typed = rows[again]
    for row in typed:
        for j in random.choice(len(names), 2, replace=False):
            i = random.integers(len(row[j]))
            row[j] = row[j][:i] + "x" + row[j][i + 1 :]
    frame = pd.DataFrame(np.concatenate([rows, typed]), columns=names)
    return frame, set(zip(again.tolist(), range(n, n + len(again)), strict=True))


def f1(pairs, truth):
    return 2.0 * len(pairs & truth) / (len(pairs) + len(truth))


def dedupe(problem):
    import lookalike as la

    frame, truth = problem
    names = list(frame)
    return lambda: f1({tuple(sorted(p[:2])) for p in la.dedupe(frame, on=names).pairs}, truth)


def splink(problem):
    """With a comparison and a blocking rule for each column, as its tutorial has them."""
    import splink.comparison_library as compare
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    frame, truth = problem
    frame = frame.assign(unique_id=np.arange(len(frame)))
    names = list(frame)[:-1]
    settings = SettingsCreator(
        link_type="dedupe_only",
        blocking_rules_to_generate_predictions=[
            block_on(*pair) for pair in (names[:2], names[1:3], names[4:5], names[5:6])
        ],
        comparisons=[compare.JaroWinklerAtThresholds(name, [0.9, 0.7]) for name in names],
    )

    def ask():
        api = DuckDBAPI()
        training = (linker := Linker(api.register(frame), settings)).training
        rule = block_on("phone")
        training.estimate_probability_two_random_records_match([rule], recall=0.9)
        training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
        for name in ("born", "phone"):
            training.estimate_parameters_using_expectation_maximisation(block_on(name))
        found = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
        pairs = zip(found.unique_id_l, found.unique_id_r, strict=True)
        return f1({tuple(sorted(map(int, pair))) for pair in pairs}, truth)

    return ask


def recordlinkage(problem):
    """With its own classifier without labels, on the pairs that share a name, a day or a number."""
    import recordlinkage as rl

    frame, truth = problem

    def ask():
        index, compare = rl.Index(), rl.Compare()
        for name in ("first", "last", "born", "phone"):
            index.block(name)
        for name in frame:
            compare.string(name, name, method="jarowinkler", threshold=0.85)
        pairs = index.index(frame)
        found = rl.ECMClassifier().fit_predict(compare.compute(pairs, frame))
        return f1({tuple(sorted(pair)) for pair in found.tolist()}, truth)

    return ask


def no_worse(ours, theirs):
    return "" if ours >= theirs - 0.001 else f"F1 {ours:.4f} and {theirs:.4f}"


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
    # Rivals that are not installed are left out: pip install splink recordlinkage
    Case(
        "dedupe, 12,000 rows of six texts",
        doubles,
        dedupe,
        {"Splink": splink, "recordlinkage": recordlinkage},
        no_worse,
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
