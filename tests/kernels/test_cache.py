"""Compiled kernels are kept where a change of any kernel, or a damaged file, is noticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike
from lookalike.kernels import _cache

SOURCE = Path(lookalike.__file__).parent
CODE = (
    "import numpy as np; from lookalike.kernels.lists import insert;"
    "d, i = np.full(2, np.inf), np.full(2, -1); insert(d, i, 1.0, 7); print(i.tolist());"
    "print(sum(insert.ready().stats.cache_hits.values()))"
)

COMPILING = {"NUMBA_CACHE_DIR": "", "LOOKALIKE_COMPILE": "1"}  # whatever the tests run with


def run(code, cache, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **COMPILING, "XDG_CACHE_HOME": str(cache), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_functions_are_called_when_numba_begins_and_ends():
    from numba.core.event import trigger_event

    calls = []
    _cache.listen("lookalike:test", lambda: calls.append("begins"), lambda: calls.append("ends"))
    with trigger_event("lookalike:test"):
        assert calls == ["begins"]
    assert calls == ["begins", "ends"]
    with trigger_event("lookalike:other"):
        assert calls == ["begins", "ends"]


@pytest.mark.long
def test_kernels_are_compiled_once(tmp_path):
    assert run(CODE, tmp_path) == ["[7, -1]", "0"]
    assert run(CODE, tmp_path) == ["[7, -1]", "1"]


@pytest.mark.long
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("size", [0, 10, 100])
def test_a_file_cut_short_is_thrown_away(tmp_path, ending, size):
    run(CODE, tmp_path)
    kept = list(tmp_path.rglob(f"*{ending}"))
    assert kept
    for file in kept:
        os.truncate(file, size)
    assert run(CODE, tmp_path) == ["[7, -1]", "0"]


def test_a_place_that_cannot_be_written_is_no_error(tmp_path):
    """A package that cannot keep compiled code anywhere compiles in memory."""
    file = tmp_path / "a file"
    file.write_text("")
    assert run(CODE, file) == ["[7, -1]", "0"]


def test_the_fingerprint_follows_every_kernel(tmp_path, monkeypatch):
    for file in (SOURCE / "kernels").glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(_cache, "__file__", str(tmp_path / "_cache.py"))
    before = _cache.fingerprint.__wrapped__()
    assert before == _cache.fingerprint.__wrapped__()
    (tmp_path / "lists.py").write_text("# changed\n")
    assert _cache.fingerprint.__wrapped__() != before


def test_a_folder_needs_to_be_written_and_entered(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    asked = []
    for answer in (True, False):
        monkeypatch.setattr(os, "access", lambda path, mode: asked.append(mode) or answer)  # noqa: B023
        found = _cache.cache_folder.__wrapped__()
        folder = tmp_path / "lookalike" / "kernels" / _cache.fingerprint()
        assert found == (str(folder) if answer else None)
    assert asked == [os.W_OK | os.X_OK] * 2


def test_the_setting_of_numba_is_put_back():
    import numba

    import lookalike.kernels.lists  # noqa: F401

    assert "lookalike" not in str(numba.config.CACHE_DIR)


def test_kernels_of_other_versions_go_after_a_month(tmp_path):
    old, recent, own = (tmp_path / name for name in ("old", "recent", "own"))
    for folder in (old, recent, own):
        folder.mkdir()
    os.utime(old, (0, 0))
    _cache._remove_old(own)
    assert not old.exists()
    assert recent.exists()
