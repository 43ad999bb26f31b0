"""Clusters come out in every form, scored against known classes; wrong requests are one line."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cli.run import run
from lookalike.clustering import (
    SimilarityClustering,
    clustering_f_measure,
    profile_clusters,
    purity,
)
from lookalike.measures import choose_measure
from lookalike.table import read_table
from verbs.defaults import defaults_of

N = 24


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["size,color,cluster,kind"]
    for i in range(N):
        big = i % 2
        size = rng.normal(20 if big else 5)
        color = "" if i == 4 else ("blue" if big else "red")
        lines.append(f"{size:.3f},{color},{i % 3},{'dog' if big or i == 0 else 'cat'}")
    path = tmp_path / "pets.csv"
    path.write_text("\n".join(lines))
    return path


def answer(*words):
    done = run("cluster", *words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def one_line(*words):
    done = run("cluster", *words)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    return line


COMPARED = ("--columns", "size,color")


def test_json_holds_what_the_library_finds(file):
    found = answer(file, "-n", 2, "--method", "medoids", "--label", "kind", *COMPARED)
    table = read_table(str(file)).select(["size", "color"])
    model = SimilarityClustering("auto", 2, method="medoids", random_state=0).fit(table)
    assert found["labels"] == model.labels_.tolist() == [i % 2 for i in range(N)]
    assert [group["exemplar"] for group in found["clusters"]] == model.exemplars_.tolist()
    assert [group["rows"] for group in found["clusters"]] == [12, 12]
    profile = profile_clusters(model, table)
    for group, one in zip(found["clusters"], profile, strict=True):
        assert group["typical"] == list(one.typical)
        assert group["borderline"] == list(one.borderline)
        assert [column["column"] for column in group["columns"]] == ["size", "color"]
        assert group["columns"] == [difference.to_dict() for difference in one.columns]
    kinds = ["dog" if i % 2 or i == 0 else "cat" for i in range(N)]
    assert found["scores"] == pytest.approx(
        {
            "purity": purity(kinds, model.labels_),
            "adjusted_rand": adjusted_rand_score(kinds, model.labels_),
            "f_measure": clustering_f_measure(kinds, model.labels_),
        }
    )
    assert [group["class"] for group in found["clusters"]] == ["cat", "dog"]
    assert found["clusters"][0]["class_share"] == pytest.approx(11 / 12)
    assert found["clusters"][0]["row"]["color"] == "red"
    assert (found["n_clusters"], found["noise"], found["silhouette"]) == (2, 0, None)


@pytest.mark.parametrize(
    "method", ["components", "spectral", "affinity", "complete", "ward", "medoids"]
)
def test_the_number_is_found(file, method):
    found = answer(file, "--method", method, *COMPARED)
    assert found["labels"] == [i % 2 for i in range(N)]
    assert found["silhouette"] > 0.8
    assert found["scores"] is None


def test_means_need_no_measure(file):
    found = answer(file, "-n", 2, "--method", "means", *COMPARED)
    assert found["labels"] == [i % 2 for i in range(N)]
    assert (found["measure"], found["method"]) == (None, "means")
    done = run("cluster", file, "--method", "means", *COMPARED)
    # The headline wraps where the path of the file is long.
    assert "by k-means of mixed columns" in " ".join(done.stdout.split())


def test_density_finds_outliers(file):
    with file.open("a") as out:
        out.write("\n999.0,green,0,cat")
    words = [file, "--measure", "vector", "--columns", "size", "--method"]
    found = answer(*words, "density:eps=2.0,min_neighbors=3")
    assert found["labels"] == [i % 2 for i in range(N)] + [-1]
    assert (found["noise"], found["eps"]) == (1, 2)
    assert answer(*words, "density")["eps"] > 0  # the knee
    done = run("cluster", *words, "density:eps=2.0,min_neighbors=3")
    assert "1 row belongs to no cluster" in done.stdout


def test_csv_has_every_row_and_column(file):
    done = run("cluster", file, "-n", 2, "--method", "ward", *COMPARED, "--output", "csv")
    assert done.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == N
    assert [row["cluster"] for row in rows] == [str(i % 2) for i in range(N)]
    assert [row["table.cluster"] for row in rows] == [str(i % 3) for i in range(N)]
    assert rows[4]["color"] == ""
    assert min(float(row["distance"]) for row in rows) == 0


def test_the_text_for_people(file):
    done = run("cluster", file, "-n", 2, "--label", "kind", *COMPARED, COLUMNS="200")
    assert done.exit_code == 0
    assert "2 clusters of 24 rows, by Gower and components" in done.stdout
    for word in (
        "typical",
        "mostly",
        "cat (92%)",
        "dog (100%)",
        "purity 0.958",
        "adjusted Rand index",
    ):
        assert word in done.stdout
    for word in ("color red 100%", "exact on all 24 rows", "borderline"):
        assert word in done.stdout


def test_lines_fit_on_a_narrow_screen(tmp_path):
    names = [f"a_rather_long_name_of_a_column_{i}" for i in range(3)]
    rows = [",".join(names)] + [f"{i % 2},{i % 2 * 5 + i / 99},{i / 7}" for i in range(N)]
    path = tmp_path / "long.csv"
    path.write_text("\n".join(rows))
    for width in (60, 80):
        shown = run("cluster", path, "-n", 2, COLUMNS=str(width)).stdout
        assert all(name in shown for name in names[:2])  # whole, on one line
        assert "cluster 1: 12 rows (50%)" in shown
        assert max(map(len, shown.splitlines()[3:])) <= width


@pytest.mark.long
def test_forests_by_name_are_the_same_every_time(file):
    words = [file, "-n", 2, "--measure", "ratio:n_estimators=20", *COMPARED]
    assert answer(*words)["labels"] == answer(*words)["labels"]
    far = [answer(*words, "--method", "medoids", "--seed", s)["clusters"] for s in (1, 1, 2)]
    assert far[0] == far[1]


def test_landmarks(file):
    found = answer(file, "-n", 2, "--method", "spectral:landmarks=8", *COMPARED)
    assert found["labels"] == [i % 2 for i in range(N)]
    assert found["exactness"].startswith("exact on 8 landmark rows, the other 16 ")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-n", "99"], "needs at least 99 rows, found 24 rows"),
        (["-n", "many"], "-n: needs a number of clusters or auto, found 'many'"),
        (["-n", "0"], "needs a number of clusters or auto, found '0'"),
        (["-n", "9" * 5_000], "needs a number of clusters or auto, found '999"),
        (["-n", "3", "--method", "hdbscan"], "finds the number itself"),
        (["--label", "knid"], "Did you mean 'kind'"),
        (["--columns", "syze"], "Did you mean 'size'"),
        (["--measure", "gowr"], "Did you mean 'gower'"),
        (["--method", "spectral:landmarks=99"], "found 24 rows"),
        (["--method", "means", "--measure", "gower"], "Leave --measure out"),
        (["--method", "means", "--weight", "size=2"], "Leave --weight out"),
        (["--method", "density:eps=-1"], "needs a number >= 0"),
        (["--method", "hdbscan:min_neighbors=0"], "needs"),
        (["--method", "kmeans"], "Did you mean 'means'?"),
    ],
)
def test_wrong_requests_are_one_line(file, words, complaint):
    assert complaint in one_line(file, *words)


def test_wrong_usage_is_2(file):
    done = run("cluster", file, "--seed", "x")
    assert (done.exit_code, done.stdout) == (2, "")


def test_auto_chooses_and_says_why(file):
    measure, reason = choose_measure(read_table(str(file)).compare_by(["size", "color"]))
    found = answer(file, "-n", 2, "--measure", "auto", *COMPARED)
    weighed = f"{reason}; columns are weighted to contribute equally"
    assert (found["measure"], found["reason"]) == (type(measure).__name__, weighed)
    plain = answer(file, "-n", 2, "--method", "medoids", *COMPARED)
    assert plain["reason"] == reason
    shown = run("cluster", file, "-n", 2, "--measure", "auto", *COMPARED).stdout
    assert reason in " ".join(shown.split())
    assert answer(file, "-n", 2, *COMPARED)["reason"] == weighed


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("cluster") == {
        "n_clusters": "auto",
        "method": "components",
        "measure": None,
        "weights": None,
        "columns": None,
        "filter": None,
        "label": None,
        "seed": 0,
    }
