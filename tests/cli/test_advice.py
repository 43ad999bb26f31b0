"""Advice of the library is spelled as options; nothing Python-like is left in it."""

import re

import pytest

from cli.run import run
from lookalike.cli.advice import in_options


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ('Pass missing=["?"].', "Use --missing '?'."),
        ("pass missing=[-999] if", "use --missing -999 if"),
        ("Pass kinds={'a b': 'category'}.", "Use --kinds 'a b=category'."),
        (
            "Pass kinds={'size': [lowest, ..., highest]}.",
            """Use --kinds 'size=["lowest", ..., "highest"]'.""",
        ),
        ("may also be 'code': pass kinds={'z': 'code'} (--kinds z=code)", "--kinds z=code"),
        ("read_table(encoding='utf'): needs", "--encoding utf: needs"),
        ("read_table(kinds=...): needs columns", "--kinds: needs columns"),
        ("Lower n_clusters to 3 or add rows.", "Lower -n to 3 or add rows."),
        ("Lower landmarks to 5, or leave it out", "Lower --landmarks to 5"),
        ("raise the limit with lookalike.config(memory_limit=...)", "--memory"),
        (
            "compare(k=9): needs 10 rows, found n_samples=4.",
            "-k 9: needs 10 rows, found 4 rows.",
        ),
    ],
)
def test_advice_is_translated(python, shell):
    assert shell in in_options(python)


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        (
            "SimilarityClustering(n_clusters=400): needs at least 400 rows, found 344 rows.",
            "-n 400: needs at least 400 rows, found 344 rows.",
        ),
        (
            "SimilarityClustering(eps=-1.0): needs a number of at least 0, or one of 'knee', found "
            "-1.0. Change the parameter.",
            "--eps: needs a number of at least 0, found -1.0. Give another value.",
        ),
        (
            "hubness_report(k=400): needs at least 401 rows, found 344 rows.",
            "-k 400: needs at least 401 rows, found 344 rows.",
        ),
        (
            "config: needs memory_limit in bytes or like '500MB', found 'lots'.",
            "--memory: needs a size such as '500MB', found 'lots'.",
        ),
        ("Index.fit (id_column='it'): needs", "--id-column it: needs"),
        (
            "Cut amounts into classes, or leave y out.",
            "Cut amounts into classes, or leave --label out.",
        ),
        (
            "cross_validate: needs at least two classes, found 1",
            "--label: needs at least two classes, found 1",
        ),
    ],
)
def test_no_function_is_named_where_an_option_is_wrong(python, shell):
    assert in_options(python) == shell


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "bytes.csv"),
        ("inspect", "rows.csv", "--kinds", "word=order"),
        ("inspect", "rows.csv", "--kinds", "zz=order"),
        ("inspect", "rows.csv", "--kinds", "x=numbre"),
        ("cluster", "rows.csv", "-n", "9"),
        ("cluster", "rows.csv", "--method", "spectral:landmarks=90", "-n", "2"),
        ("compare", "rows.csv", "-k", "90"),
        ("hubs", "rows.csv", "--label", "gab"),
        ("hubs", "rows.csv", "-k", "90"),
        (
            "classify",
            "rows.csv",
            "--label",
            "x",
            "--method",
            'forest:distances={"word": "nothing"}',
        ),
        ("search", "rows.csv", "--row", "0", "--measure", "vector:metric=euclid"),
        ("search", "rows.csv", "--row", "0", "--weight", "zz=3"),
        ("search", "rows.csv", "--like", '{"zz": 1}'),
        ("inspect", "rows.csv", "--encoding", "utf-88"),
    ],
)
def test_errors_hold_no_python(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bytes.csv").write_bytes(b"a\n\xe9\n")
    (tmp_path / "rows.csv").write_text("x,word,gap\n1,a,u\n2,b,\n3,a,v\n4,b,u\n5,c,v\n")
    done = run(*words)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "read_table" not in line
    assert not re.search(r"\b(kinds|missing|encoding|n_clusters|n_splits)=", line), line
    assert not re.search(r"Known: .*Known:|one of (.+)\. Known: \1", line), line


def test_a_question_names_the_option_that_is_wrong():
    told = "Index.search(weights=...): needs columns of the table, found 'hwyy'."
    assert in_options(told).startswith("--weight: needs columns")
    assert in_options("Index.search(unlike=...): needs ids").startswith("--unlike: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "rows.csv", "-k", "0"], "'-k': needs at least 1, found '0'."),
        (["search", "rows.csv", "-k", "few"], "'-k': needs a whole number, found 'few'."),
        (["serve", "rows.csv", "--port", "99999"], "needs at most 65535, found '99999'."),
        (["hubs", "rows.csv", "--reduce", "mpp"], "'snn'. Did you mean 'mp'?"),
        (["inspect", "rows.csv", "--output", "jsn"], "'parquet'. Did you mean 'json'?"),
        (["index", "rows.csv"], "Known: build, add, query, info, check, delete, compact."),
    ],
)
def test_a_wrong_option_is_told_in_words(words, said):
    done = run(*words, COLUMNS="300")
    assert done.exit_code == 2
    told = " ".join(done.stderr.split())
    assert said in told
    assert "Input should" not in told
    assert "Value error" not in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "--like", '{"sise": 1}'], "--like: needs columns of the table, found 'sise'"),
        (["search", "--row", "0", "--filter", "size=>2"], "found =>. Did you mean 'size>=2'?"),
        (["report", "--label", "colr"], "--label: needs a column of the table, found 'colr'."),
    ],
)
def test_a_mistake_about_the_table_names_the_option(tmp_path, words, said):
    path = tmp_path / "rows.csv"
    path.write_text("size,color\n1.5,red\n2.5,blue\n2.0,red\n")
    done = run(words[0], path, *words[1:])
    assert done.exit_code == 1
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_is_called_empty(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n")
    assert "the table: it is empty." in run("inspect", path).stderr


def test_serve_makes_no_store_for_a_file_that_is_not_there(tmp_path):
    pytest.importorskip("fastapi", reason="the service is not installed")
    done = run("serve", tmp_path / "films.csv")
    assert done.exit_code == 1
    assert "file not found" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["search"], ["index"]])
def test_a_switch_shows_no_type(words):
    assert "bool" not in run(*words, "--help").stdout


def test_too_few_rows_to_judge_by_are_told_without_a_function(tmp_path):
    (tmp_path / "row.csv").write_text("a,b\n1,x\n")
    heard = run(
        "regress", tmp_path / "row.csv", "--label", "a", "--method", "forest:trees=5"
    ).stderr
    assert "no cross-validation: needs at least 5 rows, found 1 row." in heard
    assert "cross_validate" not in heard
    assert "1 rows" not in heard
