"""``lookalike demo``: its quick form, and the commands that it ends with."""

import tempfile

import pytest

from cli.run import run


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
