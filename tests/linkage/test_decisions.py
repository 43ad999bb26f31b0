"""Decided pairs: from a file, a frame or a list, and what is refused."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


PAIRS = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] < pair[1])


@given(st.dictionaries(PAIRS, st.booleans(), max_size=12))
def test_decisions_contradict_each_other_where_a_chain_joins_what_differs(decided):
    groups = [{row} for row in range(7)]
    for a, b in (pair for pair, same in decided.items() if same):
        joined = groups[a] | groups[b]
        for row in joined:
            groups[row] = joined
    if any(not same and b in groups[a] for (a, b), same in decided.items()):
        with pytest.raises(InvalidInput, match="no contradiction"):
            check_consistent(decided, str)
    else:
        check_consistent(decided, str)


def test_contradictions_are_refused():
    check_consistent({(0, 1): True, (1, 2): True, (2, 3): False}, str)
    with pytest.raises(InvalidInput, match="the same by other decisions"):
        check_consistent({(0, 1): True, (1, 2): True, (0, 2): False}, str)
