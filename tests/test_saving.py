"""What fields allow, and what is said of files that do not hold it, word by word."""

from transcript import assert_transcript


def test_every_answer_of_the_transcript_is_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_transcript("saving/transcript")
