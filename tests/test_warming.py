"""Compiling ahead of time: every part of the library that compiles loops is used once."""

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
    used = [e.method for e, _ in warming._estimators() if isinstance(e, SimilarityClustering)]
    assert set(used) == set(methods)
    assert "prune by lower bounds" in names


def test_made_up_tables_have_every_kind_of_column():
    complete, missing, numbers = warming._tables()
    assert [kind.name for kind in complete.kinds.values()] == [
        "number",
        "number",
        "category",
        "order",
        "flag",
    ]
    assert not complete["size"].missing.any()
    assert missing["size"].missing.any()
    assert numbers.shape == (warming.N_ROWS, 9)
    assert warming._numbers(3, 2, "float32").dtype == "float32"
    objects = warming._objects("set", "sets in sequence", "graph")
    assert [kind.name for kind in objects.kinds.values()] == ["number", "set", "sequence", "graph"]


def test_estimators_are_asked_whatever_they_answer():
    asked = []

    class Answers:
        def get_params(self, deep=False):
            return {}

        def fit(self, x, y):
            assert set(y) == {0, 1}
            return self

        def predict(self, x):
            asked.append(("predict", len(x)))

        def transform(self, x):
            asked.append(("transform", len(x)))

    warming._use(Answers(), [[0, 1, 2], [0, 1]])
    assert asked == [("predict", 3), ("transform", 3), ("predict", 2), ("transform", 2)]


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
