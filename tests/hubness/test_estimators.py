"""scikit-learn's own checks on every reducer."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lookalike.hubness import (
    CDM,
    CSLS,
    NICDM,
    DisSimLocal,
    LocalScaling,
    MutualProximity,
    SharedNeighbors,
)
from lookalike.measures import Combined, Ranked, Vector

ESTIMATORS = [
    LocalScaling(Vector(), n_neighbors=2),
    NICDM(Vector(), n_neighbors=2),
    CDM(Vector(), n_neighbors=2),
    CSLS(Vector(), n_neighbors=2),
    DisSimLocal(Vector(), n_neighbors=2),
    SharedNeighbors(Vector(), n_neighbors=2),
    MutualProximity(Vector()),
    MutualProximity(Vector(), "gauss"),
    MutualProximity(Vector(), "gauss_independent", sample=5, random_state=0),
    MutualProximity(Vector(), "gamma_independent"),
    Combined([(0.3, Vector()), (0.7, Ranked())]),
]


# No check is excepted. Instances have few neighbors because some checks fit ten rows only.
@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
