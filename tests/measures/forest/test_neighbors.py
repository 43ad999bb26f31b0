"""Neighbors by tiles, the range over all pairs, and pairs without a usable tree."""

import numpy as np
import pytest

from lookalike.errors import LookalikeWarning
from lookalike.measures import ForestProximity, Ratio
from lookalike.measures.forest import neighbors as forest_neighbors

RNG = np.random.default_rng(0)


ROWS = RNG.normal(size=(40, 3))


def test_pairs_without_a_usable_tree_are_counted():
    with pytest.warns(LookalikeWarning, match="pairs of rows have no tree"):
        measure = ForestProximity("oob", n_estimators=3, random_state=0).fit(ROWS)
    bag = measure.in_bag_ > 0
    lost = (bag[:, None] | bag).all(axis=2)
    assert measure.n_fallback_pairs_ == lost[np.triu_indices(40, 1)].sum() > 0


@pytest.mark.parametrize("parting", ["twice", "once"])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("new", [False, True])
def test_ratio_neighbors_do_not_depend_on_the_tiles(monkeypatch, parting, gaps, new):
    monkeypatch.setattr(forest_neighbors, "MAX_TILE_ROWS", 64)
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 4)).round(1)
    rows[:, 1:][rng.random((150, 3)) < gaps] = np.nan  # something is left to compare
    measure = ForestProximity(Ratio(parting=parting), n_estimators=5, random_state=0).fit(rows)
    asked = rows[40:110] if new else None
    distances, indices = measure.kneighbors(asked, n_neighbors=7)
    square = measure.distance(asked)
    if not new:
        np.fill_diagonal(square, np.inf)
    order = np.argsort(square, axis=1, kind="stable")[:, :7]
    assert (indices == order).all()
    assert (distances == np.take_along_axis(square, order, axis=1)).all()
