"""The demo runs on the real films and shows what it promises."""

import numpy as np
import pytest

from cli.run import run
from lookalike.cli.demo_command import FILMS, row_of
from lookalike.datasets import load_films


@pytest.fixture(scope="module")
def shown():
    done = run("demo")
    assert done.exit_code == 0
    return done.stdout


def test_explains_the_kinds(shown):
    for words in ("58,788 rows, 9 columns", "4 distinct strings in 58,788 rows", "Drama 37%"):
        assert words in shown


def test_shows_the_neighbors_of_three_films_with_reasons(shown):
    parts = shown.split("Most like ")[1:]
    assert [part.splitlines()[0] for part in parts] == list(FILMS)
    assert "Star Wars: Episode V" in parts[0]
    assert "+ votes high in both: 134,640 and 103,706; same rating: 8.8" in parts[0]
    assert all(" against " in part for part in parts)
    assert all(len(line) <= 100 for line in shown.splitlines())


def test_of_two_films_of_one_title_the_famous_one_is_meant():
    films = load_films()
    titles = films["title"].values
    assert int(np.sum(titles == "Casablanca")) == 2
    assert films.record(row_of(films, "Casablanca"))["year"] == 1942
