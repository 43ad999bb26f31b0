"""The verb ``join``: files, folders and indexes, and wrong input on every surface."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from cli.run import run
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.service.client import ServiceError


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(0)
    for name, n in (("a", 12), ("b", 30)):
        columns = {
            "size": random.normal(size=n).round(3),
            "color": random.choice(["red", "blue"], n),
            f"only_{name}": random.choice(["p", "q", "r"], n),
        }
        pd.DataFrame(columns).to_csv(tmp_path / f"{name}.csv", index=False)
        (tmp_path / name).mkdir()
        table = pa.table(columns)
        for part in range(2):
            half = table.slice(part * n // 2, n // 2)
            pq.write_table(half, tmp_path / name / f"{part}.parquet")
    return tmp_path


def test_parquet_in_parts_and_a_folder_of_shards_answer_alike(files):
    """Larger than memory: the rows of A are read in parts, those of B stay in their folder."""
    plain = la.join(files / "a.csv", files / "b.csv", 3, on=["size", "color"], why=True)
    built = run("index", "build", files / "b", "-o", files / "index", "--shards", "-q")
    assert built.exit_code == 0, built.output
    for other in (files / "b", files / "index", la.Index.open(files / "index")):
        found = la.join(files / "a", other, 3, on=["size", "color"], why=True)
        assert found.matches.tolist() == plain.matches.tolist()
        assert found.distances.tolist() == pytest.approx(plain.distances.tolist())
        assert found.to_frame()["for"].tolist() == plain.to_frame()["for"].tolist()
        assert found.cells()["only_b"] == plain.cells()["only_b"]
        assert found.cells()["only_a"] == plain.cells()["only_a"]
    done = run("join", files / "a", files / "index", "-o", files / "pairs.parquet", "--on", "size")
    assert done.exit_code == 0, done.output
    assert pq.read_table(files / "pairs.parquet").num_rows == 12


def test_options_of_reading_are_those_of_both_files(files):
    (files / "a.csv").write_text("size,zip\n1.5,?\n2.5,1\n7.5,2\n")
    (files / "b.csv").write_text("size,zip\n1.5,2\n2.5,2\n?,2\n7.5,1\n")
    words = ("--kinds", "zip=category", "--missing", "?", "--by", "zip", "--output", "json", "-q")
    done = run("join", files / "a.csv", files / "b.csv", *words)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert [(pair["row"], pair["match"]) for pair in answer["pairs"]] == [(1, 3), (2, 1)]
    assert answer["unmatched"] == [0]


def test_both_limits_together(files):
    limits = ("--max-distance", "0.3", "--max-distance", "size=0.5")
    done = run("join", files / "a.csv", files / "b.csv", "-k", 5, *limits, "--output", "csv", "-q")
    assert done.exit_code == 0, done.output
    found = la.join(files / "a.csv", files / "b.csv", 5, max_distance={"": 0.3, "size": 0.5})
    assert len(done.stdout.splitlines()) == 1 + len(found)
    assert 0 < len(found) < len(la.join(files / "a.csv", files / "b.csv", 5, max_distance=0.3))
    frame = found.to_frame()
    assert (frame["size"] - frame["other.size"]).abs().max() <= 0.5
    assert frame["distance"].max() <= 0.3


WRONG = {
    "no common column": ([{"a": 1.5}, {"a": 2.5}], {}, "a column with values in both tables"),
    "other kinds": ([{"size": "old"}, {"size": "new"}], {}, "the same kind in both tables"),
    "all missing": ([{"size": None, "x": 1.5}, {"size": None, "x": 2}], {}, "values in both"),
    "k beyond B": ([{"size": 1.5}, {"size": 2.5}], {"k": 3}, "needs at least 3 rows"),
    "no column of that name": ([{"size": 1.5}, {"size": 2}], {"on": "sise"}, "Did you mean 'size'"),
    "a caliper of words": (
        [{"size": 1.5, "color": "a"}],
        {"max_distance": {"color": 1}},
        "numbers",
    ),
    "a limit below 0": ([{"size": 1.5}, {"size": 2.5}], {"max_distance": -1.0}, "max.distance"),
    "an empty table": ([], {}, "row"),
}


ROWS = [{"size": float(i), "color": "ab"[i % 2]} for i in range(4)]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    pytest.importorskip("fastapi", reason="the service is not installed")
    from lookalike.service.limits import RequestLimits
    from service.running import running

    store = f"{tmp_path_factory.mktemp('store')}/rows.sqlite"
    # Answers by the request itself, however long compiling takes, instead of a job.
    with running(store, limits=RequestLimits(seconds=300, wait=300)) as (_, client):
        client.create("rows", rows=ROWS)
        client.create("more", rows=[{"size": 2}, {"size": 1}, {"size": -5}])
        yield client


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_everywhere(name, tmp_path, client):
    (other, options, match), rows = WRONG[name], ROWS
    with pytest.raises(InvalidInput, match=match):
        la.join(rows, other, **options)
    for file, some in (("a.json", rows), ("b.json", other)):
        (tmp_path / file).write_text(json.dumps(some))
    words = []
    for key, value in options.items():
        each = [f"{n}={v}" for n, v in value.items()] if isinstance(value, dict) else [value]
        words += [
            x for one in each for x in ({"k": "-k"}.get(key, f"--{key.replace('_', '-')}"), one)
        ]
    done = run("join", tmp_path / "a.json", tmp_path / "b.json", *words)
    assert done.exit_code == 1
    assert len(done.output.strip().splitlines()) == 1
    with pytest.raises(
        ServiceError, match=match.replace("max.distance", "max_distance")
    ) as refused:
        client.post("/api/collections/rows/ask/join", {"other": other, **options})
    assert refused.value.status in (413, 422)


def test_more_wrong_input(files):
    frame = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "a"])
    with pytest.raises(InvalidInput, match="labels of the rows that differ, found 'a' twice"):
        la.join(frame, {"size": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match="'a' twice.*reset_index"):
        la.join({"size": [1.0, 2.0]}, frame)
    index = la.Index("gower").fit({"size": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match="a table to fit it to"):
        la.join({"size": [1.0]}, index, measure="vector")
    with pytest.raises(TooFewRows, match="Use k=2"):
        la.join({"size": [1.0, 3.0]}, index, 3)
    done = run("join", files / "a.csv", files / "c.csv")
    assert done.exit_code == 1
    assert "c.csv" in done.output
    done = run("join", files / "a.csv")
    assert done.exit_code == 2


KNOWN = pd.DataFrame({"name": ["ann lee", "bo diaz", "cy young"] * 4, "age": np.arange(12.0)})
UNUSABLE = {
    "rows and columns, found an empty": KNOWN[:0],
    "a column to compare": pd.DataFrame({"name": [None] * 4, "age": [None] * 4}),
    "labels of the rows that differ": KNOWN.set_index(pd.Index([1] * 12)),
    "a column": pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": list("abc")}),
}
PAIRED = {
    "join": ("table", "other"),
    "link": ("table", "other"),
    "match": ("table", "control"),
    "audit": ("table", "synthetic"),
}


@pytest.mark.parametrize("what", UNUSABLE)
@pytest.mark.parametrize("verb", PAIRED)
def test_an_error_says_which_of_two_tables_it_is_about(verb, what):
    ask, wrong = getattr(la, verb), UNUSABLE[what]
    names = (PAIRED[verb][1],) * 2 if what == "a column" else PAIRED[verb]
    for pair, name in zip(((wrong, KNOWN), (KNOWN, wrong)), names, strict=True):
        with pytest.raises(InvalidInput, match=f"^{name}: needs {what}"):
            ask(*pair)


def test_the_head_is_of_the_library_that_came_in():
    found = la.join(KNOWN, KNOWN)
    assert found.head(2).equals(found.to_frame()[:2])
    assert la.join(pa.Table.from_pandas(KNOWN), KNOWN).head(3).num_rows == 3
    assert len(la.dedupe(KNOWN).head()) == 5


def test_a_request_reads_no_file_of_the_server(tmp_path, client):
    """A text is the name of a collection, never a path: that would be a file of the server."""
    (tmp_path / "secret.csv").write_text("size\n1\n2\n")
    path = "/api/collections/rows/ask/join"
    with pytest.raises(ServiceError) as refused:
        client.post(path, {"other": str(tmp_path / "secret.csv")})
    assert refused.value.status == 404
    answer = client.post(path, {"other": "more"})
    assert [pair["match"] for pair in answer["pairs"]] == [2, 1, 0, 0]
