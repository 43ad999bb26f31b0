"""Sections of the report."""

import re

import numpy as np

import lookalike as la
from lookalike.measures import Gower
from lookalike.show.report.parts import (
    PARTS,
    RowWriter,
    _missing_together,
    columns_part,
    missing_part,
)
from lookalike.show.report.study import Study
from lookalike.table import Column, Kind

VOID = ("meta", "br")


def test_missing_cells_are_not_listed_as_values():
    writer = RowWriter(la.read_table({"a": [1.0, 2.5, 4.0], "b": ["x", "y", "x"]}))
    assert writer.words({"a": 1.0, "b": None}) == "a 1.0"
    assert writer.words({"a": 1.0, "b": frozenset(range(99))}) == "a 1.0"
    assert writer.numbers == [False, True]  # the label comes first


def test_a_map_of_clusters_says_what_makes_them():
    rng = np.random.default_rng(0)
    size = np.repeat([0.0, 9.0], 15) + rng.random(30)
    found = la.report({"size": size, "sort": ["a"] * 15 + ["b"] * 15}, measure=Gower())
    assert re.search(r"cluster 0 \(15\): (size|sort) ", found.parts["map"])


def study(columns):
    return Study(la.read_table(columns), None, "label", "auto", 5, 2000, 0)


def test_missing_values_are_shown_where_they_are():
    none = "<p>No value of a compared column is missing.</p>"
    assert missing_part(study({"a": [1.0, 2.5], "b": ["x", "y"]})) == none
    half = [None] * 30 + [float(i) + 0.5 for i in range(30)]
    few = [None, *(float(i) + 0.25 for i in range(59))]
    also = [None if cell is None else (cell * 7) % 10 for cell in half]
    text = missing_part(study({"few": few, "half": half, "also": also, "full": list(range(60))}))
    assert "<p>30 of 60 rows are complete. Each strip is a column from its first row" in text
    # The column with the most missing values comes first; one part of the strip for each row.
    assert re.findall("<td>(half|also|few|full)</td>", text) == ["half", "also", "few"]
    assert text.count('fill-opacity="1.00"') == 30 + 30 + 1
    assert 'aria-label="missing values of half: from 0% to 100%"' in text
    assert "Missing in the same rows, nearly always: half; also." in text
    assert "more columns" not in text


def test_only_so_many_columns_are_listed():
    some = {f"c{i}": [None, 1.5, 2.5] for i in range(61)}
    text = columns_part(study(some))
    assert "<p>1 more columns are not listed.</p>" in text
    assert text.count("<tr") == 1 + 60
    assert "37 more columns have missing values." in missing_part(study(some))
    assert "not listed" not in columns_part(study({n: c for n, c in some.items() if n != "c60"}))


def test_parts_are_named_after_their_functions():
    names = "columns missing measure neighbors map hubs clusters measures rows"
    assert [part.name for part in PARTS] == names.split()


def test_columns_are_missing_together_above_nine_tenths():
    def column(name, n_missing):
        values = np.where(np.arange(40) < n_missing, np.nan, np.arange(40.0))
        return Column(name, Kind("number"), values)

    half = column("a", 20)
    assert _missing_together([half, column("b", 18)]) == []
    assert _missing_together([half, column("b", 19)]) == [
        "Missing in the same rows, nearly always: a; b."
    ]
    empty = column("a", 40), column("b", 40)
    assert _missing_together(list(empty)) == []
