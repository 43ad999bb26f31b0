"""Hits as lines: which columns fit, how wide each is, and where reasons are."""

import pytest

import lookalike as la
from lookalike.index.hit_lines import (
    GAP,
    MAX_CELL_WIDTH,
    MIN_WIDTH_FOR_SIDE_REASONS,
    REASONS_WIDTH,
    HitLines,
    _fill,
)
from lookalike.show.reasons import Reason

PETS = {
    "name": ["Minka", "Rex", "Tom", "Wolf"],
    "weight": [4.0, 30.5, 5.0, 28.0],
    "animal": ["cat", "dog", "cat", "wolf"],
}


def reason(text):
    made = Reason("column", None, 1.0, 2.0, 0.5)
    made.__dict__["text"] = text  # instead of the phrase, which is made when it is read
    return made


def lines_of(rows, width, why=False, only=(), row=0, k=3):
    index = la.Index("gower").fit(rows)
    made = HitLines(index.search(0, k=k), index.table, width, why=why, only=only)
    return made, [text.plain for text in made.lines(row)]


def test_a_line_for_the_heads_the_query_a_rule_and_every_hit():
    made, lines = lines_of(PETS, 80)
    assert lines[0].split() == ["row", "distance", "similarity", "name", "weight", "animal"]
    assert lines[1].split() == ["0", "Minka", "4.0", "cat"]
    assert set(lines[2].strip()) == {"─"}
    assert [line.split()[0] for line in lines[3:]] == ["2", "3", "1"]
    # Numbers end, and texts begin, in one column.
    assert {line.index("cat") for line in (lines[1], lines[3])} == {lines[0].index("animal")}
    ends = lines[0].index("weight") + len("weight")
    assert [line[:ends].split()[-1] for line in lines[3:]] == ["5.0", "28.0", "30.5"]
    assert len(lines[2]) == max(map(len, lines))
    assert made.left == []
    assert lines_of(PETS, 80, row=None)[1][1].split() == ["Minka", "4.0", "cat"]


def test_reasons_are_below_a_row_until_the_terminal_is_wide():
    below, lines = lines_of(PETS, MIN_WIDTH_FOR_SIDE_REASONS - 1, why=True)
    assert lines[0].split()[:2] == ["row", "similarity"]  # without the distance
    assert lines[4].startswith(" " * below.indent + "+ ")
    assert below.indent == len("row") + GAP + 1
    assert len(lines) > 6
    beside, lines = lines_of(PETS, MIN_WIDTH_FOR_SIDE_REASONS, why=True)
    assert lines[0].endswith("why: + for, - against")
    start = lines[0].index("why:")
    assert lines[3][start:].startswith("+ ")
    assert beside.reason_width >= REASONS_WIDTH
    assert all(len(line) <= MIN_WIDTH_FOR_SIDE_REASONS for line in lines)


def test_columns_that_do_not_fit_are_left_out_unless_they_are_asked_for():
    rows = {f"c{i}": [f"{'word ' * 12}{i}", "other", "more"] for i in range(8)}
    made, lines = lines_of(rows, 80, k=2)
    assert all(len(line) <= 80 for line in lines)
    assert [c.name for c in made.columns] + made.left == list(rows)
    assert made.left == list(rows)[1:]
    made, lines = lines_of(rows, 80, only=["c5", "c1", "c3"], k=2)
    assert [c.name for c in made.columns] == ["c5", "c1", "c3"]
    assert made.left == []
    # The first column may take two fifths of the width, the others less.
    assert made.widths[3:] == [32, MAX_CELL_WIDTH, MAX_CELL_WIDTH]
    assert all(len(line) <= sum(made.widths) + GAP * len(made.widths) for line in lines)
    assert lines[1].split("…")[0].count("word") == 6  # of the query, in the first column


@pytest.mark.parametrize(
    ("width", "line"),
    [(20, "one; two; three"), (15, "one; two; three"), (14, "one; two"), (3, "one"), (2, "one")],
)
def test_reasons_are_joined_while_they_fit(width, line):
    reasons = [reason(text) for text in ("one", "two", "three")]
    assert _fill(reasons, width) == line
    assert _fill([reason("a long reason of words")], 14) == "a long reason…"
    assert _fill([], 20) == ""
