"""After ``lookalike warm`` no command waits for the compiler."""

import json
import subprocess
import sys

import pytest

from cli.run import program, run
from lookalike import warming
from lookalike.kernels import COMPILED

compiled_only = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

# All of it in one process, which imports and loads what was compiled only once.
WARM = """
import contextlib, importlib, io, json, os, pkgutil, sys
from numba.core.event import install_recorder
import lookalike as la
import lookalike.kernels as kernels
from lookalike.cli.app import app
from lookalike.kernels._jit import Deferred
from lookalike.kernels.first_use import _is_on_disk, compile_at_once

file = sys.argv[1]
os.chdir(os.path.dirname(file))
la.warm()
loops = {}
for found in pkgutil.iter_modules(kernels.__path__):
    for loop in vars(importlib.import_module(f"lookalike.kernels.{found.name}")).values():
        if isinstance(loop, Deferred) and loop.targetoptions:  # none: an intrinsic
            loops[f"{loop.py_func.__module__}.{loop.__qualname__}"] = loop
# The code of a loop that others call is part of theirs.
called = {name for loop in loops.values() for name in loop.py_func.__code__.co_names}
left = [
    name
    for name, loop in loops.items()
    if not (loop.__qualname__ in called or loop.overloads or _is_on_disk(loop))
]
answer = {"left": left}
for words in (
    ["inspect", file],
    ["search", file, "--row", "3", "--why"],
    ["search", file, "--row", "3", "--measure", "ratio"],
    ["index", "build", file, "-o", "rows.lookalike"],
    ["cluster", file],
    ["classify", file, "--label", "color"],
    ["regress", file, "--label", "size"],
    ["outliers", file],
    ["outliers", file, "--method", "neighbors"],
    ["hubs", file],
    ["report", file, "-o", "page.html"],
):
    shown = io.StringIO()
    with install_recorder("numba:compile") as seen, compile_at_once():
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            try:
                app(words, standalone_mode=False)
            except SystemExit as done:
                assert not done.code, (words, shown.getvalue())
    names = {event.data["dispatcher"].py_func.__name__ for _, event in seen.buffer}
    answer[" ".join(word for word in words if word != file)] = sorted(names)
print(json.dumps(answer))
"""


@compiled_only
@pytest.mark.long
@pytest.mark.timeout(3600)  # compiles everything that no other test has compiled yet
def test_nothing_is_left_to_compile(tmp_path):
    file = tmp_path / "rows.csv"
    lines = [
        f"{i * 7 % 60},{i * 11 % 13 / 4},{'red blue'.split()[i % 2]},{'yes no'.split()[i // 3 % 2]}"
        for i in range(120)
    ]
    file.write_text("\n".join(["age,size,color,member", *lines]))
    words = [sys.executable, "-c", WARM, str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    left = json.loads(done.stdout.splitlines()[-1])
    assert len(left) == 12
    assert {what: names for what, names in left.items() if names} == {}


@compiled_only
def test_the_folder_is_named(monkeypatch):
    called = []
    monkeypatch.setattr(warming, "steps", lambda: [("one", lambda: called.append(1))])
    done = run("warm")
    assert done.exit_code == 0
    assert "0 loops compiled" in done.stdout
    assert "kept in" in done.stdout
    quiet = run("warm", "--quiet")  # the answer, without the notes on the way
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert len(called) == 2


def test_without_a_compiler_there_is_nothing_to_warm():
    code, out, err = program("warm", LOOKALIKE_COMPILE="0")
    assert (code, out) == (1, "")
    assert "LOOKALIKE_COMPILE" in err


@compiled_only
@pytest.mark.long
def test_without_a_place_there_is_nothing_to_warm(tmp_path):
    file = tmp_path / "a file"
    file.write_text("")
    code, out, err = program("warm", NUMBA_CACHE_DIR=str(file))
    assert (code, out) == (1, "")
    assert "NUMBA_CACHE_DIR" in err
