"""``lookalike classify``: the scores are the library's, in every form; mistakes are one line."""

import csv
import io
import json

import numpy as np
import pytest

import lookalike as la
from cli.run import run
from lookalike.errors import InvalidInput
from lookalike.prediction import RandomSimilarityForestClassifier
from lookalike.table import read_table
from verbs.defaults import defaults_of

N = 40


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["size,name,kind"]
    for i in range(N):
        big = i % 2
        name = rng.choice(["rex", "rexi"] if big else ["minka", "mina"])
        size = "" if i == 4 else f"{rng.normal(20 if big else 10, 6):.2f}"
        lines.append(f"{size},{name},{'dog' if big else 'cat'}")
    path = tmp_path / "pets.csv"
    path.write_text("\n".join(lines))
    return path


WORDS = ("--label", "kind", "--kinds", "name=text", "--method", "forest:trees=20")


BY_EDITS = 'forest:trees=20,distances={"name": "levenshtein"}'


def answer(*words):
    done = run("classify", *words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def one_line(*words):
    done = run("classify", *words)
    assert (done.exit_code, done.stdout) == (1, "")
    return done.stderr.splitlines()[-1]


def test_json_holds_what_the_library_finds(file):
    found = answer(file, *WORDS[:-1], BY_EDITS, "--seed", "3")
    table = read_table(str(file), kinds={"name": "text"})
    model = RandomSimilarityForestClassifier(
        20, {"name": "levenshtein"}, oob_score=True, random_state=3
    ).fit(table, "kind")
    assert found["classes"] == ["cat", "dog"]
    assert found["rows"] == N
    assert found["out_of_bag"]["accuracy"] == pytest.approx(model.oob_score_)
    shares = {one["column"]: one["share"] for one in found["importances"]}
    assert shares == pytest.approx(
        dict(zip(["size", "name"], model.feature_importances_, strict=True))
    )
    judged = found["cross_validation"]
    assert judged["folds"] == 5
    assert judged["accuracy"] > 0.8
    assert judged["auc"] > 0.9
    assert "predictions" not in found


def test_new_rows_are_predicted(file, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("name,size\nrexx,25\nminka,\n")
    found = answer(file, *WORDS, "--folds", "0", "--predict", new)
    assert found["cross_validation"] is None
    assert [one["predicted"] for one in found["predictions"]] == ["dog", "cat"]
    assert all(0.5 <= one["share"] <= 1 for one in found["predictions"])
    done = run("classify", file, *WORDS, "--folds", "0", "--predict", new, "--output", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["predicted"] for row in rows] == ["dog", "cat"]


def test_tables_for_people(file, tmp_path):
    new = tmp_path / "many.csv"
    new.write_text("name,size\n" + "rex,20\n" * 30)
    done = run("classify", file, *WORDS, "--predict", new)
    assert done.exit_code == 0, done.output
    assert "5-fold cross-validation:" in done.stdout
    assert "out-of-bag accuracy:" in done.stdout
    assert "importance" in done.stdout
    assert "10 more rows" in done.stdout
    plain = run("classify", file, *WORDS, "--output", "csv")
    assert plain.stdout.splitlines()[0] == "column,share"


def test_the_baseline_is_said_once_whatever_was_judged(file):
    """Beside the cross-validation, else beside the out-of-bag score, else on a line of its own."""
    always = "always saying 'cat' is right for 50.0%"
    for method, folds, before in (
        ("forest:trees=20", 2, "area under the curve"),
        ("forest:trees=20", 0, "out-of-bag accuracy: "),
        ("neighbors:k=3", 0, ""),
    ):
        said = la.classify(file, "kind", method=method, folds=folds).text(200)
        assert said.count(always) == 1, said
        (line,) = (line for line in said.splitlines() if always in line)
        assert line.startswith(before) if not folds else before in line
        assert (line == always) == (not before)


def test_several_classes_and_a_class_of_one(file, tmp_path):
    text = file.read_text()
    three = tmp_path / "three.csv"
    three.write_text(text + "".join(f"\n{40 + i},goliath,horse" for i in range(6)))
    assert answer(three, *WORDS, "--folds", "3")["cross_validation"]["auc"] > 0.9
    single = tmp_path / "single.csv"
    single.write_text(text + "\n90,moby,whale")
    done = run("classify", single, *WORDS)
    assert done.exit_code == 0
    assert done.stderr == "1 row left out, the only one of its class: 'whale'\n"
    assert "5-fold cross-validation" in done.stdout
    found = answer(single, *WORDS)
    assert "whale" not in found["classes"]
    assert found["rows_left_out"] == 1
    assert found == answer(file, *WORDS) | {"rows_left_out": 1}


def test_mistakes_are_one_line(file, tmp_path):
    assert "Did you mean 'kind'?" in one_line(file, "--label", "kinds")
    assert "levenshtein" in one_line(file, *WORDS[:-1], BY_EDITS.replace("sh", "s"))
    lone = tmp_path / "lone.csv"
    lone.write_text("x,kind\n1,a\n2,a\n3,a\n")
    assert "two classes" in one_line(lone, "--label", "kind", "--kinds", "kind=category")
    new = tmp_path / "new.csv"
    new.write_text("size\n1\n")
    assert "'name'" in one_line(file, *WORDS, "--predict", new)


def test_rows_without_the_columns_are_refused_in_the_spelling_of_the_surface(tmp_path):
    (tmp_path / "known.csv").write_text("size,who\n" + "1,a\n9,b\n" * 5)
    (tmp_path / "new.csv").write_text("weight\n1\n")
    paths = str(tmp_path / "known.csv"), str(tmp_path / "new.csv")
    done = run("classify", paths[0], "--label", "who", "--predict", paths[1], "--folds", "0")
    assert done.exit_code == 1
    assert "--predict: needs the 1 column of the fitted table" in " ".join(done.stderr.split())
    with pytest.raises(InvalidInput, match=r"^classify\(predict=\.\.\.\): needs the 1 column"):
        la.classify(paths[0], "who", predict=paths[1], folds=0)


def test_sets_are_no_classes():
    rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "tags": [{"a", "b"}, {"b"}, {"a"}, {"c"}] * 5}
    with pytest.raises(InvalidInput, match="one class per row, found sets"):
        la.classify(rows, "tags")


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("classify") == {
        "predict": None,
        "method": "forest",
        "measure": None,
        "weights": None,
        "folds": 5,
        "columns": None,
        "filter": None,
        "seed": 0,
    }
