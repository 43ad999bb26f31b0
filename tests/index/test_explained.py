"""Four forms of why two rows are alike."""

import pytest

import lookalike as la
from lookalike.index.explained import PairExplanation
from lookalike.show.result import Result

PETS = "name,weight,animal\nTom,4,cat\nRex,30,dog\nKit,5,cat\nWolf,28,wolf\nAnn,7,cat\n"


@pytest.fixture
def pets(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(PETS)
    return path


def test_every_form_has_the_same_values(pets):
    found = la.explain(pets, 0, 2)
    assert isinstance(found, PairExplanation)
    assert issubclass(PairExplanation, Result)
    frame = found.to_frame()
    columns = found.to_dict()["columns"]
    assert frame["column"].tolist() == [column["column"] for column in columns]
    assert frame["for"].tolist() == [column["for"] for column in columns]
    text = found.text(300)
    assert text.startswith(f"{pets}: why 0 and 2 are alike, by Gower\n")
    assert all(str(column["column"]) in text for column in columns)
    assert "<table" in found.to_html()
    assert max(map(len, found.text(40).splitlines()[1:])) <= 40


def test_records_are_not_written_out_in_the_heading(pets):
    text = la.explain(pets, {"weight": 5.0}, 1).text(300)
    assert "why a record and 1 are alike" in text
