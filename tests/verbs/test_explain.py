"""Why two rows are alike: the sums, the rows by name, the four forms."""

import json

import pytest

import lookalike as la
from cli.run import run
from lookalike.errors import InvalidInput

PETS = (
    "name,weight,animal,age\nTom,4,cat,3\nRex,30,dog,5\nKit,5,cat,\nWolf,28,wolf,6\nAnn,7,cat,4\n"
)


@pytest.fixture
def pets(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(PETS)
    return path


def test_contributions_add_up_to_the_similarity(pets):
    found = la.explain(pets, 0, 1).to_dict()
    index = la.Index().fit(la.read_table(pets))
    hit = next(hit for hit in index.search(0, k=4) if hit.id == 1)
    assert found["similarity"] == hit.similarity
    assert sum(column["for"] for column in found["columns"]) == pytest.approx(hit.similarity)
    against = sum(column["against"] for column in found["columns"])
    assert against == pytest.approx(1 - hit.similarity)


def test_rows_are_named_as_in_search(pets):
    by_name = la.explain(pets, "Tom", "name=Kit").to_dict()
    assert by_name == la.explain(pets, 0, 2).to_dict()
    assert (by_name["row"], by_name["other"]) == (0, 2)
    record = la.explain(pets, 0, {"animal": "cat"}).to_dict()
    assert record["other"] == {"animal": "cat"}


def test_weights_and_columns_decide_what_counts(pets):
    found = la.explain(pets, 0, 1, columns="weight,age", weights={"age": 0.0}).explanation
    assert found.plus.get("age", 0.0) == 0.0
    assert "animal" not in found.columns


def test_a_missing_cell_is_not_compared_where_it_is_ignored(pets):
    found = la.explain(pets, 0, 2, measure="gower")
    assert found.to_dict()["not_compared"] == ["age"]
    assert "not compared: age" in found.text()


def test_a_row_that_does_not_exist_is_named_as_the_parameter(pets):
    with pytest.raises(InvalidInput, match="other"):
        la.explain(pets, 0, "nothing of the kind")
    with pytest.raises(InvalidInput, match="row"):
        la.explain(pets, 99, 0)


def test_the_shell_has_the_same_answer(pets):
    done = run("explain", pets, "--row", "Tom", "--other", 2, "--output", "json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == la.explain(pets, 0, 2).to_dict()
