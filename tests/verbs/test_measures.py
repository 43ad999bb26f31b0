"""Measures by name."""

import pytest

from lookalike.errors import InvalidInput
from lookalike.measures import MEASURES, Gower, Measure, Ranked, Vector
from lookalike.measures.names import known_measures
from lookalike.verbs.measures import read_measure as make_measure


@pytest.mark.parametrize(
    ("text", "cls", "options"),
    [
        ("gower", Gower, {}),
        ("Gower", Gower, {}),
        (" ranked ", Ranked, {}),
        ("cosine", Vector, {"metric": "cosine"}),
        ("cosine:scale=standard", Vector, {"metric": "cosine", "scale": "standard"}),
        ("vector:scale=None", Vector, {"scale": None}),
        ("vector:scale=null,n_jobs=2", Vector, {"scale": None, "n_jobs": 2}),
        ("ranked:scale=True", Ranked, {"scale": True}),
        ("ranked: metric = euclidean , scale = false", Ranked, {"metric": "euclidean"}),
        ('gower:weights={"a": 1, "b,c": 0.5},alpha=2', Gower, {"weights": {"a": 1, "b,c": 0.5}}),
        ("gower:weights=[1, 2],missing=midpoint", Gower, {"weights": [1, 2]}),
    ],
)
def test_names_and_options(text, cls, options):
    made = make_measure(text)
    assert type(made) is cls
    assert {name: made.get_params(deep=False)[name] for name in options} == options


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gowr", "Did you mean 'gower'?"),
        ("", "needs a known measure, found ''"),
        ("precomputed", "needs a known measure, found 'precomputed'"),
        ("vector:metrik=cosine", "Did you mean 'metric'?"),
        ("vector:cosine", "needs options as name=value, found 'cosine'. Write vector:name=value"),
    ],
)
def test_wrong_names_and_options(text, complaint):
    with pytest.raises(InvalidInput) as caught:
        make_measure(text)
    assert complaint in str(caught.value)


def test_every_measure_of_rows_has_a_name():
    made = {cls for cls, _ in known_measures(matrices=False).values()}
    rows = {cls for cls in MEASURES.values() if not cls.examples()[0].traits.pairwise}
    assert made == rows
    assert all(name == name.lower() for name in known_measures())


@pytest.fixture
def wrapper(monkeypatch):
    """A measure made of another one, in the registry for one test."""

    class _Twice(Measure):
        def __init__(self, measure, factor=2):
            self.measure, self.factor = measure, factor

        @classmethod
        def examples(cls):
            return [cls(Vector())]

        def _encode(self, table, seen):
            return self.measure.encode(table)

        def compare(self, a, b, out=None):
            return self.factor * self.measure.compare(a, b)

    monkeypatch.setitem(MEASURES, "TwiceAsFar", _Twice)
    return _Twice


def test_a_measure_inside_another(wrapper):
    made = make_measure("twice-as-far:measure=vector:metric=cosine,factor=3")
    assert type(made) is wrapper
    assert made.factor == 3
    assert made.measure.metric == "cosine"


def test_a_wrapper_asks_for_what_it_wraps(wrapper):
    with pytest.raises(InvalidInput, match="Write twice-as-far:measure=auto"):
        make_measure("twice-as-far")
