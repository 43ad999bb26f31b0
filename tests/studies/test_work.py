"""A memory that several parts of a study share."""

from studies import Work


def test_parts_share_what_was_made_beside_them(tmp_path):
    one = Work(tmp_path, "quick", tmp_path / "keep", "toy-one", "text of one")
    two = Work(tmp_path, "full", tmp_path / "keep", "toy-two", "text of two")
    assert one.beside("toy-runs", "text of runs").once("a", lambda: 1) == 1
    assert two.beside("toy-runs", "text of runs").once("a", lambda: 2) == 1
    assert two.beside("toy-runs", "other text").once("a", lambda: 3) == 3
    assert one.once("a", lambda: 4) == 4
    assert two.beside("toy-runs").effort == "full"
    alone = Work(tmp_path, "quick")  # keeps nothing
    assert alone.beside("toy-runs").once("a", lambda: 5) == 5
