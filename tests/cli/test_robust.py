"""Difficult tables: very wide, odd names, no rows, one column, only text."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from cli.run import run, start

VERBS = {
    "inspect": (),
    "search": ("--row", 0, "-k", 3, "--why"),
    "cluster": ("-n", 2),
    "hubs": ("-k", 2),
    "outliers": ("-n", 3, "--method", "isolation:trees=10"),
    "compare": ("--measures", "gower,ranked", "-k", 2),
}
ODD = ['a "quoted" name', "it's", "emoji 🐧", "a, comma", "", "ünï", "semi;colon", "[bold]x[/]"]


def wide(path):
    values = np.random.default_rng(0).random((12, 1000)).round(3)
    lines = [",".join(f"c{j}" for j in range(1000))]
    path.write_text("\n".join(lines + [",".join(map(str, row)) for row in values]))


def odd(path):
    lines = [",".join('"' + name.replace('"', '""') + '"' for name in ODD)]
    lines += [
        ",".join(str((i * 7 + j * 3) % 11 + j / 10) for j in range(len(ODD))) for i in range(12)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def one_column(path):
    path.write_text("x\n" + "\n".join(str(i * i % 13) for i in range(12)))


def only_text(path):
    words = "the quick brown fox jumps over a lazy dog and then sleeps well".split()
    lines = ["said"]
    for i in range(12):
        lines.append(" ".join(words[(i * k) % len(words)] for k in range(1, 9)) + f" number {i}")
    path.write_text("\n".join(lines))


TABLES = {"wide": wide, "odd": odd, "one column": one_column, "only text": only_text}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "table", [pytest.param(one, marks=pytest.mark.long if one == "wide" else ()) for one in TABLES]
)
def test_odd_tables_are_answered(tmp_path, table, verb):
    path = tmp_path / "rows.csv"
    TABLES[table](path)
    words = (verb, path, *VERBS[verb])
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert len(done.stdout) < 200_000
    result = run(*words, "--output", "json", "-q")
    assert result.exit_code == 0, result.output
    json.loads(result.stdout)


@pytest.mark.parametrize("verb", ["classify", "regress"])
@pytest.mark.parametrize("table", ["wide", "odd", "one column", "only text"])
def test_odd_tables_are_learned_from_or_refused_in_one_line(tmp_path, table, verb):
    path = tmp_path / "rows.csv"
    TABLES[table](path)
    label = {"wide": "c0", "odd": "it's", "one column": "x", "only text": "said"}[table]
    done = run(verb, path, "--label", label, "--method", "forest:trees=3", "--folds", 2, "-q")
    assert done.exit_code in (0, 1), done.output
    if done.exit_code:
        assert len(done.stderr.splitlines()) == 1
    else:
        assert "out-of-bag" in done.stdout or "cross-validation" in done.stdout


@pytest.mark.parametrize("verb", [*VERBS, "classify", "regress"])
def test_no_rows_is_said_in_one_line(tmp_path, verb):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n")
    words = VERBS.get(verb, ("--label", "a"))
    done = run(verb, path, *words)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "found an empty table" in line
    assert "read_table" not in line


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_the_leaderboard_keeps_the_names_at_every_width(tmp_path, width):
    path = tmp_path / "rows.csv"
    one_column(path)
    words = ("compare", path, "--measures", "gower,nicdm:measure=gower", "-k", 2, "-q")
    out = run(*words, COLUMNS=str(width)).stdout
    assert "nicdm:measure=gower" in out.replace("\n", "")


# -- Ctrl-C ---------------------------------------------------------------------------------------

LIMIT = 1.5  # seconds from the signal to the end of the process
LONG = {
    "search": ("--row", 0, "--measure", "mutual-proximity:measure=gower"),
    "cluster": ("--method", "hdbscan"),
    "hubs": (),
    "compare": ("--sample", 20000, "--measures", "mutual-proximity:measure=gower,gower"),
    "classify": ("--label", "c0", "--method", "forest:trees=2000"),
}


@pytest.fixture(scope="module")
def rows_of(tmp_path_factory):
    """A table of so many rows; written once for all verbs."""
    folder = tmp_path_factory.mktemp("large")

    def write(n):
        path = folder / f"{n}.csv"
        if path.exists():
            return path
        random = np.random.default_rng(0)
        words, numbers = random.choice(list("abcdef"), (n, 2)), random.random((n, 4)).round(4)
        lines = ["c0,c1,x0,x1,x2,x3"]
        lines += [
            ",".join([*map(str, w), *map(str, x)]) for w, x in zip(words, numbers, strict=True)
        ]
        path.write_text("\n".join(lines))
        return path

    return write


def cpu_of(process):
    """Seconds of work that a running process has done."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_children():
    """Seconds of work of all processes that have ended."""
    used = os.times()
    return used.children_user + used.children_system


def interrupted(verb, path):
    """How a verb ended that got Ctrl-C after five seconds; None if it was through by then."""
    before = cpu_of_children()
    with start(verb, path, *LONG[verb], "--output", "json") as process:
        try:
            out, err = process.communicate(timeout=5.0)  # it reads the table and is at work
        except subprocess.TimeoutExpired:
            pass
        else:
            assert process.returncode == 0, err.decode()[-500:]
            return None
        sent, used = time.monotonic(), cpu_of(process)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        took = time.monotonic() - sent
    if out:  # the signal met a process that had answered and was on its way out
        json.loads(out)
        return None
    return process.returncode, err, took, cpu_of_children() - before - used


@pytest.mark.long
@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="reads the work of a process from /proc"
)
@pytest.mark.parametrize("verb", LONG)
def test_ctrl_c_from_outside_ends_a_verb(rows_of, verb):
    # Compiles what the large table needs: a compiler at work is not interrupted.
    extra = [5000 if word == 20000 else word for word in LONG[verb]]
    extra = [str(word).replace("trees=2000", "trees=5") for word in extra]
    with start(verb, rows_of(6000), *extra, "--output", "json") as warm:
        warm.communicate(timeout=300)
    # A fast machine is through with a table before it is interrupted: it gets a larger one.
    tries = (interrupted(verb, rows_of(n)) for n in (80_000, 320_000))
    found = next((one for one in tries if one is not None), None)
    assert found is not None, "too fast to be interrupted"
    code, err, took, worked = found
    assert code == 130, err.decode()[-500:]
    assert b"Traceback" not in err
    # On a busy machine the wall clock says little, but work that goes on would show.
    assert min(took, worked) < LIMIT, f"{took:.1f} s, {worked:.1f} s of work"


def test_small_tables_are_spoken_of_in_plain_words(tmp_path):
    (tmp_path / "row.csv").write_text("a,b\n1,x\n")
    (tmp_path / "note.csv").write_text("note\n" + "".join(f"the dog {i} walks\n" for i in range(9)))
    done = run("search", tmp_path / "row.csv", "--row", 0)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "there is no other row to find\n"
    assert "found 1 row." in run("hubs", tmp_path / "row.csv").stderr
    for verb in ("classify", "cluster"):
        alone = run(verb, tmp_path / "note.csv", "--label", "note").stderr
        assert alone.startswith("--label note: it is the only column")
    assert "may also be" not in run("inspect", tmp_path / "note.csv").stdout
    shown = run("outliers", tmp_path / "note.csv", "-n", 1).stdout
    assert "…" not in shown  # a cell is cut only where it does not fit


def test_letters_that_take_two_places_do_not_squeeze_a_table(tmp_path):
    rows = "".join(f"犬と猫と鳥 {i % 3},{'xyz'[i % 3] * 30},{i % 5}\n" for i in range(30))
    (tmp_path / "wide.csv").write_text(f"日本語の名前,note,n\n{rows}")
    shown = run("hubs", tmp_path / "wide.csv", COLUMNS="60").stdout
    assert "row  lists  missing" in shown


def test_of_very_many_columns_the_important_ones_are_shown(tmp_path):
    names = ",".join(f"c{i}" for i in range(40))
    cells = np.random.default_rng(0).integers(0, 9, (30, 40)).astype(str)
    rows = "\n".join(map(",".join, cells.tolist()))
    (tmp_path / "wide.csv").write_text(f"{names}\n{rows}")
    words = ("--label", "c0", "--method", "forest:trees=5", "--folds", 0)
    shown = run("regress", tmp_path / "wide.csv", *words).stdout
    assert "not shown: 19 less important columns" in shown


def test_notes_about_clusters_name_options(tmp_path):
    rows = "".join(f"{'ab'[i % 2]},{i % 2},{'xy'[(i // 2) % 2]}\n" for i in range(40))
    rows += "".join(f"c,{9 + i % 2},{'xy'[i % 2]}\n" for i in range(20))
    (tmp_path / "rows.csv").write_text(f"kind,size,sex\n{rows}")
    shown = run("cluster", tmp_path / "rows.csv", "-n", 5).stdout
    assert "kinds={" not in shown
    assert "MixedKMeans" not in shown


def test_rows_without_a_label_are_left_out_by_every_verb(tmp_path):
    rows = "".join(f"thing {i},{i % 7},{'' if i == 3 else 'xy'[i % 2]}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text(f"name,size,kind\n{rows}")
    verbs = {
        "classify": ["--method", "forest:trees=5"],
        "cluster": ["-n", 2],
        "hubs": [],
        "compare": ["--measures", "gower"],
        "report": ["-o", tmp_path / "a.html"],
    }
    for verb, words in verbs.items():
        done = run(verb, tmp_path / "rows.csv", "--label", "kind", *words)
        assert done.exit_code == 0, done.stderr
        assert "1 row without 'kind' left out" in done.stderr
    done = run("cluster", tmp_path / "rows.csv", "-n", 2)
    assert re.search(r"thing \d+ \(\d+\)", done.stdout)  # typical rows are named
