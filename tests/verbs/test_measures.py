"""Measures and methods by name; an option that has no effect is refused."""

import pytest
from sklearn.base import clone

from cli.run import run
from lookalike.errors import InvalidInput
from lookalike.hubness import MutualProximity
from lookalike.index import Index
from lookalike.measures import MEASURES, ForestProximity, Gower, Measure, Ranked, Vector
from lookalike.measures.names import known_measures
from lookalike.verbs.measures import choose_measure, set_seed
from lookalike.verbs.measures import read_measure as make_measure
from lookalike.verbs.source import as_source


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


def test_only_what_is_random_and_has_no_seed_gets_one():
    forest = ForestProximity("ratio", n_estimators=3)
    assert set_seed(clone(forest), 7).random_state == 7
    assert set_seed(clone(forest), None).random_state is None
    assert set_seed(ForestProximity("ratio", random_state=5), 7).random_state == 5
    inside = set_seed(MutualProximity(clone(forest)), 0)
    assert inside.measure.random_state == 0
    assert set_seed(Gower(), 7).get_params() == Gower().get_params()
    # A frozen one is the caller's own.
    rows = {"a": [1.0, 2.5, 4.0, 8.0], "b": ["x", "y", "x", "y"]}
    frozen = clone(forest).fit(rows).frozen()
    assert set_seed(frozen, 7) is frozen
    assert frozen.random_state is None


def test_a_measure_is_chosen_given_or_that_of_the_index():
    table = {"a": [1.0, 2.5, 4.0, 8.0], "b": ["x", "y", "x", "y"]}
    rows = as_source(table).rows()
    measure, reason = choose_measure(None, rows)
    assert isinstance(measure, Gower)
    assert reason
    assert choose_measure(" AUTO ", rows)[1] == reason
    assert choose_measure("ranked", rows)[1] is None
    index = Index(Gower(missing="midpoint")).fit(table)
    of_index, reason = choose_measure(None, as_source(index).rows(), {"a": 2})
    assert reason == "the measure of the saved index"
    assert of_index.get_params()["missing"] == "midpoint"
    assert of_index.weights == {"a": 2}
    assert of_index is not index.measure_
    reducer, _ = choose_measure(MutualProximity(Gower()), rows, {"b": 3.0})
    assert reducer.measure.weights == {"b": 3.0}
    with pytest.raises(InvalidInput) as caught:
        choose_measure("ranked", rows, {"b": 3.0})
    needed = "weights: needs a measure that weighs columns, found Ranked. Use measure='gower'."
    assert str(caught.value) == needed


@pytest.fixture
def file(tmp_path):
    lines = ["size,color,kind"] + [f"{i % 7},{'ab'[i % 2]},{'xy'[i % 3 == 0]}" for i in range(30)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("words", "option", "method"),
    [
        (["outliers", "--measure", "gower"], "--measure", "neighbors"),
        (["outliers", "--weight", "size=3"], "--weight", "neighbors"),
        (["classify", "--label", "kind", "--measure", "gower"], "--measure", "neighbors"),
        (["classify", "--label", "kind", "--weight", "size=2"], "--weight", "neighbors"),
        (["cluster", "--method", "means", "--measure", "gower"], "--measure", "components or "),
    ],
)
def test_an_option_without_effect_is_refused(file, words, option, method):
    verb, *rest = words
    done = run(verb, file, *rest)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{option}: needs --method {method}")
    assert f"Leave {option} out" in line


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["outliers", "--method", "isolation:k=3"], "It is an option of 'neighbors'"),
        (["outliers", "--method", "neighbors:trees=9"], "It is an option of 'isolation'"),
        (["classify", "--label", "kind", "--method", "forest:k=3"], "an option of 'neighbors'"),
        (["regress", "--label", "size", "--method", "neighbors:trees=9"], "option of 'forest'"),
        (["classify", "--label", "kind", "--method", "neighbors:distances={}"], "of 'forest'"),
        (["cluster", "--method", "spectral:eps=0"], "It is an option of 'density'"),
        (["cluster", "--method", "ward:min_neighbors=3"], "an option of 'density', 'hdbscan'"),
        (["cluster", "--method", "hdbscan:landmarks=9"], "an option of 'components', "),
        (["cluster", "--method", "means:eps"], "options as name=value"),
    ],
)
def test_an_option_of_another_method_is_refused(file, words, complaint):
    verb, *rest = words
    done = run(verb, file, *rest)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("--method ")
    assert complaint in line


def test_an_option_of_the_method_is_taken(file):
    words = ("--method", "neighbors:k=3", "--measure", "gower", "--weight", "size=2")
    assert run("outliers", file, *words).exit_code == 0
    assert run("cluster", file, "--method", "density:min_neighbors=3").exit_code == 0
