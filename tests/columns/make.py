"""Columns and cells for the tests of the distances."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from columns import reference
from lookalike.columns import DISTANCES
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import CODED, MATRIX, Column, Graph

LEVELS = ("low", "mid", "high", "top")
WIDTH = 4


def objects(cells):
    out = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        out[row] = cell
    return out


def column(kind, cells, levels=(), name="thing"):
    """Make a column from Python cells, None where one is missing."""
    if kind == "number":
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    elif kind in CODED:
        values = np.array([-1 if cell is None else cell for cell in cells], dtype=np.int64)
    elif kind in MATRIX:
        width = next((len(cell) for cell in cells if cell is not None), WIDTH)
        rows = [[np.nan] * width if cell is None else cell for cell in cells]
        values = np.array(rows, dtype=np.float64).reshape(len(cells), width)
    elif kind == "series":
        values = objects([None if cell is None else np.array(cell, float) for cell in cells])
    else:
        values = objects(cells)
    return Column(name, Kind(kind, levels=tuple(levels)), values)


# quarters: sums of them are exact, so that a reference may add them up in another order
quarters = st.integers(-40, 40).map(lambda x: x / 4)
tokens = st.sampled_from(["a", "b", "c", 1, 2, 2.5, ("x", 1)])
sets = st.frozensets(tokens, max_size=5)


@st.composite
def graphs(draw, most=4):
    names = draw(st.lists(st.integers(0, 5), max_size=most, unique=True))
    pairs = [(a, b) for a in names for b in names if a <= b]
    edges = draw(st.frozensets(st.sampled_from(pairs), max_size=5)) if pairs else frozenset()
    return Graph({name: draw(st.sampled_from("CO")) for name in names}, edges)


rows_of_numbers = st.lists(quarters, min_size=WIDTH, max_size=WIDTH)
bins = st.lists(st.integers(0, 6).map(float), min_size=WIDTH, max_size=WIDTH)

CASES = {  # name of a distance -> kind of column, strategy of a cell, reference implementation
    "absolute": ("number", quarters, reference.absolute),
    "rank": ("number", quarters, None),
    "circular": ("number", quarters, reference.circular),
    "presence": ("flag", st.integers(0, 1), reference.differ),
    "equal": ("category", st.integers(0, 3), reference.differ),
    "information": ("order", st.integers(0, 3), None),  # needs the counts: test_levels.py
    "cyclic": ("order", st.integers(0, 3), lambda u, v: reference.cyclic(u, v, 4)),
    "rank_range": ("order", st.integers(0, 3), lambda u, v: reference.rank_range(u, v, 4)),
    "levenshtein": ("text", st.text("abé𝒳 ", max_size=8), reference.normalized_edit),
    "token_set": ("text", st.text("ab ", max_size=9), reference.token_set),
    "jaro_winkler": ("text", st.text("abc", max_size=9), reference.jaro_winkler),
    "tfidf": ("text", st.text("ab xy", max_size=14), None),
    "jaccard": ("set", sets, reference.jaccard),
    "overlap": ("set", sets, reference.overlap),
    "edit": ("sequence", st.lists(tokens, max_size=6).map(tuple), reference.edit),
    "edit_sets": ("sequence", st.lists(sets, max_size=4).map(tuple), reference.edit_sets),
    "dtw": ("series", st.lists(quarters, max_size=6), reference.dtw),
    "msm": ("series", st.lists(quarters, max_size=6), None),
    "twe": ("series", st.lists(quarters, max_size=6), None),
    "euclidean": ("vector", rows_of_numbers, reference.euclidean),
    "great_circle": ("vector", st.tuples(quarters, quarters).map(list), reference.great_circle),
    "gaussian": (
        "vector",
        st.tuples(quarters, st.integers(1, 9).map(float)).map(list),
        reference.gaussian,
    ),
    "cosine": ("vector", rows_of_numbers, reference.cosine),
    "normalized": ("histogram", bins, reference.normalized),
    "earth_mover": ("histogram", bins, reference.earth_mover),
    "kullback_leibler": ("histogram", bins, reference.kullback_leibler),
    "graph_jaccard": ("graph", graphs(), reference.graph_jaccard),
    "wl": ("graph", graphs(), reference.wl),
    "ged": ("graph", graphs(most=3), reference.ged),
}
FITTED = {  # reference implementations that need the fitted cells too
    "rank": reference.rank_share,
    "tfidf": reference.tfidf,
    "msm": reference.msm,
    "twe": reference.twe,
}
assert set(CASES) == set(DISTANCES), "a distance without a reference implementation"


def cells_of(name, max_size=8):
    """Draw some cells for a distance, a few of them missing."""
    cell = CASES[name][1]
    return st.lists(st.one_of(cell, cell, cell, st.none()), min_size=1, max_size=max_size)


def column_of(name, cells):
    kind = CASES[name][0]
    levels = LEVELS if kind in ("order", "category") else ("no", "yes") if kind == "flag" else ()
    return column(kind, cells, levels)


few = settings(max_examples=30, deadline=None)


def compare(distance, kind, cells):
    """Return the distances of some cells to each other, fitted to these cells."""
    own = distance.fit(column(kind, cells))
    code = own.encode(column(kind, cells))
    return own.compare(code, code)


def between(distance, kind, u, v):
    return compare(distance, kind, [u, v])[0, 1]


def assert_worked(cases):
    """Check distances that were worked out by hand."""
    for distance, kind, u, v, expected in cases:
        found = between(distance, kind, u, v)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15), (distance, u, v)


def assert_errors(cases):
    """Check that a cell of the wrong type or value is refused, with its row."""
    for distance, kind, cells, error, words in cases:
        with pytest.raises(error, match=words):
            compare(distance, kind, cells)
