"""``lookalike mcp`` without its packages; with them it is asked by a client in tests/mcp."""

import sys

from cli.run import run


def test_a_missing_package_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "lookalike.mcp.server", raising=False)
    done = run("mcp", tmp_path)
    assert done.exit_code == 1
    assert "lookalike[mcp]" in " ".join(done.stderr.split())


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    done = run("mcp", tmp_path / "none")
    assert done.exit_code == 1
    assert "file not found" in done.stderr
