"""Ranks over sets: Friedman and Nemenyi beside scipy, Demsar's table, and a diagram that draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from lookalike.errors import InvalidInput
from lookalike.show.html.drawings import new_figure
from studies.diagram import critical_difference, draw_diagram, rank_methods


@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(3, 9))
def test_friedman_is_scipys_ties_included(seed, k, n):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 4, (k, n)).astype(float)
    if all(len(set(column)) == 1 for column in table.T):
        return
    found = rank_methods({f"m{at}": list(row) for at, row in enumerate(table)})
    statistic, p = friedmanchisquare(*table)
    assert found.chi2 == pytest.approx(statistic)
    assert found.p == pytest.approx(p)
    assert sum(found.ranks.values()) == pytest.approx(k * (k + 1) / 2)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_nemenyi_has_the_printed_quantiles(k, q):
    assert critical_difference(k, 10) == pytest.approx(q * (k * (k + 1) / 60) ** 0.5, abs=1e-3)


def test_groups_join_methods_without_significant_difference():
    rng = np.random.default_rng(0)
    scores = {"good": rng.normal(3, 0.1, 40), "also": rng.normal(3, 0.1, 40), "bad": np.zeros(40)}
    found = rank_methods(scores)
    assert found.groups() == [[name for name in found.ranks if name != "bad"]]
    assert found.apart("good", "bad")
    assert not found.apart("good", "also")
    assert next(iter(rank_methods(scores, higher=False).ranks)) == "bad"


def test_the_diagram_draws():
    rng = np.random.default_rng(1)
    found = rank_methods({f"method {at}": rng.normal(at, 3, 12) for at in range(9)})
    figure = new_figure("test", 8, 3)
    axes = figure.add_subplot()
    draw_diagram(axes, found, "Nine methods")
    words = [text.get_text() for text in axes.texts]
    assert sum("method" in word for word in words) == 9
    assert any("critical difference" in word for word in words)


def test_scores_with_holes_are_refused():
    with pytest.raises(InvalidInput, match="Leave out sets"):
        rank_methods({"a": [1.0, float("nan")], "b": [1.0, 2.0]})
