"""Compiling ahead of time: every part of the library that compiles loops is used once."""

import json
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from cli.run import program, run
from lookalike import warming
from lookalike.clustering import SimilarityClustering
from lookalike.columns import DISTANCES
from lookalike.kernels import COMPILED
from lookalike.measures import MEASURES


def test_every_measure_distance_and_method_has_a_step():
    names = [name for name, _ in warming.steps()]
    assert set(MEASURES) <= set(names)
    for name, measure in MEASURES.items():
        assert names.count(name) >= len(measure.examples()), name
    # Numbers, categories, ordered levels and flags are in the tables of all measures.
    others = {"text", "set", "sequence", "series", "vector", "histogram", "graph"}
    for name, distance in DISTANCES.items():
        for kind in distance.kinds:
            assert (f"{kind} columns by {name}" in names) == (kind in others), (kind, name)
    methods = SimilarityClustering.FIELDS["method"].values
    steps = [step for name, step in warming.steps() if name == "SimilarityClustering"]
    assert {step.args[0].method for step in steps} == set(methods)
    assert names[-1] == "lower bounds, long lists, closures"
    # Measures learn without a target: with one, forests would be grown by other loops.
    targets = [step.keywords for _, step in list(warming.steps())[:-1]]
    supervised = [bool(target) for target in targets]
    assert supervised == sorted(supervised)
    assert supervised.count(False) == sum(
        name in MEASURES or " columns by " in name for name in names
    ) - names.count("Gower") + len(MEASURES["Gower"].examples())


def test_made_up_tables_have_every_kind_of_column():
    complete, missing = warming._mixed(missing=0.0), warming._mixed()
    kinds = ["number", "number", "category", "order", "flag"]
    assert [kind.name for kind in complete.kinds.values()] == kinds
    assert not complete["size"].missing.any()
    assert missing["size"].missing.any()
    alike = warming._mixed(70, alike=True)
    assert len(alike) == 70
    assert set(alike["size"].values[~alike["size"].missing]) == {-1.0, 1.0}
    assert set(alike["weight"].values) == {1.0}
    assert warming._numbers().shape == (warming.N_ROWS, 9)
    assert warming._numbers(3, 2, "float32").dtype == "float32"
    for shape in warming.OBJECTS:
        objects = warming._objects(shape)
        kind = shape.rpartition(" ")[2]
        assert [kind.name for kind in objects.kinds.values()] == ["number", kind]
        assert len(objects) == warming.N_ROWS


def test_measures_get_tables_that_they_take():
    steps = [(name, step) for name, step in warming.steps() if name in MEASURES]
    for name, measure, tables in [(n, *step.args) for n, step in steps if not step.keywords]:
        traits = measure.traits
        if traits.pairwise:
            assert [table.shape for table in tables] == [(60, 60)], name
            assert (tables[0] == tables[0].T).all()
        elif not traits.kinds or "category" in traits.kinds:
            assert [len(table) for table in tables] == [60] * 3, name
        else:
            assert [table.dtype for table in tables] == ["float64", "float32"], name


def test_estimators_are_asked_whatever_they_answer():
    asked = []

    class Answers:
        def get_params(self, deep=False):
            return {}

        def fit(self, x, y=None):
            asked.append(("fit", y if y is None else y.tolist()))
            return self

        def predict(self, x):
            asked.append(("predict", len(x)))

        def transform(self, x):
            asked.append(("transform", len(x)))

    class Compares(Answers):
        def similarity(self):
            asked.append("similarity")

        def kneighbors(self, n_neighbors):
            asked.append(n_neighbors)

        def explain(self, i, j):
            asked.append((i, j))

    warming._use(Answers(), [[0, 1, 2], [0, 1]], supervised=True)
    uses = [("predict", 3), ("transform", 3), ("fit", [0, 1]), ("predict", 2), ("transform", 2)]
    assert asked == [("fit", [0, 1, 0]), *uses]
    asked.clear()
    # A matrix of distances is not asked about new rows.
    warming._use(Compares(), [np.zeros((warming.N_ROWS, warming.N_ROWS))])
    assert asked == [("fit", None), "similarity", 3, (0, 1)]


def test_functions_are_used_that_no_step_of_an_estimator_reaches(monkeypatch):
    used = Counter()

    class Asked:
        def __init__(self, name):
            self.name, self.forest_ = name, SimpleNamespace(n_trees=7)

        def __call__(self, *given, **options):
            used[self.name, *(one for one in given if isinstance(one, str | int))] += 1
            return self

        def fit(self, rows):
            used[self.name, "fit", len(rows), str(getattr(rows, "dtype", "mixed"))] += 1
            return self

        def kneighbors(self, rows, k):
            used[self.name, "kneighbors", len(rows), k] += 1

        def neighbors(self, k):
            return f"lists of {k}"

        def similarity(self):
            return np.eye(warming.N_ROWS)

        def search(self, row, k):
            used[self.name, "search", row, k] += 1

        def relevance_by(self, weights):
            used[self.name, "relevance_by", weights.shape] += 1

    for name in ("Gower", "Ranked", "StochasticForest", "Vector", "ReFeat"):
        monkeypatch.setattr(warming, name, Asked(name))
    monkeypatch.setattr(warming, "report", lambda table, y: used.update({("report", len(y)): 1}))
    closed = lambda s, tnorm, new: used.update({(tnorm, s.shape, new.shape): 1})  # noqa: E731
    monkeypatch.setattr(warming.represent, "transitive_closure", closed)
    monkeypatch.setattr(
        warming.represent, "layout", lambda graph, random_state: used.update({graph: 1})
    )
    *_, (_, last) = warming.steps()
    used.clear()  # the other steps are listed, not taken
    last()
    n, many = warming.N_ROWS, warming.N_ROWS_QUANTIZED
    kinds = ("float64", "float32")
    assert used == Counter(
        {
            ("Ranked",): 2,
            **{("Vector", name): 2 for name in ("chebyshev", "euclidean", "cosine")},
            ("Vector", "cityblock"): 3,
            **{("Ranked", "fit", many, kind): 2 for kind in kinds},
            **{("Vector", "fit", many, kind): 8 for kind in kinds},
            ("Ranked", "kneighbors", 3, 3): 4,
            ("Vector", "kneighbors", 3, 3): 16,
            ("StochasticForest", 3, 9): 2,
            **{("StochasticForest", "fit", many, kind): 1 for kind in kinds},
            ("Gower",): 6,
            ("Gower", "fit", many, "mixed"): 4,
            ("Gower", "kneighbors", 3, 3): 4,
            ("Gower", "fit", 600, "mixed"): 1,
            ("Vector", "fit", 600, "float64"): 1,
            ("Vector", "kneighbors", 5, 120): 1,
            ("ReFeat",): 1,
            ("ReFeat", "fit", n, "float64"): 1,
            ("ReFeat", "search", 0, 3): 1,
            ("ReFeat", "relevance_by", (2, 7)): 1,
            ("Gower", "fit", n, "mixed"): 1,
            ("min", (n, n), (3, n)): 1,
            ("product", (n, n), (3, n)): 1,
            "lists of 5": 1,
            ("report", n): 1,
        }
    )


def test_without_a_compiler_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(warming, "COMPILED", False)
    monkeypatch.setattr(warming, "steps", None)  # not even listed
    done = warming.warm()
    assert (done.compiled, done.seconds) == (0, 0.0)


def test_each_part_is_used_in_its_order(monkeypatch):
    order = []
    monkeypatch.setattr(warming, "COMPILED", True)
    parts = [("one", lambda: order.append("ran one")), ("two", lambda: order.append("ran two"))]
    monkeypatch.setattr(warming, "steps", lambda: iter(parts))
    done = warming.warm()
    assert order == ["ran one", "ran two"]
    assert done.compiled == 0
    assert done.seconds > 0


# -- the command: after it no other one waits for the compiler -------------------------------------

compiled_only = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

# All of it in one process, which imports and loads what was compiled only once.
WARM = """
import contextlib, importlib, io, json, os, pkgutil, sys
from numba.core.event import install_recorder
import lookalike as la
import lookalike.kernels as kernels
from lookalike.cli.app import app
from lookalike.kernels._jit import Deferred
from lookalike.kernels.first_use import _is_on_disk, compile_at_once

file = sys.argv[1]
os.chdir(os.path.dirname(file))
la.warm()
loops = {}
for found in pkgutil.iter_modules(kernels.__path__):
    for loop in vars(importlib.import_module(f"lookalike.kernels.{found.name}")).values():
        if isinstance(loop, Deferred) and loop.targetoptions:  # none: an intrinsic
            loops[f"{loop.py_func.__module__}.{loop.__qualname__}"] = loop
# The code of a loop that others call is part of theirs.
called = {name for loop in loops.values() for name in loop.py_func.__code__.co_names}
left = [
    name
    for name, loop in loops.items()
    if not (loop.__qualname__ in called or loop.overloads or _is_on_disk(loop))
]
answer = {"left": left}
for words in (
    ["inspect", file],
    ["search", file, "--row", "3", "--why"],
    ["search", file, "--row", "3", "--measure", "ratio"],
    ["index", "build", file, "-o", "rows.lookalike"],
    ["cluster", file],
    ["classify", file, "--label", "color"],
    ["regress", file, "--label", "size"],
    ["outliers", file],
    ["outliers", file, "--method", "neighbors"],
    ["hubs", file],
    ["report", file, "-o", "page.html"],
):
    shown = io.StringIO()
    with install_recorder("numba:compile") as seen, compile_at_once():
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            try:
                app(words, standalone_mode=False)
            except SystemExit as done:
                assert not done.code, (words, shown.getvalue())
    names = {event.data["dispatcher"].py_func.__name__ for _, event in seen.buffer}
    answer[" ".join(word for word in words if word != file)] = sorted(names)
print(json.dumps(answer))
"""


@compiled_only
@pytest.mark.long
@pytest.mark.timeout(3600)  # compiles everything that no other test has compiled yet
def test_nothing_is_left_to_compile(tmp_path):
    file = tmp_path / "rows.csv"
    lines = [
        f"{i * 7 % 60},{i * 11 % 13 / 4},{'red blue'.split()[i % 2]},{'yes no'.split()[i // 3 % 2]}"
        for i in range(120)
    ]
    file.write_text("\n".join(["age,size,color,member", *lines]))
    words = [sys.executable, "-c", WARM, str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    left = json.loads(done.stdout.splitlines()[-1])
    assert len(left) == 12
    assert {what: names for what, names in left.items() if names} == {}


@compiled_only
def test_the_folder_is_named(monkeypatch):
    called = []
    monkeypatch.setattr(warming, "steps", lambda: [("one", lambda: called.append(1))])
    done = run("warm")
    assert done.exit_code == 0
    assert "0 loops compiled" in done.stdout
    assert "kept in" in done.stdout
    quiet = run("warm", "--quiet")  # the answer, without the notes on the way
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert len(called) == 2


def test_without_a_compiler_there_is_nothing_to_warm():
    code, out, err = program("warm", LOOKALIKE_COMPILE="0")
    assert (code, out) == (1, "")
    assert "LOOKALIKE_COMPILE" in err


@compiled_only
@pytest.mark.long
def test_without_a_place_there_is_nothing_to_warm(tmp_path):
    file = tmp_path / "a file"
    file.write_text("")
    code, out, err = program("warm", NUMBA_CACHE_DIR=str(file))
    assert (code, out) == (1, "")
    assert "NUMBA_CACHE_DIR" in err
