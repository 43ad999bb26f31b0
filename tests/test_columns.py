"""How two cells of a column differ, and what is said of cells that no distance takes."""

from transcript import assert_transcript


def test_every_answer_of_the_transcript_is_as_it_was():
    assert_transcript("columns/transcript")
