"""The two studies of our own about scales and maps: their scores against slow ones."""

import numpy as np
import pytest

from lookalike.measures import Gower
from lookalike.table import read_table
from studies.maps import GENRES, landmark_plane, main_genres, umap_map
from studies.scales import K, score, some_ranks


def slow_score(table, y, measure):
    """Rank all rows for every row, vote with the nearest deciding ties, or take the mean."""
    far = measure.fit(table).distance()
    right, guesses = [], []
    for i in range(len(y)):
        order = sorted((far[i, j], j) for j in range(len(y)) if j != i)[:K]
        near = [y[j] for _, j in order]
        if y.dtype.kind == "f":
            guesses.append(sum(near) / K)
            continue
        votes = {str(label): near.count(label) for label in near}
        best = max(votes.values())
        tied = sorted(label for label, many in votes.items() if many == best)
        right.append(str(y[i]) == (str(near[0]) if str(near[0]) in tied else tied[0]))
    if guesses:
        return 100 * (1 - ((y - guesses) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    return 100 * np.mean(right)


@pytest.mark.parametrize("target", ["words", "numbers"])
def test_the_score_of_a_scale(target):
    rng = np.random.default_rng(0)
    table = read_table({"a": rng.exponential(size=80), "b": rng.normal(size=80)})
    y = rng.choice(list("xyz"), 80) if target == "words" else rng.normal(size=80)
    for measure in (Gower(), Gower(scale="rank")):
        assert score(table, y, measure) == pytest.approx(slow_score(table, y, measure))


def test_ranks_go_to_skewed_and_to_crowded_columns():
    rng = np.random.default_rng(0)
    columns = {
        "even": rng.uniform(size=400),
        "skewed": rng.exponential(size=400) ** 2,
        "one": np.zeros(400),
        "word": rng.choice(["a", "b"], 400),
    }
    table = read_table(columns, kinds={"one": "number"})
    assert some_ranks(table, "skewed").scale == {"skewed": "rank"}
    assert some_ranks(table, "crowded").scale == {"skewed": "rank"}


def test_a_film_has_the_first_of_its_genres():
    films = read_table({"genres": [{"Drama", "Short"}, {"Drama"}, set(), {"Comedy", "Action"}]})
    assert main_genres(films) == ["Short", "Drama", "none", "Action"]
    assert GENRES[0] == "Short"


@pytest.mark.long  # umap-learn compiles for a minute
def test_the_plane_and_the_rival_draw_every_row():
    pytest.importorskip("umap")
    rng = np.random.default_rng(0)
    groups = np.repeat([0.0, 9.0], 60)[:, None] + rng.normal(size=(120, 3))
    measure = Gower().fit(groups)
    for places in (landmark_plane(measure), umap_map(measure.neighbors(None, 15))):
        assert places.shape == (120, 2)
        first, second = places[:60], places[60:]
        within = np.linalg.norm(first - first.mean(axis=0), axis=1).mean()
        assert np.linalg.norm(first.mean(axis=0) - second.mean(axis=0)) > within
