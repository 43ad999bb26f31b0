"""Every registered measure keeps the contract, found by itself the moment its class exists."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from lookalike.measures import MEASURES, Measure, Precomputed
from lookalike.measures.contract.base import Traits
from lookalike.saving.load import import_packages
from lookalike.testing import check_measure, matrices, number_tables, tables

import_packages()
EXAMPLES = [
    pytest.param(example, id=repr(example))
    for cls in MEASURES.values()
    if cls.__module__.startswith("lookalike.")
    for example in cls.examples()
]
SOME = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
MIXED = ("number", "category", "order", "flag", "text", "set", "sequence", "histogram", "vector")


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")  # ties, constant columns
@pytest.mark.parametrize("measure", EXAMPLES)
@given(data=st.data())
@SOME
def test_contract_on_random_tables(measure, data):
    if measure.traits.pairwise:
        d = data.draw(matrices(min_rows=6, symmetric=measure.traits.symmetric))
        new = np.abs(d[:2] - 0.25)
        check_measure(measure, d, new)
    elif measure.traits.missing:
        kinds = [kind for kind in MIXED if kind in (measure.traits.kinds or MIXED)]
        table = data.draw(tables(kinds=kinds, min_rows=8, max_rows=14, max_columns=4))
        assume(not any(column.missing.all() for column in table))  # forests refuse those
        check_measure(measure, table, table[[0, 2, 1]])
    else:
        x = data.draw(number_tables(min_rows=8, max_rows=14, n_columns=3))
        new = data.draw(number_tables(min_rows=1, max_rows=3, n_columns=3))
        check_measure(measure, x, new)


KERNEL = "scikit-learn feeds pairwise estimators a kernel, whose diagonal is not 0"


def expected_failures(estimator):
    if not estimator.traits.pairwise:
        return {}
    return dict.fromkeys(
        (
            "check_fit_score_takes_y check_estimators_overwrite_params "
            "check_dont_overwrite_parameters check_estimators_fit_returns_self "
            "check_readonly_memmap_input check_n_features_in_after_fitting "
            "check_estimators_dtypes check_dtype_object check_pipeline_consistency "
            "check_estimators_nan_inf check_estimators_pickle check_f_contiguous_array_estimator "
            "check_methods_sample_order_invariance check_methods_subset_invariance "
            "check_fit2d_1sample check_fit2d_1feature check_dict_unchanged check_fit_idempotent "
            "check_fit_check_is_fitted check_n_features_in check_fit2d_predict1d"
        ).split(),
        KERNEL,
    )


@pytest.mark.parametrize("estimator", EXAMPLES)
def test_scikit_learn_checks(estimator):
    """Some forty checks of each measure; the message names those that fail and why."""
    expected = expected_failures(estimator)
    results = check_estimator(
        estimator, expected_failed_checks=expected, on_skip=None, on_fail=None
    )
    assert len(results) > 30
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed, f"{estimator!r}: {failed}"
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    assert not passed & set(expected), f"{estimator!r}: expected failures that passed"


def test_a_measure_that_breaks_the_contract_is_caught():
    class Lopsided(Precomputed):
        def compare(self, a, b):
            return super().compare(a, b) * (1 + 1e-9 * len(b))  # depends on the block

    try:
        with pytest.raises(AssertionError, match="breaks the contract"):
            check_measure(Lopsided(), np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))))
    finally:
        del MEASURES["Lopsided"]


def test_a_second_class_of_one_name_is_refused():
    with pytest.raises(ValueError, match="class Vector: needs a name of its own"):
        type("Vector", (Measure,), {"traits": Traits(), "__module__": "elsewhere"})
