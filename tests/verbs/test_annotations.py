"""How parameters are written outside of Python."""

import json

import pytest

from cli.run import run
from lookalike.errors import InvalidInput
from lookalike.verbs import get_verb
from lookalike.verbs.annotations import (
    describe_parameters,
    read_json,
    read_marks,
    read_weights,
    split_pair,
)

ROWS = "id,size,color,tags\na,1.5,red,x;y\nb,2.5,blue,y\nc,2.0,red,\nd,9.0,,x;z\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def answer(*words):
    done = run(*words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def one_line(*words):
    done = run(*words)
    assert (done.exit_code, done.stdout) == (1, ""), done.output
    (line,) = done.stderr.splitlines()
    return line


def test_marks_change_the_list(file):
    words = ("search", file, "--columns", "size", "-k", 1)
    assert answer(*words, "--row", 0)["hits"][0]["id"] == 2
    assert answer(*words, "--row", 0, "--like", 1, "--like", 3)["hits"][0]["id"] == 2
    assert answer(*words, "--row", 2, "--unlike", 0)["hits"][0]["id"] == 1
    assert answer(*words, "--like", 0)["query"]["id"] == 0
    assert "a row from 0 to 3" in one_line(*words, "--row", 0, "--unlike", 9)


def test_pairs_are_split_at_the_last_equals_sign():
    assert split_pair("a=b=3", "--weight", "COLUMN=NUMBER", "year=3") == ("a=b", "3")
    for word in ("year", "year=", "=3", ""):
        with pytest.raises(InvalidInput, match="Try year=3"):
            split_pair(word, "--weight", "COLUMN=NUMBER", "year=3")


def test_weights_and_marks_that_were_not_given_are_none():
    assert read_weights([]) is read_weights(None) is None
    assert read_marks([]) is read_marks(None) is None
    with pytest.raises(InvalidInput, match="COLUMN=NUMBER"):
        read_weights(["year=many"])


def test_json_of_an_argument():
    assert read_json('{"x": NaN, "y": 1}', "--like") == {"x": None, "y": 1}
    with pytest.raises(InvalidInput, match="at character 2"):
        read_json("{x}", "--like")
    with pytest.raises(InvalidInput, match="a JSON object"):
        read_json("[1]", "--like")
    with pytest.raises(InvalidInput, match="a JSON list"):
        read_json("{}", "--kinds", list)
    with pytest.raises(InvalidInput, match="nested too deeply"):
        read_json('{"x":' * 100_000, "--like")
    with pytest.raises(InvalidInput) as error:
        read_json("{" + "x" * 59, "--like")
    assert "x" * 59 + "'" in str(error.value)  # 60 characters are quoted whole
    with pytest.raises(InvalidInput) as error:
        read_json("{" + "x" * 60, "--like")
    assert "x" * 58 + "…'" in str(error.value)


def test_descriptions_come_from_the_docstring():
    texts = describe_parameters(get_verb("search"))
    assert texts["k"] == "How many rows to find."
    assert texts["unlike"] == "Rows that answers should not be like."
    both = describe_parameters(get_verb("explain"))
    assert both["row"] == both["other"]
    assert "``" not in "".join(texts.values())
