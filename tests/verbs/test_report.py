"""``lookalike report``: one page about a table, complete or not there at all."""

import numpy as np
import pytest

from cli.run import run
from verbs.defaults import defaults_of


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("report") / "pets.csv"
    lines = ["weight,sound,owner,animal"]
    for i in range(40):
        cat = i % 2 == 0
        weight = "" if i == 7 else f"{rng.normal(4 if cat else 20):.2f}"
        lines.append(
            f"{weight},{'meow' if cat else 'woof'},{'abc'[i % 3]},{'cat' if cat else 'dog'}"
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_page_is_written_where_asked(file, tmp_path):
    page = tmp_path / "out.html"
    done = run("report", file, "--label", "animal", "--measure", "gower", "-o", page, "-k", 3)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert f"wrote {page}" in done.stderr.replace("\n", "")
    text = page.read_text(encoding="utf-8")
    assert "<h1>pets.csv</h1>" in text
    assert "la.read_table(&#x27;pets.csv&#x27;)" in text
    assert "Left out" not in text


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (["--label", "animl"], "animal"),
        (["--measure", "gowr"], "gower"),
        (["--columns", "wieght"], "weight"),
        (["-o", "/nowhere/x.html"], "/nowhere"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(file, tmp_path, monkeypatch, words, result):
    monkeypatch.chdir(tmp_path)
    done = run("report", file, *words)
    assert done.exit_code == 1
    assert result in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("report") == {
        "label": None,
        "measure": None,
        "weights": None,
        "k": 5,
        "sample": None,
        "columns": None,
        "filter": None,
        "title": None,
        "seed": 0,
    }
