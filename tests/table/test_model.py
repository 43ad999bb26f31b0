"""What tables, columns and targets say, word by word."""

from transcript import assert_transcript


def test_every_answer_of_the_transcript_is_as_it_was():
    assert_transcript("table/model")
