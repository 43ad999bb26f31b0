import pytest

pytest.importorskip("fastapi", reason="the service is not installed")

from cli.run import run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "cats.csv"
    rows = (f"cat {i},{i},{'black' if i % 2 else 'white'}\n" for i in range(30))
    path.write_text("name,weight,color\n" + "".join(rows))
    return path


def test_one_file_is_written(table, tmp_path):
    page = tmp_path / "cats.html"
    done = run("explore", str(table), "--weight", "weight=2", "--rows", "20", "-o", str(page))
    assert done.exit_code == 0, done.output
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


def test_another_ending_is_refused(table):
    done = run("explore", str(table), "-o", "cats.csv")
    assert done.exit_code == 1
    assert "NAME.html" in done.output
