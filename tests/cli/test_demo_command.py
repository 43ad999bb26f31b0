"""The demo runs on the real films and tells the story it promises."""

import tempfile

import numpy as np
import pytest

from cli.run import run
from lookalike.cli import demo_command
from lookalike.cli.demo_command import FILMS, known_films, row_of
from lookalike.datasets import load_films
from lookalike.table import read_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the demo puts its page."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def shown(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        done = run("demo")
    assert done.exit_code == 0
    return done.stdout


def some_films(n):
    """One film in two has the votes that are needed, and no more."""
    votes = [demo_command.MIN_VOTES - i % 2 for i in range(n)]
    return read_table({"title": [f"film {i}" for i in range(n)], "votes": votes})


def test_known_films_are_drawn_once_for_all():
    films = some_films(12)
    assert known_films(films, 99)["title"].values.tolist() == [f"film {i}" for i in range(0, 12, 2)]
    four = known_films(films, 4)["title"].values.tolist()
    assert len(four) == 4
    assert four == known_films(films, 4)["title"].values.tolist()
    assert four == sorted(four, key=lambda name: int(name.split()[1]))


@pytest.mark.long
def test_explains_the_kinds_and_the_measure(shown):
    for words in ("58,788 rows, 9 columns", "Drama 37%", "How are films compared?", "Gower"):
        assert words in shown


@pytest.mark.long
def test_shows_the_neighbors_of_three_films_with_reasons(shown):
    parts = shown.split("Which films are like ")[1:]
    assert [part.splitlines()[0] for part in parts] == [f"{title}?" for title in FILMS]
    assert "Star Wars: Episode V" in parts[0]
    assert "+ votes high in both: 134,640 and 103,706; same rating: 8.8" in parts[0]
    assert all(" against " in part for part in parts)


@pytest.mark.long
def test_weights_and_a_thumb_down_change_the_list(shown):
    first = shown.split("Which films are like Casablanca?")[1].split("Which films")[0]
    weighed = shown.split("if the year counts four times")[1].split("Like Toy Story, but")[0]
    assert "On the Waterfront" in first
    assert "On the Waterfront" not in weighed
    disliked, again = shown.split("but not like ")[1].split("?", 1)
    assert disliked not in again.split("Is one film")[0]


@pytest.mark.long
def test_hubs_are_counted_before_and_after_the_repair(shown):
    part = shown.split("Is one film everybody's neighbor?")[1].split("Which belong")[0]
    line = next(line for line in part.splitlines() if "lists that the largest hub" in line)
    before, after = (int(word.replace(",", "")) for word in line.split()[-2:])
    assert before > after > 10


@pytest.mark.long
def test_clusters_measures_and_a_page_follow(shown, folder):
    assert "5 clusters of 3,000 rows" in shown.split("Which belong together?")[1]
    board = shown.split("share the genre?")[1]
    assert all(name in board for name in ("ratiorf", "simusf", "gower:scale=rank", "vector:"))
    page = folder / "lookalike-films.html"
    assert "lookalike-films.html" in shown.replace("\n", "")
    assert 10_000 < page.stat().st_size < 2_000_000


@pytest.mark.long
def test_no_line_is_too_long(shown):
    assert [line for line in shown.splitlines() if len(line) > 100] == []


def test_of_two_films_of_one_title_the_famous_one_is_meant():
    films = load_films()
    titles = films["title"].values
    assert int(np.sum(titles == "Casablanca")) == 2
    assert films.record(row_of(films, "Casablanca"))["year"] == 1942


@pytest.mark.long
def test_ends_with_commands_for_a_table_of_ones_own(shown):
    end = shown.split("Now your own table")[1]
    assert [line.split()[1] for line in end.split("\n") if line] == [
        "inspect",
        "search",
        "report",
        "serve",
    ]


def test_the_quick_one_shows_films_and_reasons():
    done = run("demo", "--quick")
    assert done.exit_code == 0
    assert "Star Wars: Episode V" in done.stdout
    assert "+ votes high in both: 134,640 and 103,706; same rating: 8.8" in done.stdout
