"""A forest fitted to a table of every kind of column."""

import numpy as np
import pytest

from lookalike.prediction import RandomSimilarityForestClassifier


@pytest.fixture(scope="module")
def fitted():
    from measures.forest.test_similarity_proximity import mixed

    table, group = mixed(50, gaps=True)
    rng = np.random.default_rng(9)
    label = np.where(rng.random(50) < 0.1, 1 - group, group)  # some labels are wrong
    model = RandomSimilarityForestClassifier(60, oob_score=True, random_state=0)
    return table, label, model.fit(table, label)
