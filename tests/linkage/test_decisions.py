"""Decided pairs: from a file, a frame or a list, and what is refused."""

import pandas as pd
import pytest

from lookalike.errors import InvalidInput
from lookalike.linkage.decisions import check_consistent, read_decisions

IDS = (["a", "b", 7], ["x", "y"])
EXPECTED = {(0, 3): True, (2, 4): False}


def test_decisions_come_as_a_list_a_frame_or_a_file(tmp_path):
    listed = [
        {"pair": ["a", "x"], "same": True},
        {"pair": [7.0, "y"], "same": "No"},
        {"pair": ["b", "y"], "same": "skip"},
        {"pair": ["a", "y"], "same": None},
    ]
    assert read_decisions(listed, IDS, 3) == EXPECTED
    frame = pd.DataFrame([[*one["pair"], one["same"]] for one in listed[:3]])
    frame.columns = ["left", "right", "same"]
    frame["same"] = ["yes", "no", "skip"]
    assert read_decisions(frame.astype({"left": str}).replace("7.0", "7"), IDS, 3) == EXPECTED
    path = tmp_path / "decided.csv"
    path.write_text("left,right,probability,same\na,x,0.5,yes\n7,y,0.4,n\nb,y,0.5,\n")
    assert read_decisions(path, IDS, 3) == EXPECTED
    assert read_decisions(None, IDS) == {}


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ([{"pair": ["a", "q"], "same": True}], "ids of rows of the table"),
        ([{"pair": ["a"], "same": True}], "two ids for each pair"),
        ([{"pair": "ab", "same": True}], "two ids for each pair"),
        ([{"pair": ["a", "x"], "same": "perhaps"}], "yes, no or skip"),
        ([{"pair": ["a", "x"], "same": True}, {"pair": ["a", "x"], "same": False}], "both yes"),
        (["a"], "a list of mappings"),
        (pd.DataFrame({"left": ["a"], "right": ["x"]}), "no 'same'"),
    ],
)
def test_what_is_no_decision_is_refused(given, match):
    with pytest.raises(InvalidInput, match=match):
        read_decisions(given, IDS, 3)
    with pytest.raises(InvalidInput, match="two different rows"):
        read_decisions([{"pair": ["a", "a"], "same": True}], (IDS[0], IDS[0]))


def test_contradictions_are_refused():
    check_consistent({(0, 1): True, (1, 2): True, (2, 3): False}, str)
    with pytest.raises(InvalidInput, match="the same by other decisions"):
        check_consistent({(0, 1): True, (1, 2): True, (0, 2): False}, str)
