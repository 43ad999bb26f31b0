"""Errors and warnings name options of the command that runs, and hold no Python."""

import inspect
import re

import pytest
import typer

from cli.run import run
from lookalike.cli.app import app
from lookalike.cli.spelling import OTHERS, READING, spell_option
from lookalike.errors import LookalikeWarning, Param
from lookalike.hubness import NICDM
from lookalike.verbs import VERBS, get_verb

OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*(?![\w=])")
VALUES = re.compile(r"(?<![\w-])--?[a-z][a-z-]* (?:'[^']*'|[^\s,.;:]+)|'[^']*'")


def options_of(command):
    found = typer.main.get_command(app).commands[command]
    verbs = getattr(found, "commands", {command: found}).values()
    return {option for verb in verbs for param in verb.params for option in param.opts}


@pytest.mark.parametrize(
    ("param", "shell"),
    [
        (Param("missing", ["?"]), "--missing '?'"),
        (Param("missing", [-999.0]), "--missing -999"),
        (Param("kinds", {"a b": "category"}), "--kinds 'a b=category'"),
        (Param("kinds", {"s": ["lo", "hi"]}), """--kinds 's=["lo", "hi"]'"""),
        (Param("kinds", of="read_table"), "--kinds"),
        (Param("encoding", "utf", of="read_table"), "--encoding utf"),
        (Param("n_clusters", 400, of="SimilarityClustering"), "-n 400"),
        (Param("min_neighbors", 3), "min_neighbors 3"),
        (Param("memory_limit", of="config"), "--memory"),
        (Param("n_samples", 4), "4 rows"),
        (Param("id_column", "it", of="Index.fit"), "--id-column it"),
        (Param("weights", of="Index.search"), "--weight"),
        # Options of a measure are part of --measure.
        (Param("n_neighbors", 5, of=NICDM.__name__), "n_neighbors 5"),
        (Param("method", "oob", of="ForestProximity"), "method oob"),
        (Param("", of="read_table"), "the table"),
        (Param("", of="cross_validate"), "classify"),
    ],
)
def test_a_parameter_is_spelled_as_an_option(param, shell):
    assert spell_option(param, "classify") == shell


def test_every_option_that_is_spelled_exists():
    verbs = (inspect.signature(get_verb(verb)).parameters for verb in VERBS)
    of_verbs = {name for names in verbs for name in names} - {"table"}
    every = set().union(*(options_of(name) for name in typer.main.get_command(app).commands))
    assert {spell_option(Param(name)) for name in (*OTHERS, *READING, *of_verbs)} <= every


TABLE = "size,word,gap,many\n" + "".join(
    f"{i},{'abcab'[i % 5]},{'' if i == 2 else 'uv'[i % 2]},{i % 3}\n" for i in range(12)
)
WRONG = [
    "inspect bytes.csv",
    "inspect empty.csv",
    "inspect rows.csv --kinds word=order",
    "inspect rows.csv --kinds zz=order",
    "inspect rows.csv --kinds size=numbre",
    "inspect rows.csv --kinds word=number",
    "inspect rows.csv --kinds size=month",
    "inspect rows.csv --kinds word=histogram",
    "inspect rows.csv --encoding utf-88",
    "inspect rows.csv --delimiter abc",
    "inspect rows.csv --memory lots",
    "inspect rows.csv --filter word>3",
    "inspect none.csv",
    "cluster rows.csv -n 90",
    "cluster rows.csv -n 2 --method spectral:landmarks=90",
    "cluster rows.csv --method density:min_neighbors=90",
    "cluster rows.csv --method hdbscan:min_neighbors=90",
    "cluster rows.csv --method means -n 90",
    "cluster rows.csv -n 2 --label zz",
    "compare rows.csv -k 90",
    "compare rows.csv --measures gowr",
    "hubs rows.csv --label gab",
    "hubs rows.csv -k 90",
    "outliers rows.csv --method isolation --filter size>99",
    'classify rows.csv --label word --method forest:distances={"gap":"nothing"}',
    'classify rows.csv --label word --method forest:distances={"zz":"equal"}',
    "classify rows.csv --label word --method neighbors:k=90",
    "regress rows.csv --label word",
    "search rows.csv --row 0 --measure vector:metric=euclid",
    "search rows.csv --row 0 --measure vector:scal=minmax",
    "search rows.csv --row 0 --measure nicdm:measure=gower,n_neighbors=90",
    "search rows.csv --row 0 --measure forest:method=obb",
    "search rows.csv --row 0 --measure stochastic:height=9",
    "search rows.csv --row 0 --weight zz=3",
    "search rows.csv --row 0 --weight size=-1",
    "search rows.csv --row 0 --columns zz",
    "search rows.csv --row 0 --unlike 99",
    'search rows.csv --like {"zz":1}',
    'search rows.csv --like {"size":"large"}',
    "index build rows.csv -o a.lookalike --id-column zz",
    "index build rows.csv -o a.lookalike --id-column word",
    "report rows.csv --label zz",
]


@pytest.mark.parametrize("line", WRONG)
def test_errors_hold_no_python_and_name_options_of_the_command(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bytes.csv").write_bytes(b"a\n\xe9\n")
    (tmp_path / "empty.csv").write_text("\n")
    (tmp_path / "rows.csv").write_text(TABLE)
    words = line.split(" ")
    done = run(*words)
    assert (done.exit_code, done.stdout) == (1, ""), done.stdout
    result = done.stderr.splitlines()[-1]
    plain = VALUES.sub("", result)
    assert not re.search(r"\w=|\w\(|read_table", plain), result
    assert not re.search(r"^[A-Za-z]+\.\w+:|Known: .*Known:|one of (.+)\. Known: \1", result), (
        result
    )
    named = set(OPTION.findall(re.sub(r"'[^']*'", "", result)))
    assert named <= options_of(words[0]), result


def test_warnings_are_spelled_like_errors(tmp_path, monkeypatch, recwarn):
    (tmp_path / "rows.csv").write_text(TABLE)
    words = ("--label", "word", "--method", "forest:trees=2", "--folds", "0")
    done = run("classify", tmp_path / "rows.csv", *words)
    assert "out-of-bag score: needs trees" in done.stderr
    assert "Raise n_estimators." in " ".join(done.stderr.split())
    assert not [w for w in recwarn if issubclass(w.category, LookalikeWarning)]


def test_notes_are_spelled_as_options(tmp_path):
    cells = ["-999", "-999", *map(str, range(20, 60))]
    (tmp_path / "rows.csv").write_text("age\n" + "\n".join(cells) + "\n")
    result = " ".join(run("inspect", tmp_path / "rows.csv").stdout.split())
    assert "use --missing -999 if that means missing" in result


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "rows.csv", "-k", "0"], "'-k': needs an integer >= 1, found '0'."),
        (["search", "rows.csv", "-k", "few"], "'-k': needs an integer >= 1, found 'few'."),
        (["serve", "rows.csv", "--port", "99999"], "65535, found '99999'."),
        (["hubs", "rows.csv", "--reduce", "mpp"], "found 'mpp'. Did you mean 'mp'?"),
        (["inspect", "rows.csv", "--output", "jsn"], "'json'. Did you mean 'json'?"),
        (["index", "rows.csv"], "Known: build, add, info, check, delete, compact."),
    ],
)
def test_a_wrong_option_is_named_in_words(words, said):
    done = run(*words, COLUMNS="300")
    assert done.exit_code == 2
    result = " ".join(done.stderr.split())
    assert said in result
    assert "Input should" not in result
    assert "Value error" not in result


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
    assert "the table: needs rows and columns, found an empty table." in run("inspect", path).stderr


def test_serve_makes_no_store_for_a_file_that_is_not_there(tmp_path):
    pytest.importorskip("fastapi", reason="the service is not installed")
    done = run("serve", tmp_path / "films.csv")
    assert done.exit_code == 1
    assert "file not found" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["search"], ["index"]])
def test_a_switch_shows_no_type(words):
    assert "bool" not in run(*words, "--help").stdout


def test_too_few_rows_to_judge_by_are_reported_without_a_function(tmp_path):
    (tmp_path / "row.csv").write_text("a,b\n1,x\n")
    heard = run(
        "regress", tmp_path / "row.csv", "--label", "a", "--method", "forest:trees=5"
    ).stderr
    assert "no cross-validation: needs at least 5 rows, found 1 row." in heard
    assert "cross_validate" not in heard
    assert "1 rows" not in heard
