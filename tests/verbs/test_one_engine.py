"""``lookalike search`` and ``la.Index`` are one engine: the same list, with the same reason."""

import json
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from cli.run import run
from lookalike.datasets import load_films, load_penguins

SHARED = Path(__file__).parents[3] / "shared" / "data"


def write(table, path):
    """Write the rows of a table as JSON lines that read_table reads alike."""
    from lookalike._runtime.text import plain

    lines = (json.dumps(plain(table.record(i))) for i in range(len(table)))
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(params=["penguins", "films", "gaps", "numbers", "credit_approval", "seeds"])
def file(request, tmp_path):
    path = tmp_path / f"{request.param}.jsonl"
    if request.param == "penguins":
        return write(load_penguins(), path)
    if request.param == "films":
        return write(load_films()[:: len(load_films()) // 300], path)
    rng = np.random.default_rng(0)
    if request.param == "gaps":
        rows = [
            {
                "size": None if rng.random() < 0.3 else round(rng.normal(), 3),
                "color": None if rng.random() < 0.3 else str(rng.choice(["red", "blue"])),
            }
            for _ in range(40)
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        return path
    if request.param == "numbers":
        rows = [
            {f"x{j}": float(value) for j, value in enumerate(rng.normal(size=4))}
            for _ in range(120)
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        return path
    shared = SHARED / f"{request.param}.parquet"
    if not shared.exists():
        pytest.skip("the shared data sets are not here")
    return shared


def ask(*words):
    done = run("search", *words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def numbers(hits):
    return [(hit.id, hit.distance, hit.similarity) for hit in hits]


def printed(answer):
    return [(hit["id"], hit["distance"], hit["similarity"]) for hit in answer["hits"]]


def test_both_give_the_same_list(file):
    index = la.Index().fit(str(file))
    for row in (0, 3, len(index) - 1):
        answer = ask(file, "--row", row, "-k", 7)
        assert printed(answer) == numbers(index.search(row, 7))
        assert answer["reason"] == index.reason_
        assert answer["measure"] == type(index.measure_).__name__
    record = {name: cell for name, cell in ask(file, "--row", 1)["query"]["row"].items() if cell}
    if index.measure_.traits.missing:
        answer = ask(file, "--like", json.dumps(record), "-k", 4)
        assert printed(answer) == numbers(index.search(record, 4))
    shown = run("search", file, "--row", 0, "-k", 2).stdout
    assert " ".join(index.reason_.split())[:40] in " ".join(shown.split())


def test_weights_are_those_of_the_index(file):
    index = la.Index().fit(str(file))
    names = list(index.schema_.kinds)
    weights = {names[0]: 3.0, names[-1]: 0.5}
    words = [word for name, value in weights.items() for word in ("--weight", f"{name}={value}")]
    answer = ask(file, "--row", 2, "-k", 6, *words, "--why")
    hits = index.search(2, 6, weights=weights)
    assert printed(answer) == numbers(hits)
    assert (answer["measure"], answer["reason"]) == ("Gower", index.reason_)
    for hit, expected in zip(answer["hits"], hits, strict=True):
        ours = [reason["share"] for side in ("for", "against") for reason in hit["reasons"][side]]
        assert ours == [reason["share"] for side in expected.reasons() for reason in side]
    # Only some columns: set aside before fitting, or without weight in the question.
    answer = ask(file, "--row", 2, "-k", 6, "--columns", names[0])
    assert printed(answer) == numbers(index.search(2, 6, columns=names[0]))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--weight", "size"], "--weight: needs COLUMN=NUMBER, found 'size'"),
        (["--weight", "size=much"], "--weight: needs COLUMN=NUMBER, found 'size=much'"),
        (["--weight", "size=-1"], "needs weights of at least 0, found -1.0"),
        (["--weight", "syze=1"], "Did you mean 'size'?"),
        (["--weight", "size=0", "--weight", "color=0"], "a weight above 0"),
        (["--weight", "size=2", "--columns", "color"], "found 'size', which is set aside"),
        (["--weight", "size=2", "--measure", "ranked", "--columns", "size"], "no column weights"),
        (["--weight", "size=2", "--measure", "nicdm:measure=gower,n_neighbors=1"], "statistics"),
    ],
)
def test_wrong_weights_are_one_line(tmp_path, words, complaint):
    path = tmp_path / "rows.csv"
    path.write_text("size,color\n1,red\n2,blue\n4,red\n")
    done = run("search", path, "--row", 0, *words)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert complaint in line
