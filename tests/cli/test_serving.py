"""What ``serve``, ``token`` and ``demo --page`` share: the store, the extra packages."""

import os
import sys

import pytest

from cli.run import run

pytest.importorskip("fastapi", reason="install lookalike[service] to test the service")


def test_the_store_has_a_place_by_itself(tmp_path, monkeypatch):
    from lookalike.service.server import default_store

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_store([]) == tmp_path / "data" / "lookalike" / "store.sqlite"
    file = tmp_path / "films.csv.gz"
    assert default_store([str(file)]) == tmp_path / "films.lookalike.sqlite"
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        place = default_store([str(tmp_path / "locked" / "a.csv")])
        assert place == tmp_path / "data" / "lookalike" / "a.sqlite"


def test_without_the_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    done = run("serve")
    assert done.exit_code == 1
    assert 'pip install "lookalike[service]"' in done.stderr
