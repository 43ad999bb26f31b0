"""Scikit-learn's own checks of estimators."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike.index import ReFeat
from lookalike.measures import Gower, Vector


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
@parametrize_with_checks([la.Index(), la.Index(Vector()), ReFeat(10, random_state=0)])
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_cloning_keeps_parameters_and_nothing_else():
    index = la.Index(Gower(), id_column="id", n_jobs=1).fit({"id": [1, 2], "x": [0.0, 1.0]})
    again = clone(index)
    assert not hasattr(again, "state_")
    known = {"measure", "id_column", "kinds", "approximate", "recall", "n_jobs"}
    assert again.get_params(deep=False).keys() == known
    assert again.id_column == "id"
    assert isinstance(again.measure, Gower)
    assert not hasattr(index.measure, "rows_")  # a clone was fitted
