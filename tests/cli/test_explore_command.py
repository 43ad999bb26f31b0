import base64
import gzip
import json
import re

import pytest

pytest.importorskip("fastapi", reason="the service is not installed")

from cli.run import run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "cats.csv"
    rows = (f"cat {i},{i},{'black' if i % 2 else 'white'}\n" for i in range(30))
    path.write_text("name,weight,color\n" + "".join(rows))
    return path


def test_a_report_to_explore_is_one_file_of_some_rows(table, tmp_path, monkeypatch):
    page, words = tmp_path / "cats.html", ("--sample", 10, "--filter", "weight>=12", "--seed", 4)
    done = run("report", table, "--explore", "--weight", "weight=2", *words, "-o", page)
    assert done.exit_code == 0, done.output
    assert f"wrote {page}" in done.stderr.replace("\n", "")
    data = re.search('id="data">([^<]*)<', page.read_text("utf-8"))[1]
    head = json.loads(gzip.decompress(base64.b64decode(data)).partition(b"\n")[0])
    assert len(head["ids"]) == 10
    assert min(head["ids"]) >= 12
    assert head["labels"] == [f"cat {id}" for id in head["ids"]]  # the ids of the table
    assert head["weights"]["weight"] == 2
    assert head["info"]["title"].endswith("cats.csv (10 of 30 rows)")
    # Without a name the page is called after the table, as a report is.
    monkeypatch.chdir(tmp_path)
    page.unlink()
    assert run("report", table, "--explore", "--label", "color").exit_code == 0
    assert "Content-Security-Policy" in page.read_text("utf-8")


def test_the_page_is_opened_until_it_is_stopped(table, monkeypatch):
    from lookalike.cli import explore_command

    opened = []
    monkeypatch.setattr(explore_command.typer, "launch", opened.append)

    def stop(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(explore_command.time, "sleep", stop)
    done = run("explore", str(table))
    assert done.exit_code == 130
    assert [url.partition("/#/cats")[0][:17] for url in opened] == ["http://127.0.0.1:"]


@pytest.mark.parametrize(
    ("words", "result"),
    [(["-o", "csv"], "NAME.html"), (["--label", "colr"], "color"), (["--columns", "wight"], "wei")],
)
def test_mistakes_are_one_line(table, tmp_path, monkeypatch, words, result):
    monkeypatch.chdir(tmp_path)
    done = run("report", table, "--explore", *words)
    assert done.exit_code == 1
    assert result in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["cats.csv"]
