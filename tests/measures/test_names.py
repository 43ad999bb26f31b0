"""Measures by name, everywhere a measure is taken."""

import numpy as np
import pytest

import lookalike as la
from lookalike.clustering import AutoClustering, DensitySearch, SimilarityClustering
from lookalike.errors import InvalidInput
from lookalike.hubness import NICDM, MutualProximity
from lookalike.leaderboard import compare, diagnose
from lookalike.measures import Combined, Gower, Vector, known_measures, make_measure
from lookalike.prediction import NeighborClassifier, NeighborRegressor, SimilarityForestClassifier
from lookalike.represent import (
    NeighborsTransformer,
    NystroemRepresentation,
    SimilarityRepresentation,
    select_prototypes,
)
from studies.retrieval import retrieval_precision

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) + np.repeat([[0.0], [4.0]], 20, axis=0)
Y = np.repeat(["a", "b"], 20)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gower", "Gower()"),
        ("Gower", "Gower()"),
        ("LocalScaling:measure=vector", "LocalScaling(measure=Vector())"),
        ("local_scaling:measure=vector", "LocalScaling(measure=Vector())"),
        ("localscaling:measure=vector", "LocalScaling(measure=Vector())"),
        ("precomputed", "Precomputed()"),
        ("nicdm:measure=ranked,n_neighbors=3", "NICDM(measure=Ranked(), n_neighbors=3)"),
        ("ratio:n_trees=7", "ForestProximity(n_estimators=7)"),
    ],
)  # fmt: skip
def test_names(text, expected):
    assert repr(make_measure(text)).replace("\n", "").replace(" " * 6, " ") == expected


def test_options_of_growing_a_forest_stand_among_those_of_the_measure():
    made = make_measure("ratio:forest=extra,max_depth=3")
    assert made.get_params()["forest__max_depth"] == 3
    with pytest.raises(InvalidInput, match="max_depth"):
        make_measure("ratio:forest=extra,max_dept=3")


ESTIMATORS = [
    la.Index("cityblock"),
    NeighborClassifier("cityblock"),
    NeighborRegressor("cityblock"),
    SimilarityClustering("cityblock", n_clusters=2),
    DensitySearch("cityblock"),
    SimilarityRepresentation("cityblock", n_prototypes=3),
    NystroemRepresentation("cityblock", n_prototypes=3),
    NeighborsTransformer("cityblock"),
    NICDM("cityblock", n_neighbors=3),
    MutualProximity("cityblock"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator_takes_a_name(estimator, tmp_path):
    y = np.arange(40.0) if isinstance(estimator, NeighborRegressor) else Y
    estimator.fit(X, y)
    assert repr(estimator.measure_) == "Vector(metric='cityblock')"
    assert estimator.measure == "cityblock"
    estimator.save(tmp_path / "x.lookalike")
    again = la.load(tmp_path / "x.lookalike")
    assert again.measure == "cityblock"
    assert repr(again.measure_) == "Vector(metric='cityblock')"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_mistyped_name_is_answered_with_the_nearest(estimator):
    wrong = type(estimator)("cityblok")
    with pytest.raises(InvalidInput, match="Did you mean 'cityblock'"):
        wrong.fit(X, Y)


def test_a_wrapper_needs_a_measure():
    with pytest.raises(InvalidInput, match="option 'measure'.*Write nicdm:measure=auto"):
        make_measure("nicdm")
    with pytest.raises(InvalidInput, match="'parts'.*Make it in Python"):
        make_measure("combined")


def test_a_name_gives_the_answers_of_the_measure():
    named, made = NICDM("gower", n_neighbors=3).fit(X), NICDM(Gower(), n_neighbors=3).fit(X)
    assert (named.distance() == made.distance()).all()
    both = [Combined([(1, "gower"), (2, one)]).fit(X) for one in ("vector", Vector())]
    assert (both[0].distance() == both[1].distance()).all()
    forests = [
        SimilarityForestClassifier(one, n_estimators=5, random_state=0).fit(X, Y)
        for one in ("gower", Gower())
    ]
    assert (forests[0].predict_proba(X) == forests[1].predict_proba(X)).all()
    chosen = [select_prototypes(one, X, n=3) for one in ("vector", Vector())]
    assert (chosen[0] == chosen[1]).all()


def test_functions_take_names():
    board = compare(X, ["gower", "cosine", "nicdm:measure=vector"], y=Y)
    assert len(board.usable) == 3
    assert diagnose("gower", X).title.startswith("Gower, 40 rows")
    found = retrieval_precision("gower", X, Y, n_repetitions=1, rounds=1, top=5, random_state=0)
    assert found.mean > 0.5
    search = AutoClustering(["gower", ("vector", {"metric": ["cityblock"]})], n_clusters=2).fit(X)
    assert {run["measure"] for run in search.results_} == {"Gower", "Vector"}


def test_a_class_is_no_measure():
    with pytest.raises(InvalidInput, match="Pass an instance or a name"):
        SimilarityClustering(Gower).fit(X)
    with pytest.raises(InvalidInput, match="or None for 'auto'"):
        SimilarityClustering(3).fit(X)


def test_every_name_makes_a_measure():
    for name, (cls, options) in known_measures().items():
        if "measure" in cls.__init__.__annotations__ or name == "combined":
            continue
        assert isinstance(make_measure(name), cls), name
        assert options.items() <= make_measure(name).get_params(deep=False).items()
