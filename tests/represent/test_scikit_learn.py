"""Every representation passes scikit-learn's own checks and works in its machinery."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike.measures import Gower, Precomputed, Ranked, Vector
from lookalike.represent import (
    LayeredRepresentation,
    MapLayout,
    NystroemRepresentation,
    SimilarityRepresentation,
)

ESTIMATORS = [
    SimilarityRepresentation(n_prototypes=0.3),
    SimilarityRepresentation(Vector(), "farthest", 0.3),
    SimilarityRepresentation(prototypes="cfs"),
    SimilarityRepresentation(prototypes="random", n_prototypes=0.3, random_state=0),
    LayeredRepresentation(n_layers=2, n_prototypes=0.3),
    NystroemRepresentation(Gower(), n_prototypes=0.3),
]
MAPS = [MapLayout(), MapLayout(Vector(), 4)]
BESIDE = "equal rows are drawn beside each other; a new row equal to them goes to their middle"


def known_exceptions(estimator):
    names = ("check_transformer_general", "check_transformer_data_not_an_array")
    rounded = isinstance(estimator, MapLayout) and estimator.measure is None  # so rows are equal
    return dict.fromkeys(names, BESIDE) if rounded else {}


@parametrize_with_checks([*ESTIMATORS, *MAPS], expected_failed_checks=known_exceptions)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def mixed(n=90, seed=0):
    rng = np.random.default_rng(seed)
    sound = rng.choice(["meow", "woof", "moo"], n)
    table = {
        "sound": [None if i % 8 == 0 else s for i, s in enumerate(sound)],
        "weight": [None if i % 9 == 0 else v for i, v in enumerate(rng.random(n))],
    }
    return la.read_table(table), sound


@pytest.mark.filterwarnings("ignore:NystroemRepresentation")  # gaps: no kernel
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_mixed_tables_go_through_pipelines_and_cross_validation(estimator):
    table, y = mixed()
    if isinstance(estimator.measure, Vector):
        estimator = clone(estimator).set_params(measure=None)
    model = make_pipeline(clone(estimator), LogisticRegression())
    right = cross_val_score(model, table, y, cv=3)
    shuffled = cross_val_score(model, table, np.random.default_rng(1).permutation(y), cv=3)
    assert right.mean() > 0.7 > shuffled.mean()


def test_an_ordinary_grid_search_tunes_prototypes_and_measure():
    table, y = mixed()
    model = make_pipeline(SimilarityRepresentation(Gower()), LogisticRegression())
    name = "similarityrepresentation"
    grid = {f"{name}__n_prototypes": [2, 6], f"{name}__measure__missing": ["ignore", "midpoint"]}
    found = GridSearchCV(model, grid, cv=3).fit(table, y)
    assert len(found.cv_results_["params"]) == 4
    assert found.best_params_[f"{name}__n_prototypes"] == 6
    assert found.best_score_ > 0.7


def test_a_matrix_of_distances_goes_through_cross_validation():
    table, y = mixed()
    d = Gower(undefined=0.5).fit(table).distance()
    model = make_pipeline(
        SimilarityRepresentation(Precomputed(), n_prototypes=6), LogisticRegression()
    )
    inside = cross_val_score(model, d, y, cv=3)
    plain = make_pipeline(SimilarityRepresentation(n_prototypes=6), LogisticRegression())
    assert inside.mean() == pytest.approx(cross_val_score(plain, table, y, cv=3).mean(), abs=0.15)


def test_representations_of_representations():
    table, y = mixed()
    model = make_pipeline(
        SimilarityRepresentation(n_prototypes=8), SimilarityRepresentation(Ranked(), n_prototypes=4)
    )
    assert model.fit_transform(table, y).shape == (90, 4)


@pytest.mark.filterwarnings("ignore:NystroemRepresentation")  # gaps: no kernel
@pytest.mark.parametrize("estimator", ESTIMATORS[:1] + ESTIMATORS[4:], ids=repr)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_new_columns_come_as_the_frame_that_is_asked_for(estimator, backend):
    frame = mixed()[0].to_frame(backend)
    if backend == "pandas":
        frame.index = [f"pet {i}" for i in range(len(frame))]
    model = clone(estimator).set_output(transform=backend)
    found = model.fit_transform(frame)
    assert type(found).__module__.startswith(backend)
    assert list(found.columns) == model.get_feature_names_out().tolist()
    some = model.transform(frame[:3])
    assert some.shape == (3, found.shape[1])
    if backend == "pandas":
        assert list(some.index) == ["pet 0", "pet 1", "pet 2"]
