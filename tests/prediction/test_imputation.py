"""Filling missing cells, against slow references; scikit-learn's own checks; forms of tables."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import KNNImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.prediction import NeighborImputer
from lookalike.prediction.imputation import MAX_LEARNED_ROWS, POWERS, TRIED_K, WIDTH, relevance


def mixed(n=90, missing=0.15, seed=0):
    """A frame in which size follows kind, and weight follows size; noise follows nothing."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "kind": np.array(["a", "b", "c"], dtype=object)[kind],
            "size": kind * 10.0 + rng.normal(size=n),
            "noise": rng.normal(size=n),
            "weight": 0.0,
        }
    )
    frame["weight"] = frame["size"] * 2 + rng.normal(size=n)
    whole = frame.copy()
    for name in frame:
        frame.loc[rng.random(n) < missing, name] = None
    return frame, whole


# -- scikit-learn ----------------------------------------------------------------------------------


@parametrize_with_checks([NeighborImputer(), NeighborImputer(3, weights="equal")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_pipeline_takes_it():
    frame, whole = mixed()
    numbers = frame[["size", "noise", "weight"]]
    model = make_pipeline(NeighborImputer(), LogisticRegression(max_iter=500))
    assert model.fit(numbers, whole["kind"]).score(numbers, whole["kind"]) > 0.8
    assert list(model[0].get_feature_names_out()) == list(numbers)
    framed = NeighborImputer().set_output(transform="pandas").fit_transform(numbers.to_numpy())
    assert framed.shape == numbers.shape
    assert not framed.isna().any().any()


# -- the slow reference ----------------------------------------------------------------------------


def difference(table, name, i, j):
    """The difference of two cells: of ranks, or whether levels are equal; 1/2 where one is gone."""
    column = table[name]
    if column.missing[i] or column.missing[j]:
        return 0.5
    if column.kind.name != "number":
        return float(column.values[i] != column.values[j])
    known = column.values[~column.missing]
    ranks = dict(zip(known.tolist(), ((rankdata(known) - 0.5) / len(known)).tolist(), strict=True))
    if len(set(known.tolist())) == 1:
        return 0.0
    return abs(ranks[column.values[i]] - ranks[column.values[j]])


def slow_fill(table, name, row, weights, k):
    """What the definition fills into a cell, and how much donors agree, with plain loops."""
    column = table[name]
    known = [j for j in range(len(table)) if not column.missing[j]]
    others = {c: w for c, w in weights.items() if w > 0}
    if all(table[c].missing[row] for c in others):
        donors, shares = known, [1 / len(known)] * len(known)
    else:
        total = sum(others.values())
        far = {
            j: sum(w * difference(table, c, row, j) for c, w in others.items()) / total
            for j in known
        }
        donors = sorted(known, key=lambda j: (round(far[j], 12), j))[:k]
        h = far[donors[-1]]
        votes = [math.exp(-2 * (far[j] / h) ** 2) if h > 1e-12 else 1.0 for j in donors]
        shares = [vote / sum(votes) for vote in votes]
    values = [column.values[j] for j in donors]
    if column.kind.name == "number":
        mean = sum(s * v for s, v in zip(shares, values, strict=True))
        spread = np.std([column.values[j] for j in known])
        off = math.sqrt(sum(s * (v - mean) ** 2 for s, v in zip(shares, values, strict=True)))
        return mean, 1.0 if spread == 0 else min(1.0, max(0.0, 1 - off / spread))
    votes = {}
    for share, value in zip(shares, values, strict=True):
        votes[value] = votes.get(value, 0.0) + share
    most = max(votes.values())
    return {value for value, vote in votes.items() if vote > most - 1e-9}, most


TABLES = st.lists(
    st.tuples(
        st.sampled_from([None, 0.0, 1.0, 2.0, 5.0, 9.5]),
        st.sampled_from([None, "x", "y", "z"]),
        st.sampled_from([None, 1.5, 2.5, 40.0]),
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=30)
@given(rows=TABLES, k=st.integers(1, 5), weights=st.sampled_from(["equal", "learned"]))
def test_cells_are_those_of_the_definition(rows, k, weights):
    cells = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    table = la.read_table(cells, kinds={"a": "number", "b": "category", "c": "number"})
    model = NeighborImputer(k, weights=weights).fit(table)
    for one in model.impute(table):
        name = one.column.name
        assert_array_equal(one.rows, np.flatnonzero(table[name].missing))
        assert_allclose(one.weights.sum(axis=1), 1.0)
        for i, row in enumerate(one.rows):
            value, agreement = slow_fill(table, name, row, model.weights_[name], k)
            if name == "b":
                assert one.column.values[row] in value
            else:
                assert_allclose(one.column.values[row], value, atol=1e-9)
            assert_allclose(one.agreement[i], agreement, atol=1e-6)
    filled = {one.column.name for one in model.impute(table)}
    assert filled == {c.name for c in table if c.missing.any() and not c.missing.all()}


def test_relevance_is_that_of_the_definition():
    table = la.read_table(mixed(30)[0])
    measure = Gower(scale="rank", missing="midpoint").fit(table)
    found = relevance(measure.plan_, measure.rows_, table)
    for goal in ("size", "kind"):
        column = table[goal]
        known = np.flatnonzero(~column.missing)
        levels = [None] if goal == "size" else range(3)
        y = np.array(
            [column.values if level is None else column.values == level for level in levels], float
        )
        y -= y[:, known].mean(axis=1, keepdims=True)
        for other in ("weight", "noise"):
            lost = 0.0
            for i in known:
                near = [j for j in known if j != i and not table[other].missing[[i, j]].any()]
                votes = [math.exp(-2 * (difference(table, other, i, j) / WIDTH) ** 2) for j in near]
                guess = sum(v * y[:, j] for v, j in zip(votes, near, strict=True)) / (
                    1 + sum(votes)
                )
                lost += ((y[:, i] - guess) ** 2).sum()
            expected = max(0.0, 1 - lost / (y[:, known] ** 2).sum())
            at = table.names.index(other)
            assert_allclose(found[goal][at], expected, atol=1e-5)


def test_the_choice_has_the_smallest_error_on_known_cells():
    """Every choice is tried by hand, by hiding one known cell after the other."""
    frame, _ = mixed(40, 0.1)
    table = la.read_table(frame)
    model = NeighborImputer().fit(table)
    gains = relevance(model.measure_.plan_, model.measure_.rows_, table)["size"]
    column, errors = table["size"], {}
    known = np.flatnonzero(~column.missing)
    names = [name for name in table.names if name != "size"]
    gain = np.array([gains[table.names.index(name)] for name in names])
    for power in POWERS:
        share = 0.98 * gain**power / (gain**power).sum() + 0.02 / len(gain)
        weights = {"size": 0.0} | dict(zip(names, share.tolist(), strict=True))
        far = model.measure_.reweighted(weights).distance()[np.ix_(known, known)]
        np.fill_diagonal(far, np.inf)
        order = np.argsort(far, axis=1, kind="stable")
        for k in TRIED_K:
            if k < len(known):
                near = order[:, :k]
                d = np.take_along_axis(far, near, axis=1)
                votes = np.exp(-2 * (d / d[:, -1:]) ** 2)
                filled = (votes * column.values[known][near]).sum(axis=1) / votes.sum(axis=1)
                wrong = filled - column.values[known]
                errors[power, k] = math.sqrt((wrong**2).mean()) / column.values[known].std()
    assert_allclose(model.errors_["size"], min(errors.values()), rtol=1e-9)
    assert model.n_neighbors_["size"] == min(errors, key=errors.get)[1]


# -- what it is for --------------------------------------------------------------------------------


def errors_of(filled, frame, whole):
    gone = frame["size"].isna()
    sizes = np.sqrt(((filled["size"] - whole["size"])[gone] ** 2).mean()) / whole["size"].std()
    return sizes, (filled["kind"] != whole["kind"])[frame["kind"].isna()].mean()


def test_learned_weights_beat_equal_ones_and_one_hot_neighbors():
    frame, whole = mixed(300)
    numbers = pd.get_dummies(frame["kind"]).astype(float)
    numbers[frame["kind"].isna()] = np.nan
    x = pd.concat([frame[["size", "noise", "weight"]].astype(float), numbers], axis=1)
    x = (x - x.mean()) / x.std()
    rival = KNNImputer().fit_transform(x)
    rival = pd.DataFrame(
        {
            "size": rival[:, 0] * frame["size"].astype(float).std() + frame["size"].mean(),
            "kind": np.array(["a", "b", "c"])[rival[:, 3:].argmax(axis=1)],
        }
    )
    ours = errors_of(NeighborImputer().fit_transform(frame), frame, whole)
    equal = errors_of(NeighborImputer(weights="equal").fit_transform(frame), frame, whole)
    others = errors_of(rival, frame, whole)
    assert ours[0] < min(equal[0], others[0])
    assert ours[1] <= min(equal[1], others[1])


def test_weights_follow_what_predicts_a_column():
    model = NeighborImputer().fit(mixed(200)[0])
    weights = model.weights_["weight"]
    assert weights["noise"] < 0.1 < min(weights["size"], weights["kind"])
    assert_allclose(sum(weights.values()), 1.0)
    assert "weight" not in weights
    random = np.random.default_rng(1)
    shuffled = mixed(200)[0].apply(lambda column: random.permutation(column.to_numpy()))
    assert NeighborImputer().fit(shuffled).errors_["weight"] > 3 * model.errors_["weight"]


def test_new_rows_are_filled_from_the_fitted_ones():
    frame, whole = mixed(200)
    model = NeighborImputer().fit(frame[:150])
    new = frame[150:].copy()
    filled = model.transform(new)
    assert list(filled.index) == list(new.index)
    pd.testing.assert_frame_equal(filled.where(new.notna()), new.where(new.notna()))
    assert (filled["kind"] == whole["kind"][150:]).mean() > 0.9
    (one,) = [one for one in model.impute(new) if one.column.name == "kind"]
    assert one.donors.max() < 150
    assert not frame["kind"][:150].isna().to_numpy()[one.donors].any()


def test_columns_that_are_compared_as_one_do_not_fill_each_other():
    places = {
        "latitude": [52.5, 52.4, 48.1, 48.2, 52.6, 48.0],
        "longitude": [13.4, 13.5, 11.6, 11.5, None, 11.4],
        "town": ["B", "B", "M", "M", "B", "M"],
    }
    model = NeighborImputer(2).fit(
        la.read_table(places, kinds={("latitude", "longitude"): "place"})
    )
    assert set(model.weights_["longitude"]) == {"town"}
    assert model.transform(places)["longitude"][4] == pytest.approx(13.45)


# -- kinds -----------------------------------------------------------------------------------------

SIX = ["x", "x", "x", "y", "y", "y"]
KINDS = {
    "date": (pd.to_datetime(["2020-01-01", None, "2020-01-03", *["2021-01-05"] * 3]), None),
    "text": (["red car", None, "red cars", "a house", "the house", "houses"], "text"),
    "set": ([["a", "b"], None, ["a"], ["c"], ["c", "d"], ["d"]], None),
    "order": (["low", None, "low", "high", "high", "high"], {"low": 0, "high": 1}),
    "flag": ([True, None, True, False, False, False], None),
    "cycle": ([23.0, None, 1.0, 12.0, 13.0, 12.0], "cycle:24"),
    "vector": ([[1.0, 2.0], None, [1.0, 2.5], [8.0, 9.0], [8.0, 9.5], [7.0, 9.0]], "vector"),
    "series": ([[1.0, 2.0], None, [1.0], [8.0, 9.0], [8.0], [7.0, 9.0]], "series"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_have_a_cell_that_occurs(kind):
    cells, given = KINDS[kind]
    kinds = {"cell": ["low", "high"]} if kind == "order" else {"cell": given} if given else None
    table = la.read_table({"cell": list(cells), "group": SIX}, kinds=kinds)
    column = NeighborImputer(2).fit_transform(table)["cell"]
    assert not column.blank.any()
    # Only rows of its group are donors: the cell is that of one of them, not a mean.
    assert any(np.array_equal(column.values[1], column.values[row]) for row in (0, 2))
    drawn = NeighborImputer(2, random_state=0).fit(table).draw(table, 8)
    found = [[np.array_equal(one["cell"].values[1], table["cell"].values[j]) for j in (0, 2)]
             for one in drawn]  # fmt: skip
    assert all(map(any, found))


# -- draws -----------------------------------------------------------------------------------------


def test_draws_are_cells_of_donors_by_their_share():
    frame, _ = mixed(60)
    model = NeighborImputer(4, random_state=0).fit(frame)
    drawn = model.draw(frame, 60)
    (one,) = [one for one in model.impute(frame) if one.column.name == "size"]
    row, donors, shares = one.rows[0], one.donors[0], one.weights[0]
    values = np.array([table["size"][row] for table in drawn])
    counts = [(values == frame["size"][donor]).mean() for donor in donors]
    assert sum(counts) == pytest.approx(1.0)
    assert_allclose(counts, shares, atol=0.25)
    again = NeighborImputer(4, random_state=0).fit(frame).draw(frame, 60)
    assert all(a.equals(b) for a, b in zip(drawn, again, strict=True))
    assert not drawn[0].equals(drawn[1])


# -- forms -----------------------------------------------------------------------------------------


def test_a_frame_comes_back_as_it_came():
    rows = {"n": [1, None, 3, 4], "c": ["a", "b", None, "a"], "d": [0.5, 1.5, 2.5, None]}
    pandas = pd.DataFrame(rows, index=list("wxyz")).astype({"n": "Int64", "c": "category"})
    done = NeighborImputer(1).fit_transform(pandas)
    assert dict(done.dtypes.astype(str)) == {"n": "Int64", "c": "category", "d": "float64"}
    assert list(done.index) == list("wxyz")
    assert not done.isna().any().any()
    assert pandas.isna().sum().sum() == 3
    for frame in (pl.DataFrame(rows), pa.table(rows)):
        done = NeighborImputer(1).fit_transform(frame)
        assert type(done) is type(frame)
        assert done.schema == frame.schema
        nulls = [column.null_count for column in done.columns] if isinstance(frame, pa.Table) else [
            done.null_count().row(0)]  # fmt: skip
        assert not np.any(nulls)
    words = pd.DataFrame({"price": ["1,5 kg", None, "2,5 kg", "9,0 kg"], "c": list("aabb")})
    done = NeighborImputer(1).fit_transform(words)
    assert done["price"].tolist() == [1.5, 1.5, 2.5, 9.0]  # as numbers, all of them
    lists = {"tags": [["a"], None, ["b"]], "x": [1.0, 1.1, 9.0]}
    assert (
        pl.DataFrame(lists).schema == NeighborImputer(1).fit_transform(pl.DataFrame(lists)).schema
    )
    assert isinstance(NeighborImputer(1).fit_transform(rows), pd.DataFrame)
    assert isinstance(NeighborImputer(1).fit_transform(la.read_table(rows)), la.Table)


def test_columns_that_are_named_are_filled_and_no_others():
    frame, _ = mixed(60)
    done = NeighborImputer(columns=["size"]).fit_transform(frame)
    assert not done["size"].isna().any()
    assert done["noise"].isna().sum() == frame["noise"].isna().sum()
    assert NeighborImputer(columns="size").fit_transform(frame).equals(done)


def test_a_saved_imputer_fills_the_same(tmp_path):
    frame, _ = mixed(60)
    model = NeighborImputer(columns=["size", "kind"]).fit(frame)
    model.save(tmp_path / "imputer.lookalike")
    again = la.load(tmp_path / "imputer.lookalike")
    assert again.transform(frame).equals(model.transform(frame))
    assert again.weights_ == model.weights_


def test_of_a_large_table_a_sample_is_learned_from():
    frame, _ = mixed(MAX_LEARNED_ROWS + 50)
    a, b = (NeighborImputer(random_state=seed).fit(frame) for seed in (0, 1))
    assert a.errors_ != b.errors_
    assert NeighborImputer().fit(frame).errors_ == NeighborImputer().fit(frame).errors_


# -- bad input -------------------------------------------------------------------------------------


def test_what_cannot_be_filled_stays():
    frame = pd.DataFrame({"empty": [None] * 3, "x": [1.0, None, 3.0], "c": ["a", "b", None]})
    done = NeighborImputer().fit_transform(frame)
    assert done["empty"].isna().all()
    assert not done[["x", "c"]].isna().any().any()
    alone = NeighborImputer().fit_transform({"x": [1.0, None, 4.0]})
    assert alone["x"].tolist() == [1.0, 2.5, 4.0]
    (one,) = NeighborImputer().fit({"x": [1.0, None, 4.0]}).impute({"x": [1.0, None, 4.0]})
    assert (one.donors == -1).all()


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_bad_input_is_refused():
    frame, _ = mixed(20)
    with pytest.raises(InvalidInput, match="columns.*'sise'.*size"):
        NeighborImputer(columns=["sise"]).fit(frame)
    with pytest.raises(InvalidInput, match="n_neighbors"):
        NeighborImputer(0).fit(frame)
    with pytest.raises(InvalidInput, match="weights"):
        NeighborImputer(weights="best").fit(frame)
    with pytest.raises(InvalidInput, match="at least one row"):
        NeighborImputer().fit(frame[:0])
    with pytest.raises(NotFittedError):
        NeighborImputer().transform(frame)
    model = NeighborImputer().fit(frame)
    with pytest.raises(InvalidInput, match="n_draws"):
        model.draw(frame, 0)
    with pytest.raises(InvalidInput, match="noise"):
        model.transform(frame.drop(columns="noise"))
    # More donors than there are: all of them.
    assert NeighborImputer(1000).fit(frame).impute(frame)[0].donors.shape[1] < 20


def test_an_unknown_level_is_not_missing():
    model = NeighborImputer(1).fit({"c": ["a", "b", "a"], "x": [1.0, 9.0, 1.0]})
    done = model.transform(pd.DataFrame({"c": ["new", None], "x": [None, 9.0]}))
    assert done["c"].tolist() == ["new", "b"]


def test_forests_run_on_what_it_fills():
    frame, whole = mixed(120)
    done = NeighborImputer().fit_transform(frame)
    x = pd.get_dummies(done)
    assert RandomForestClassifier(20, random_state=0).fit(x, whole["kind"]).score(x, whole["kind"])
