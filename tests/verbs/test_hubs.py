"""``lookalike hubs``: statistics before and after a reducer, for people and for programs."""

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import lookalike as la
from lookalike.cli.app import app
from lookalike.hubness import MutualProximity, hubness_report
from lookalike.measures import Vector, choose_measure
from verbs.defaults import defaults_of


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 12)) * np.where(np.arange(60)[:, None] == 0, 0.01, 1)
    path = tmp_path_factory.mktemp("hubs") / "rows.csv"
    heads = [f"x{j}" for j in range(12)]
    lines = [",".join([*heads, "label"])]
    for i, row in enumerate(rows):
        lines.append(",".join([*(f"{value!r}" for value in row.tolist()), "ab"[i % 2]]))
    path.write_text("\n".join(lines))
    return path, rows


def run(*words):
    return CliRunner().invoke(app, ["hubs", *map(str, words)])


def test_statistics_are_those_of_the_library(file):
    path, rows = file
    result = json.loads(
        run(path, "--measure", "vector", "--reduce", "mp", "--label", "label", "-o", "json").stdout
    )
    labels = np.array(["a", "b"] * 30)
    expected = hubness_report(MutualProximity(Vector()).fit(rows), labels)
    assert result["statistics"] == json.loads(json.dumps(expected.statistics))
    assert result["top"][0]["id"] == 0  # the row in the middle is everybody's neighbor
    before, after = result["statistics"]["before"], result["statistics"]["after"]
    assert after["skewness"] < before["skewness"]


def test_tables_for_people_and_programs(file, tmp_path):
    path, _ = file
    page = tmp_path / "hubs.html"
    assert run(path, "--reduce", "nicdm", "-o", page, "-k", 3).exit_code == 0
    result = run(path, "--reduce", "nicdm", "-k", 3)
    assert result.exit_code == 0
    assert "before" in result.stdout
    assert "Rows in the most lists" in result.stdout
    assert "<svg" in page.read_text()
    table = list(csv.reader(io.StringIO(run(path, "-o", "csv").stdout)))
    assert table[0] == ["statistic", "meaning", "value"]
    assert {name: value for name, _, value in table}["orphans"].isdecimal()


def test_label_sets(tmp_path):
    path = tmp_path / "sets.jsonl"
    rows = [{"x": float(i), "tags": ["a"] if i < 5 else ["b", "c"]} for i in range(10)]
    path.write_text("\n".join(map(json.dumps, rows)))
    result = json.loads(run(path, "--label", "tags", "-k", 2, "-o", "json").stdout)
    assert 0.5 < result["statistics"]["value"]["retrieval"] <= 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--label", "lable"], "Did you mean 'label'?"),
        (["-k", "60"], "found 60 rows"),
        (["--measure", "vectr"], "Did you mean 'vector'?"),
        (["-o", "/nowhere/x.html"], "/nowhere"),
    ],
)
def test_errors_are_one_line(file, words, complaint):
    result = run(file[0], *words)
    assert result.exit_code == 1
    assert complaint in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_usage(file):
    assert run(file[0], "--reduce", "magic").exit_code == 2


def test_auto_chooses_and_says_why(file):
    path, rows = file
    measure, reason = choose_measure({f"x{j}": rows[:, j] for j in range(12)})
    words = [path, "--measure", "auto", "--columns", ",".join(f"x{j}" for j in range(12))]
    assert json.loads(run(*words, "-o", "json").stdout)["reason"] == reason
    assert type(measure).__name__ in run(*words).stdout


def test_hubs_that_are_empty_rows_have_a_cure():
    rng = np.random.default_rng(0)
    rows = {f"x{j}": rng.random(80) for j in range(6)}
    for j in range(1, 6):
        rows[f"x{j}"][:12] = np.nan
    report = la.hubs(rows, measure="gower")
    cure = "rows with many missing cells"
    assert cure in report.missing_cells
    assert "compare with measure='gower:missing=midpoint'" in report.missing_cells
    # On every surface, in its own spelling.
    assert report.missing_cells in report.text(width=300).splitlines()
    assert cure in report.html_body()
    assert la.hubs(rows).missing_cells is None


def test_the_cure_is_an_option_of_the_shell(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.random((80, 6)).round(3).astype(object)
    rows[:12, 1:] = ""
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d,e,f\n" + "\n".join(",".join(map(str, row)) for row in rows))
    shown = " ".join(run(path, "--measure", "gower").stdout.split())
    assert "rows with many missing cells" in shown
    assert "compare with --measure gower:missing=midpoint, which" in shown
    assert "many missing" not in run(path, "--measure", "gower:missing=midpoint").stdout


def test_the_reduction_is_offered_where_it_helps(file):
    _, rows = file
    report = la.hubs(rows, measure="vector")
    assert report.verdict.startswith("Hubs are a problem, and the reduction helps: ")
    offer = "the reduction helps: see it with reduce='mp-gauss'"
    reduced = "mutual-proximity:model=gauss_independent,measure=vector"
    assert report.notes[-1] == f"{offer}, compare by it with measure={reduced!r}"
    # What is offered has the effect that the verdict promises.
    for more in ({"reduce": "mp-gauss", "measure": "vector"}, {"measure": reduced}):
        after = la.hubs(rows, **more)
        assert f"-> {after.statistics['after']['largest']:.0f} lists" in report.verdict
        assert not [note for note in after.notes if "reduction" in note]
    # A measure with options, or an object, has no short name with a reducer around it.
    for measure in ("vector:metric=euclidean", Vector()):
        assert la.hubs(rows, measure=measure).notes[-1] == offer
    line = {"x": np.arange(40.0)}
    assert la.hubs(line).verdict.startswith("No hub problem here: ")
    assert not [note for note in la.hubs(line).notes if "reduction" in note]


def test_the_offer_is_an_option_of_the_shell(file):
    shown = " ".join(
        run(
            file[0], "--measure", "vector", "--columns", "x0,x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11"
        ).stdout.split()
    )
    assert "Hubs are a problem, and the reduction helps: " in shown
    assert "see it with --reduce mp-gauss, compare by it with --measure mutual-proximity:" in shown


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("hubs") == {
        "k": 5,
        "reduce": "none",
        "measure": None,
        "weights": None,
        "columns": None,
        "filter": None,
        "label": None,
        "seed": 0,
    }
