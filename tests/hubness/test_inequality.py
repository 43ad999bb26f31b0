"""Inequality of the k-occurrence: every index against its formula, written out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hubness import reference
from lookalike.errors import InvalidInput
from lookalike.hubness import (
    antihub_occurrence,
    atkinson,
    gini,
    groupie_ratio,
    hub_occurrence,
    robin_hood,
    skewness,
)


@settings(max_examples=50, deadline=None)
@given(counts=st.lists(st.integers(0, 9), min_size=2, max_size=12).filter(any))
def test_inequality_matches_its_reference(counts):
    n, total, mean = len(counts), sum(counts), sum(counts) / len(counts)
    assert_allclose(skewness(counts), reference.skewness(counts), atol=1e-9)
    assert_allclose(gini(counts), reference.gini(counts), atol=1e-12)
    assert_allclose(robin_hood(counts), sum(abs(c - mean) for c in counts) / (2 * total))
    half = 1 - (sum(math.sqrt(c) for c in counts) / n) ** 2 / mean
    assert_allclose(atkinson(counts), half, atol=1e-12)
    whole = 1 - math.prod(counts) ** (1 / n) / mean
    assert_allclose(atkinson(counts, 1), whole, atol=1e-12)
    assert groupie_ratio(counts) == max(counts) / n
    assert antihub_occurrence(counts) == counts.count(0) / n
    assert_allclose(hub_occurrence(counts, 2), sum(c for c in counts if c > 2 * mean) / total)


def test_inequality_of_nothing():
    for measure in (skewness, gini, robin_hood, atkinson, hub_occurrence, groupie_ratio):
        assert measure([0, 0, 0]) == 0
        with pytest.raises(InvalidInput, match="k_occurrence"):
            measure([])
        with pytest.raises(InvalidInput, match=">= 0"):
            measure([1, np.nan])
    with pytest.raises(InvalidInput, match=">= 0 and <= 1"):
        atkinson([1, 2], 2)


def test_equal_occurrences_have_no_skewness_despite_round_off():
    """Shared ties are sums of fractions, which differ in the last bits."""
    assert skewness([0.1 + 0.2, 0.3, 0.3]) == 0
    assert skewness([1.0, 1.0, 1.0 + 1e-9]) != 0


def test_a_hub_has_more_than_factor_times_the_mean():
    assert hub_occurrence([2, 0, 2, 0], 2) == 0  # 2 is not more than 2 * 1
    assert hub_occurrence([3, 0, 1, 0], 2) == 0.75
    with pytest.raises(InvalidInput, match="shape"):
        hub_occurrence([[1, 2]])
    with pytest.raises(InvalidInput, match=">= 0"):
        hub_occurrence([-1, 2])
