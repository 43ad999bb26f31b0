"""Compiling ahead of time: every part of the library that compiles loops is used once."""

import numpy as np

from lookalike import warming
from lookalike.clustering import SimilarityClustering
from lookalike.columns import DISTANCES
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
        kind = "sequence" if shape == "sets in sequence" else shape
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


def test_without_a_compiler_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(warming, "COMPILED", False)
    monkeypatch.setattr(warming, "steps", None)  # not even listed
    done = warming.warm()
    assert (done.compiled, done.seconds) == (0, 0.0)


def test_progress_is_reported_before_each_part(monkeypatch):
    order = []
    monkeypatch.setattr(warming, "COMPILED", True)
    parts = [("one", lambda: order.append("ran one")), ("two", lambda: order.append("ran two"))]
    monkeypatch.setattr(warming, "steps", lambda: iter(parts))
    done = warming.warm(lambda *said: order.append(said))
    assert order == [("one", 0, 2), "ran one", ("two", 1, 2), "ran two"]
    assert done.compiled == 0
    assert done.seconds > 0
