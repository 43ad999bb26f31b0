"""What all representations share: blocks, names, fitted rows."""

import numpy as np
import pytest

from lookalike.hubness import MutualProximity
from lookalike.measures import Gower, Ranked, Vector
from lookalike.represent import SimilarityRepresentation, base

EXAMPLE = np.array([[1, 2, 3, 1], [1, 3, 3, np.nan], [1, 3, 3, 5]])
KNOWN = Gower(ranges={f"x{j}": 4.0 for j in range(4)})
PETS = {"weight": [4.0, 5.0, None, 30.0, 25.0], "sound": ["meow", "meow", None, "woof", "woof"]}


def test_names_and_frames():
    import pandas as pd

    represent = SimilarityRepresentation(prototypes=[3, 1]).set_output(transform="pandas")
    frame = pd.DataFrame(PETS, index=list("abcde"))
    out = represent.fit_transform(frame)
    assert list(out.columns) == ["like row 1", "like row 3"]
    assert list(out.index) == list("abcde")
    assert represent.transform(frame).equals(represent.transform(frame.copy()))
    assert represent.feature_names_in_.tolist() == ["weight", "sound"]


@pytest.mark.parametrize(
    "measure", [Gower(), Ranked(), MutualProximity(Vector(), model="gauss_independent")], ids=repr
)
def test_blocks_and_threads_change_nothing(measure, monkeypatch):
    x = np.random.default_rng(0).random((40, 3))
    whole = SimilarityRepresentation(measure, n_prototypes=4, n_jobs=1).fit(x)
    expected = whole.transform(x), whole.fit_transform(x)
    monkeypatch.setattr(base, "BLOCK_ROWS", 7)
    parts = SimilarityRepresentation(measure, n_prototypes=4, n_jobs=3).fit(x)
    np.testing.assert_array_equal(parts.transform(x), expected[0])
    np.testing.assert_array_equal(parts.fit_transform(x), expected[1])


def test_fitted_rows_are_known_to_be_fitted():
    x = np.random.default_rng(0).random((20, 2))
    represent = SimilarityRepresentation(Ranked(), n_prototypes=3)
    seen = represent.fit_transform(x)
    measure = Ranked().fit(x)
    np.testing.assert_array_equal(seen, measure.similarity()[:, represent.prototypes_])
    np.testing.assert_array_equal(
        represent.transform(x), measure.similarity(x)[:, represent.prototypes_]
    )
