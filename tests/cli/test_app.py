"""Exit codes, errors and warnings as lines, the help page, and what a pipe sees."""

import csv
import io
import json
import re
import subprocess
import sys
import textwrap
import warnings

import pytest

import lookalike
from cli.run import program, run, start
from lookalike.cli.app import VERBS
from lookalike.errors import LookalikeWarning
from lookalike.verbs.source import NamedRows

ROWS = "id,size,color\n1,1.5,red\n2,2.5,blue\n3,2.0,red\n4,9.0,\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def one_line(done):
    """The single line on standard error of a command that failed as it should."""
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "Traceback" not in line
    return line


def test_version():
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"lookalike {lookalike.__version__}\n")


def test_help_names_every_verb():
    done = run("--help")
    assert done.exit_code == 0
    assert all(re.search(rf"\b{verb}\b", done.stdout) for verb in VERBS)


@pytest.mark.parametrize(
    "words",
    [
        ["frobnicate"],
        ["inspect"],
        ["inspect", "a.csv", "--output", "xml"],
        ["search", "a.csv", "--row", "0", "-k", "0"],
        ["demo", "--fast"],
    ],
)
def test_wrong_usage_is_2(words):
    done = run(*words)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "Usage: lookalike" in done.stderr


def test_a_missing_file_is_one_line(tmp_path, file):
    line = one_line(run("inspect", tmp_path / "rosw.csv"))
    assert "file not found" in line
    assert "rows.csv" in line  # the file that may have been meant


def test_a_directory_is_one_line(tmp_path):
    assert "found a directory" in one_line(run("search", tmp_path, "--row", 0))


def test_errors_of_the_system_are_one_line(monkeypatch, file):
    def refuse(*args):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("lookalike.cli.reading.FileSource.rows", refuse)
    assert "Permission denied" in one_line(run("inspect", file))


def test_an_error_of_ours_is_not_hidden(monkeypatch, file):
    def fail(*args):
        raise ZeroDivisionError("a mistake in the program")

    monkeypatch.setattr("lookalike.cli.reading.FileSource.rows", fail)
    with pytest.raises(ZeroDivisionError):
        run("inspect", file)


def test_a_cell_cannot_send_commands_to_the_terminal(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,\x1b[31mb\n\x1b]0;title\x07,1\ny,2\n")
    done = run("inspect", path)
    assert done.exit_code == 0
    assert "\x1b" not in done.output
    assert "\x07" not in done.output
    line = one_line(run("search", path, "--like", '{"c\\u001b[31m\\n": 1}'))
    assert "\x1b" not in line


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback(tmp_path, place):
    words = ["inspect", tmp_path / "none.csv"]
    words = ["--debug", *words] if place == "before" else [*words, "--debug"]
    code, out, err = program(*words)
    assert (code, out) == (1, "")
    assert "Traceback (most recent call last)" in err
    assert "MissingFile" in err


def test_a_user_error_of_the_program_itself(tmp_path):
    code, out, err = program("inspect", tmp_path / "none.csv")
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert "file not found" in err


def test_errors_are_red_and_warnings_yellow(tmp_path, file):
    color = {"NO_COLOR": None, "FORCE_COLOR": "1", "TERM": "xterm"}
    assert "\x1b[1;31m" in run("inspect", tmp_path / "none.csv", **color).stderr
    done = run("search", file, "--row", 0, "-k", 1, "--measure", "vector", **color)
    assert "\x1b[33m" in done.stderr


def test_warnings_are_lines_and_said_once(monkeypatch, file):
    def read(*args):
        for _ in range(3):
            warnings.warn("the moon is full", LookalikeWarning, stacklevel=2)
        return NamedRows(lookalike.read_table(str(file)), [0, 1, 2, 3], "rows")

    monkeypatch.setattr("lookalike.cli.reading.FileSource.rows", read)
    done = run("inspect", file, "--output", "json")
    assert done.exit_code == 0
    assert done.stderr == "the moon is full\n"
    json.loads(done.stdout)


def test_other_warnings_stay_what_they_are(monkeypatch, file):
    def read(*args):
        warnings.warn("not ours", UserWarning, stacklevel=2)

    monkeypatch.setattr("lookalike.cli.reading.FileSource.rows", read)
    with pytest.raises(UserWarning, match="not ours"):  # the tests make every warning an error
        run("inspect", file)


def test_ctrl_c_is_130_without_a_word(monkeypatch, file):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("lookalike.cli.reading.FileSource.rows", interrupt)
    done = run("inspect", file)
    assert (done.exit_code, done.output) == (130, "")


@pytest.mark.parametrize("form", ["csv", "text"])
def test_a_reader_that_goes_away_is_no_drama(file, form):
    process = start("inspect", file, "--output", form)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(timeout=300)
    process.stderr.close()


def test_standard_output_is_pure(file):
    words = ["search", file, "--row", 0, "-k", 2, "--measure", "ranked", "--why"]
    code, out, err = program(*words, "--output", "json")
    assert code == 0
    assert [hit["id"] for hit in json.loads(out)["hits"]] == [2, 1]
    assert "leaves out 'color'" in err
    code, out, _ = program(*words, "--output", "csv")
    assert code == 0
    assert [row["id"] for row in csv.DictReader(io.StringIO(out))] == ["2", "1"]


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_a_poor_encoding_is_no_reason_to_stop(tmp_path, form):
    path = tmp_path / "rows.jsonl"
    names = ["Łódź", "naïve", "😀"]
    lines = [json.dumps({"name": f"{name} {i}", "x": i}) for i, name in enumerate(names)]
    path.write_text("\n".join(lines))
    words = ["search", path, "--row", 0, "-k", 2, "--columns", "x", "--output", form]
    code, out, err = program(*words, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    if form == "json":
        assert [hit["row"]["name"] for hit in json.loads(out)["hits"]] == ["naïve 1", "😀 2"]


@pytest.mark.long
def test_a_first_compilation_is_announced_once(tmp_path):
    compiled = {"LOOKALIKE_COMPILE": "1", "NUMBA_DISABLE_JIT": "0"}
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["size", *(str(i * i % 97) for i in range(400))]))
    # Long lists are worked on by a loop that has no numpy fallback.
    words = ["search", path, "--row", 0, "-k", 300, "--measure", "vector"]
    notes = []
    for _ in range(2):
        code, _, err = program(*words, NUMBA_CACHE_DIR=str(tmp_path / "cache"), **compiled)
        assert code == 0
        notes.append(err.count("compiling"))
    assert notes == [1, 0]


def test_uncompiled_runs_need_no_note(file):
    words = ["search", file, "--row", 0, "-k", 1, "--measure", "vector", "--columns", "size"]
    code, out, err = program(*words, "--output", "json", LOOKALIKE_COMPILE="0")
    assert (code, err) == (0, "")
    (hit,) = json.loads(out)["hits"]
    assert (hit["id"], hit["distance"]) == (2, 0.5)


def run_verb(body, **settings):
    """Run a verb of these lines in another process, which hears Ctrl-C as a program does."""
    code = f"""
import os, signal, threading
from lookalike.cli import app as program
signal.signal(signal.SIGINT, signal.default_int_handler)
def verb(**options):
{textwrap.indent(textwrap.dedent(body), "    ")}
program.app = verb
for name, value in {settings!r}.items():
    setattr(program, name, value)
program.main()
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


def test_ctrl_c_that_comes_out_as_another_error_is_still_ctrl_c():
    """A module partially loaded at Ctrl-C is missing for the next import."""
    body = """
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("cannot import name 'rankdata'")
    """
    done = run_verb(body)
    assert (done.returncode, done.stderr) == (130, "")
    failed = run_verb(
        body.replace("os.kill(os.getpid(), signal.SIGINT)", "raise KeyboardInterrupt")
    )
    assert failed.returncode == 1
    assert "rankdata" in failed.stderr


def test_ctrl_c_ends_work_that_does_not_hear_it():
    """A thread inside the compiler is joined by its caller; the user does not wait for it."""
    body = """
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            threading.Event().wait(120)
        print("went on")
    """
    done = run_verb(body, GRACE=0.1)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_inside_a_callback_of_the_compiler_prints_nothing():
    """What is raised there cannot be caught: Python prints it and goes on."""
    callback = "import ctypes; ctypes.CFUNCTYPE(None)(lambda: {})()"
    body = callback.format("os.kill(os.getpid(), signal.SIGINT)")
    done = run_verb(f"{body}; threading.Event().wait(120)", GRACE=0.1)
    assert (done.returncode, done.stderr) == (130, "")
    other = run_verb(callback.format("1 / 0"))
    assert "ZeroDivisionError" in other.stderr


@pytest.mark.parametrize(
    ("line", "place", "found"),
    [
        ("lookalike se", "1", ["search", "serve"]),
        ("lookalike search a.csv --we", "3", ["--weight"]),
    ],
)
def test_bash_completes_verbs_and_options(line, place, found):
    env = {"_LOOKALIKE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": place}
    code, out, err = program(**env)
    assert (code, out.split(), err) == (0, found, "")


def test_the_package_is_a_command_as_well():
    # Where the script is not on the path, as in many a notebook or service file.
    out = subprocess.run(
        [sys.executable, "-m", "lookalike", "--version"], capture_output=True, text=True, check=True
    )
    assert out.stdout.split()[0] == "lookalike"
