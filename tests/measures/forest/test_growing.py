"""The forest behind a measure: bins in parts, limits of memory, what is taken from a fitted one."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import InvalidInput, TooLarge
from lookalike.measures import ForestProximity, Gower
from lookalike.measures.forest import growing
from lookalike.prediction import (
    RandomSimilarityForestClassifier,
    SimilarityForestClassifier,
)
from lookalike.trees import CellSimilarityForest, SyntheticForest
from lookalike.trees.thresholds.flat import bin_type
from measures.forest.test_similarity_proximity import mixed, similar


@pytest.mark.parametrize("method", ["ratio", "shi", "ting"])
def test_rows_are_projected_in_parts(method, monkeypatch):
    table, _ = mixed(40)
    whole = similar(method).fit(table)
    assert bin_type(whole.forest_) is np.uint8
    monkeypatch.setattr(growing, "MAX_PROJECTION_BYTES", 3 * 8 * whole.forest_.n_inputs)
    monkeypatch.setattr(growing, "MAX_BIN_BYTES", 7 * whole.forest_.n_inputs)
    assert len(whole.inputs_.parts(whole.forest_, 40)) == 6
    parts = similar(method).fit(table)
    assert_array_equal(parts.similarity(), whole.similarity())
    assert_array_equal(parts.similarity(table), whole.similarity(table))


def test_too_many_answers_are_refused_before_they_are_computed():
    table, _ = mixed(60)
    measure = similar(n_estimators=30)
    with la.config(memory_limit="20kB"), pytest.raises(TooLarge, match="60 rows answer to"):
        measure.fit(table)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"synthetic": "uniform"}, "synthetic='uniform'"),
        ({"distances": {"tt": "levenshtein"}}, "Did you mean 't'"),
        ({"distances": {"t": "jaccrd"}}, "a distance for text cells"),
        ({"distances": "levenshtein"}, "a mapping of column to distance"),
        ({"numeric": "values"}, "Did you mean 'value'"),
        ({"max_features": 0.0}, "max_features"),
        ({"max_samples": 1.5}, "max_samples"),
        ({"max_samples": 0.02}, "real and synthetic rows"),
    ],
)
def test_wrong_options_are_named(options, found):
    with pytest.raises(InvalidInput, match=found):
        similar(**options).fit(mixed()[0])


def test_options_belong_to_the_forests_that_have_them():
    for name in ("distances", "numeric"):
        with pytest.raises(TypeError, match=name):
            SyntheticForest(**{name: None})
    for name in ("feature_sampling", "max_pairs"):
        with pytest.raises(TypeError, match=name):
            CellSimilarityForest(**{name: None})


def test_forests_that_do_not_fit_the_table_are_refused(fitted):
    table, label, model = fitted
    with pytest.raises(InvalidInput, match="no column 's'"):
        ForestProximity(model=model).fit(table.drop("s"))
    with pytest.raises(InvalidInput, match="Call its fit first"):
        ForestProximity(model=RandomSimilarityForestClassifier()).fit(table)
    whole = SimilarityForestClassifier(Gower(), 5, random_state=0).fit(table, label)
    with pytest.raises(InvalidInput, match="compares whole rows"):
        ForestProximity(model=whole).fit(table)


def test_out_of_bag_needs_to_know_the_bags(fitted):
    table, label, model = fitted
    with pytest.raises(InvalidInput, match="the 50 rows that the forest was fitted on"):
        ForestProximity("oob", model=model).fit(table[:40])
    plain = RandomSimilarityForestClassifier(5, random_state=0).fit(table, label)
    with pytest.raises(InvalidInput, match="Fit it with oob_score=True"):
        ForestProximity("oob", model=plain).fit(table)
