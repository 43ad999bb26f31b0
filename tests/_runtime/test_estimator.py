"""The protocol of parameters agrees with scikit-learn's, and does not load it."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.base import clone as sklearn_clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

from lookalike._runtime.estimator import Estimator, check_is_fitted, clone, copy_value
from lookalike.errors import InvalidInput
from lookalike.hubness import MutualProximity
from lookalike.measures import Gower


class _Ours(Estimator):
    def __init__(self, inner=None, depth=3, weights=None):
        self.inner, self.depth, self.weights = inner, depth, weights


class _Theirs(BaseEstimator):
    def __init__(self, inner=None, depth=3, weights=None):
        self.inner, self.depth, self.weights = inner, depth, weights


FORMS = [{}, {"depth": 5}, {"weights": np.array([1.0, 2.0]), "depth": float("nan")}]


@pytest.mark.parametrize("params", FORMS)
def test_parameters_and_repr_are_those_of_scikit_learn(params):
    ours, theirs = (cls(LogisticRegression(C=2.0), **params) for cls in (_Ours, _Theirs))
    for deep in (True, False):
        got, expected = ours.get_params(deep), theirs.get_params(deep)
        assert list(got) == list(expected)
        assert all(got[name] is expected[name] or name == "inner" for name in got)
    assert repr(ours) == repr(theirs).replace("_Theirs", "_Ours")
    assert repr(_Ours()) == "_Ours()"


def test_a_long_repr_is_cut_in_the_middle():
    text = repr(_Ours(weights=list(range(1000))))
    assert len(text) == 703
    assert "..." in text
    assert text.startswith("_Ours(weights=[0, 1")
    assert text.endswith("998, 999])")
    fits = repr(_Ours(weights="x" * (700 - len("_Ours(weights='')"))))
    assert len(fits) == 700
    assert "..." not in fits


def test_set_params_reaches_inner_estimators_after_outer_ones():
    measure = MutualProximity(Gower(), "empiric")
    assert measure.set_params(measure__scale="rank", model="gauss") is measure
    assert measure.measure.scale == "rank"
    assert measure.model == "gauss"
    new = Gower()
    measure.set_params(measure__missing="midpoint", measure=new)
    assert measure.measure is new
    assert new.missing == "midpoint"
    with pytest.raises(InvalidInput, match=r"set_params: .*'scal'\. Did you mean 'scale'"):
        Gower().set_params(scal="rank")
    assert _Ours().set_params().depth == 3


def test_a_clone_shares_nothing_that_can_change():
    given = [Gower(scale="rank")]
    kept = _Ours(inner=given, weights={"a": [1]})
    for copied in (clone(kept), sklearn_clone(kept)):
        assert copied is not kept
        assert copied.inner[0] is not given[0]
        assert repr(copied) == repr(kept)
        copied.weights["a"].append(2)
    assert kept.weights == {"a": [1]}
    assert copy_value(Gower) is Gower
    assert copy_value((1, {"a"})) == (1, {"a"})
    forest = clone(LogisticRegression(C=3.0))
    assert isinstance(forest, LogisticRegression)
    assert forest.C == 3.0
    with pytest.raises(TypeError, match="get_params"):
        clone(object())


def test_a_frozen_measure_stays_fitted_inside_a_clone():
    frozen = Gower().fit({"a": [1.0, 2.0, 3.0]}).frozen()
    assert clone(_Ours(frozen)).inner is frozen
    assert sklearn_clone(MutualProximity(frozen)).measure is frozen


def test_only_fitted_objects_pass():
    with pytest.raises(NotFittedError, match="This Gower instance is not fitted yet"):
        check_is_fitted(Gower(), "rows_")
    check_is_fitted(Gower().fit({"a": [1.0, 2.0]}), "rows_")


def test_tags_and_html_come_from_scikit_learn():
    tags = get_tags(Gower())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert get_tags(_Ours()) == get_tags(_Theirs())
    assert "Gower" in Gower(scale="rank")._repr_html_()


def test_a_search_loads_neither_scikit_learn_nor_scipy_stats(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("name,size,side\n" + "".join(f"row {i},{i},{i % 2}\n" for i in range(20)))
    code = f"""
import sys
from lookalike.cli.app import main
sys.argv = ["lookalike", "search", {str(path)!r}, "--row", "3"]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
print(sorted({{"sklearn", "scipy.stats"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
