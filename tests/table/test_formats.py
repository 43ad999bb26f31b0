"""What files, frames and lists become, and what is said where they cannot be read."""

import pytest

from transcript import assert_transcript

pytest.importorskip("openpyxl")


@pytest.mark.filterwarnings("default")
def test_every_answer_of_the_transcript_is_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_transcript("table/formats")
