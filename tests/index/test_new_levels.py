"""Levels that only new rows have are missing in a guessed order, an error in a declared one."""

import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.index import build_index
from lookalike.measures import Combined, ForestProximity, Gower
from lookalike.table import as_table, read_table
from table.parts import cut

SIZES = ["small", "medium", "large"]
ROWS = {
    "size": SIZES * 20,
    "mass": np.random.default_rng(0).normal(size=60).tolist(),
    "color": ["red", "blue"] * 30,
}
NEW = {"size": ["huge", "small", None, "tiny"], "mass": [0.1, 0.2, 0.3, 0.4], "color": ["red"] * 4}
UNPLACED = {**NEW, "size": [None, "small", None, None]}
DECLARED = {"size": SIZES}


def heard(work):
    """What some work returns, and what it warned about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = work()
    return found, [str(one.message) for one in caught if one.category is LookalikeWarning]


def once(work):
    """The same, for work that names the new levels in exactly one warning."""
    found, texts = heard(work)
    (text,) = texts
    assert re.search(r"found .*'huge'.* in 'size'\. They are taken as missing", text)
    return found


def record(source, row):
    return {name: cells[row] for name, cells in source.items()}


@pytest.fixture
def index():
    return la.Index(Gower()).fit(ROWS)


def test_one_warning_names_every_column_and_level():
    fitted = read_table({"size": SIZES, "risk": ["low", "medium", "high"], "n": [1, 2, 3]})
    new = {"size": ["huge", "tiny"], "risk": ["low", "very low"], "n": [1, 2]}
    table, (text,) = heard(lambda: as_table(new, fitted, who="Gower"))
    assert text.startswith(
        "Gower: needs levels of the fitted table, found 'huge', 'tiny' in 'size'"
    )
    assert "'very low' in 'risk'" in text
    assert [table["size"].cell(row) for row in (0, 1)] == ["huge", "tiny"]
    assert table["size"].missing.tolist() == [True, True]
    assert table["size"].blank.tolist() == [False, False]
    assert table["risk"].missing.tolist() == [False, True]
    assert heard(lambda: as_table(table, fitted))[1] == []  # said once


@pytest.mark.parametrize(
    "form",
    [pd.DataFrame, pa.table, read_table, lambda new: [record(new, row) for row in range(4)]],
    ids=["pandas", "arrow", "table", "records"],
)
def test_every_form_of_new_rows(form):
    fitted = read_table(ROWS)
    assert once(lambda: as_table(form(NEW), fitted))["size"].missing.tolist() == [
        True, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kinds",
    [DECLARED, {"size": pd.CategoricalDtype(SIZES, ordered=True)}],
    ids=["levels", "ordered categories"],
)
def test_a_declared_level_is_an_error(kinds):
    rows, given = pd.DataFrame(ROWS), kinds
    if kinds is not DECLARED:
        rows, given = rows.astype(kinds), None
    with pytest.raises(InvalidInput, match=r"one of the levels 'small', 'medium', 'large'"):
        as_table(NEW, read_table(rows, kinds=given))


def test_an_order_that_is_asked_for_but_not_spelled_out_is_a_guess():
    for cells, new in ((SIZES, "huge"), ([1, 2, 4], 3)):
        fitted = read_table({"c": cells * 3, "x": range(9)}, kinds={"c": "order"})
        table, (text,) = heard(lambda f=fitted, n=new: as_table({"c": n, "x": 1}, f))
        assert table["c"].cell(0) == new
        assert f"found {new!r} in 'c'" in text


@pytest.mark.parametrize(
    "measure",
    [
        Gower(),
        Gower(order="rank_range"),
        Gower(distances={"size": "equal"}),
        ForestProximity(n_estimators=20, random_state=0),
        Combined([(0.5, Gower()), (0.5, ForestProximity(n_estimators=20, random_state=0))]),
    ],
    ids=repr,
)
def test_measures_compare_it_as_missing(measure):
    fitted = measure.fit(ROWS)
    new = fitted.encode(once(lambda: fitted.read_new(NEW)))
    gone, rows = fitted.encode(fitted.read_new(UNPLACED)), fitted.encode(fitted.read_new(ROWS))
    np.testing.assert_array_equal(
        fitted.block(new, rows, "distance"), fitted.block(gone, rows, "distance")
    )


def shown(hits):
    return [(hit.id, hit.distance) for hit in hits]


def test_search(index):
    found = once(lambda: index.search(record(NEW, 0)))
    assert shown(found) == shown(index.search(record(UNPLACED, 0)))
    for one, other in zip(
        once(lambda: index.search(pd.DataFrame(NEW))),
        index.search(pd.DataFrame(UNPLACED)),
        strict=True,
    ):
        assert shown(one) == shown(other)
    with pytest.raises(InvalidInput, match="one of the levels"):
        la.Index(Gower(kinds=DECLARED)).fit(ROWS).search(record(NEW, 0))


def test_added_rows_come_back_as_written(index, tmp_path):
    ids = once(lambda: index.add(NEW))
    index.save(tmp_path / "rows.lookalike")
    for one in (index, la.load(tmp_path / "rows.lookalike")):
        assert [one.get(id)["size"] for id in ids] == NEW["size"]
        assert one.table.to_frame()["size"].tolist()[-4] == "huge"
        counted = {"huge": 1, "small": 21, None: 1, ("!=", None): 63, (">=", "small"): 61}
        assert {asked: one.count({"size": asked}) for asked in counted} == counted
        with pytest.raises(InvalidInput, match="one of its levels, found 'huge'"):
            one.count({"size": ("<", "huge")})
    with pytest.raises(InvalidInput, match="one of the levels"):
        la.Index(Gower(kinds=DECLARED)).fit(ROWS).add(NEW)


def test_drift_and_refit(index):
    many = {"size": ["huge"] * 20, "mass": [0.0] * 20, "color": ["red"] * 20}
    heard(lambda: index.add(many))
    drift = next(column for column in index.drift().columns if column.column == "size")
    assert drift.reason == "100% of the added values are new levels (huge)"
    assert index.refit().table["size"].kind.levels == ("small", "medium", "large", "huge")


def test_refit_leaves_levels_without_a_place_as_they_are(index):
    (id,) = heard(lambda: index.add([{"size": "purple", "mass": 1, "color": "red"}]))[0]
    index.refit()
    assert index.get(id)["size"] == "purple"
    assert index.table["size"].kind.levels == ("small", "medium", "large")


def test_an_index_in_a_folder(tmp_path):
    files = cut(pa.table(ROWS), tmp_path / "rows", [])
    folder = build_index(files, tmp_path / "index", Gower()).folder
    opened = la.Index.open(folder)
    plain = la.Index(Gower()).fit(ROWS)
    found = once(lambda: opened.search(record(NEW, 0)))
    assert shown(found) == shown(plain.search(record(UNPLACED, 0)))
    ids = once(lambda: opened.add(NEW))
    again = la.Index.open(folder)
    assert [again.get(id)["size"] for id in ids] == NEW["size"]
    more = cut(pa.table(NEW), tmp_path / "more", [])
    assert once(lambda: again.add_files(more)) == 4
    assert la.Index.open(folder).count({"size": "huge"}) == 2
    assert again.check() == {}
