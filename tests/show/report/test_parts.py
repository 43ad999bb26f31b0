"""Sections of the report."""

import re

import numpy as np

import lookalike as la
from lookalike.measures import Gower
from lookalike.show.report.parts import RowWriter

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
