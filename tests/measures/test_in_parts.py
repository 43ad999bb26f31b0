"""Fitting to a table in files learns what fitting in memory learns, to the last bit."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import lookalike as la
from lookalike.columns import Levenshtein
from lookalike.errors import InvalidInput
from lookalike.hubness import MutualProximity
from lookalike.measures import ForestProximity, Gower, Ranked, StochasticForest, Vector
from lookalike.table import read_table
from lookalike.testing.strategies import frames
from table.parts import arrow, cut

MIXED = ("number", "category", "order", "flag", "text", "set", "vector", "series")
GOWERS = (
    Gower(),
    Gower(scale="robust", missing="midpoint"),
    Gower(scale="rank", order="rank_range", constant="drop"),
)
NUMBERS = (
    Vector("cityblock", scale="minmax"),
    Vector(scale="standard"),
    Vector("cosine"),
    Ranked(),
    Ranked("cosine", scale=True),
    StochasticForest(12, 2, on_fail="relax", random_state=0),
)


def state(value, where=""):
    """Yield everything learned, as (where, bytes or words), inner things in a fixed order."""
    if isinstance(value, np.ndarray):
        cells = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
        yield where, (str(value.dtype), value.shape, cells)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from state(value[key], f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from state(item, f"{where}[{at}]")
    elif hasattr(value, "__dict__") and type(value).__module__.startswith("lookalike"):
        own = {key: v for key, v in vars(value).items() if not key.startswith("_")}
        yield from state(own, f"{where}:{type(value).__name__}")
    else:
        yield where, repr(value)


def learned(measure):
    kept = ("rows_", "n_streamed_")
    own = {k: v for k, v in vars(measure).items() if k.endswith("_") and k not in kept}
    return dict(state(own))


def assert_same_fit(measure, whole, lazy):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs = (outcome(clone(measure), table) for table in (whole, lazy))
    if isinstance(mine, str):
        assert theirs == mine
        return
    assert learned(mine) == learned(theirs)
    encoded = theirs.encode(whole, np.arange(len(whole)))
    assert dict(state(encoded.arrays)) == dict(state(mine.rows_.arrays))
    if len(whole) > 1:
        k = min(3, len(whole) - 1)
        here = mine.nearest(mine.rows_, mine.rows_, k, exclude=np.arange(len(whole)))
        there = theirs.nearest(encoded, encoded, k, exclude=np.arange(len(whole)))
        assert np.array_equal(here.indices, there.indices)
        assert here.distances.tobytes() == there.distances.tobytes()


def outcome(measure, table):
    """Return the fitted measure, or who complains where it cannot be fitted."""
    try:
        return measure.fit(table)
    except InvalidInput as error:
        return str(error).split(":")[0]


@st.composite
def cut_frames(draw, kinds, gaps=True):
    columns, given = draw(frames(kinds=kinds, min_rows=1, max_rows=14, missing=gaps, max_columns=3))
    at = draw(st.lists(st.integers(0, 14), max_size=2))
    return columns, given, at


def write(drawn, folder):
    columns, given, at = drawn
    rows = arrow(columns)
    lazy = read_table(cut(rows, folder, at, group=5), kinds=given, lazy=True)
    return read_table(rows, kinds=given), lazy


@settings(max_examples=8)
@pytest.mark.parametrize("measure", GOWERS, ids=repr)
@given(drawn=cut_frames(MIXED))
def test_mixed_columns(tmp_path_factory, measure, drawn):
    assert_same_fit(measure, *write(drawn, tmp_path_factory.mktemp("rows") / "in"))


@settings(max_examples=5)
@pytest.mark.parametrize("measure", NUMBERS, ids=repr)
@given(drawn=cut_frames(("number",), gaps=False))
def test_numbers(tmp_path_factory, measure, drawn):
    assert_same_fit(measure, *write(drawn, tmp_path_factory.mktemp("rows") / "in"))


def test_sums_are_added_in_the_same_order(monkeypatch, tmp_path):
    monkeypatch.setattr("lookalike.measures.vector.ROWS_PER_SUM", 64)
    numbers = np.random.default_rng(0).normal(1e3, 1e-3, (500, 2))
    rows = pa.table({"a": numbers[:, 0], "b": np.exp(numbers[:, 1] / 100)})
    lazy = read_table(cut(rows, tmp_path / "in", [33, 400]), lazy=True)
    assert_same_fit(Vector(scale="standard"), read_table(rows), lazy)


def test_a_published_table(data_folder, tmp_path):
    rows = pyarrow.parquet.read_table(data_folder / "adult.parquet").slice(0, 3000)
    lazy = read_table(cut(rows, tmp_path / "in", [1000, 1007], group=300), lazy=True)
    whole = read_table(rows)
    for measure in (Gower(scale="rank"), Ranked(), StochasticForest(20, 4, random_state=1)):
        assert_same_fit(measure, whole, lazy)


def test_the_sample_for_the_scale_of_texts_is_the_same(tmp_path):
    texts = [f"{at * 7919 % 10007} of {at % 13}" * (1 + at % 5) for at in range(1500)]
    texts[3] = None
    rows = pa.table({"text": texts, "size": np.arange(1500.0)})
    lazy = read_table(cut(rows, tmp_path / "in", [700]), kinds={"text": "text"}, lazy=True)
    whole = read_table(rows, kinds={"text": "text"})
    mine, theirs = (Gower().fit(table) for table in (whole, lazy))
    one, other = (m.plan_.distances["text"] for m in (mine, theirs))
    assert isinstance(one, Levenshtein)
    assert one.scale_ == other.scale_ > 0


# -- what cannot be learned in parts ---------------------------------------------------------------


@pytest.fixture
def lazy(tmp_path):
    rows = pa.table({"size": np.arange(40.0), "other": np.arange(40.0) ** 2})
    return read_table(cut(rows, tmp_path / "in", [20]), lazy=True)


@pytest.mark.parametrize(
    ("measure", "part"),
    [
        (ForestProximity(n_estimators=3), "looks at all rows together"),
        (MutualProximity(Gower()), "looks at all rows together"),
        (Gower(weights="relieff"), "learned weights ('relieff')"),
        (StochasticForest(4, 2, missing="by_mass"), "the mass of missing values"),
        (Gower(distances={"size": lambda a, b: abs(a - b)}), "'size'"),
    ],
)
def test_the_part_that_cannot_is_named(measure, part, lazy):
    with pytest.raises(InvalidInput) as found:
        measure.fit(lazy)
    assert part in str(found.value)


def test_a_target_and_the_rows_themselves_are_not_there(lazy):
    with pytest.raises(InvalidInput, match="a target"):
        Gower().fit(lazy, "size")
    fitted = Gower().fit(lazy)
    assert fitted.n_streamed_ == 40
    for ask in (
        lambda: fitted.kneighbors(n_neighbors=2),
        lambda: fitted.distance(),
        lambda: fitted.explain(0, 1),
        lambda: fitted.neighbors({"size": [1.0], "other": [1.0]}, 2),
    ):
        with pytest.raises(InvalidInput, match="stayed in their files"):
            ask()
    assert fitted.distance([{"size": 1, "other": 1}], [{"size": 2, "other": 1}]).shape == (1, 1)
    assert not hasattr(fitted.fit({"size": [1.0, 2.0]}), "n_streamed_")


def test_it_is_saved_and_loaded(lazy, tmp_path):
    for measure in (Gower(), Ranked()):
        measure.fit(lazy).save(tmp_path / "m.lookalike")
        again = la.load(tmp_path / "m.lookalike")
        assert learned(again) == learned(measure)
        assert again.n_fitted_rows == 40


def test_infinite_and_missing_numbers_name_their_row(tmp_path):
    sizes = np.arange(30.0)
    sizes[17] = np.inf
    lazy = read_table(cut(pa.table({"size": sizes}), tmp_path / "in", [10]), lazy=True)
    for measure in (Gower(), Gower(scale="rank"), Ranked()):
        with pytest.raises(InvalidInput, match="row 17"):
            measure.fit(lazy)
