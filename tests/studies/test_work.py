"""A cache shared by several parts of a study."""

from studies import Work


def test_parts_share_a_cache(tmp_path):
    one = Work(tmp_path, "quick", tmp_path / "keep", "toy-one", "text of one")
    two = Work(tmp_path, "full", tmp_path / "keep", "toy-two", "text of two")
    assert one.shared("toy-runs", "text of runs").once("a", lambda: 1) == 1
    assert two.shared("toy-runs", "text of runs").once("a", lambda: 2) == 1
    assert two.shared("toy-runs", "other text").once("a", lambda: 3) == 3
    assert one.once("a", lambda: 4) == 4
    assert two.shared("toy-runs").effort == "full"
    alone = Work(tmp_path, "quick")  # no cache file
    assert alone.shared("toy-runs").once("a", lambda: 5) == 5
