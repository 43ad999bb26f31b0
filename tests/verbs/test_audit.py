"""The verb ``audit``: what it reads, leaves out and refuses, on every surface."""

import json

import numpy as np
import pandas as pd
import pytest

import lookalike as la
from cli.run import run
from lookalike.errors import InvalidInput


def people(n, seed):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, n),
            "job": random.choice(list("abcd"), n),
            "tags": [sorted(set(random.choice(list("pqr"), 2))) for _ in range(n)],
        }
    )


def test_other_kinds_of_column_are_left_out_and_named():
    found = la.audit(people(60, 0), people(20, 1), people(30, 2))
    assert found.left_out == ["tags"]
    assert found.real.names == ("age", "job")
    assert "not compared: tags" in found.text()
    only = la.audit(people(60, 0), people(20, 1), columns="age")
    assert only.real.names == ("age",)
    assert only.left_out == []


def test_files_and_indexes_answer_as_frames_do(tmp_path):
    frames = [people(60, 0), people(20, 1), people(30, 2)]
    expected = la.audit(*frames, columns=["age", "job"]).to_dict()
    paths = []
    for number, frame in enumerate(frames):
        paths.append(tmp_path / f"{number}.parquet")
        frame.to_parquet(paths[-1])
    assert la.audit(*paths, columns=["age", "job"]).to_dict() == expected
    index = la.Index("gower").fit(frames[0])
    assert la.audit(index, *frames[1:], columns=["age", "job"]).to_dict() == expected
    done = run("audit", *paths, "--columns", "age,job", "--output", "json", "--quiet")
    assert json.loads(done.stdout) == expected


def test_the_seed_draws_the_random_rows():
    frames = people(60, 0), people(20, 1)
    scores = [la.audit(*frames, seed=seed).scores["baseline_protection"] for seed in (0, 0, 1)]
    assert scores[0] == scores[1] != scores[2]


def test_wrong_input_is_refused_with_the_way_out(tmp_path):
    real, made = people(30, 0), people(10, 1)
    for given, match in (
        ((real, made[["age"]].rename(columns={"age": "years"})), "a column with values in both"),
        ((real, made.assign(age=list("abcdefghij"))), "the same kind in both tables"),
        ((real, made, made[["age"]]), "holdout: needs all columns compared, found no 'job'"),
        ((real[["tags"]], made[["tags"]]), "numbers, dates or categories"),
        ((real, made[:0]), "at least one row"),
        ((real, made.set_index(pd.Index(["a"] * 10))), "labels of the rows that differ"),
    ):
        with pytest.raises(InvalidInput, match=match):
            la.audit(*given)
    real.to_parquet(tmp_path / "real.parquet")
    made[["age"]].rename(columns={"age": "years"}).to_parquet(tmp_path / "made.parquet")
    done = run("audit", tmp_path / "real.parquet", tmp_path / "made.parquet")
    assert done.exit_code == 1
    assert len(done.output.strip().splitlines()) == 1
