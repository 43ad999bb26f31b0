"""Gradient boosters: the leaves that each library predicts, with missing cells and categories."""

import copy
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import lookalike as la
from lookalike.errors import InvalidInput, WrongType
from lookalike.measures import ForestProximity, Shi
from lookalike.trees.adapters import adapt_model

pd = pytest.importorskip("pandas", reason="models with categories are fitted on frames")
WORDS = list("abcdefghijkl")


def make(seed, n=300, numeric_only=False, missing=0.1):
    """Two columns of numbers, one with zeros, and two of categories; a target that needs all."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "color": pd.Categorical(rng.choice(WORDS, n), categories=WORDS),
            "count": rng.integers(-2, 3, n).astype(float),
            "code": pd.Categorical(rng.choice([30, 10, 20], n)),
        }
    )
    y = np.where(frame["color"].isin(list("bdfk")), 2.0, 0.0) + frame["size"] * (frame["count"] > 0)
    y = y + np.where(frame["code"] == 20, 1.0, 0.0) + rng.normal(size=n) / 5
    for name in frame:
        frame.loc[rng.random(n) < missing, name] = None
    return (frame[["size", "count"]] if numeric_only else frame), y.to_numpy(), rng


def same_leaves(ours, theirs):
    theirs = np.asarray(theirs).reshape(len(ours), -1)
    assert ours.shape == theirs.shape
    for mine, own in zip(ours.T.astype(int), theirs.T, strict=True):
        pairs = np.unique(np.stack([mine, own.astype(int)]), axis=1)
        assert pairs.shape[1] == len(np.unique(mine)) == len(np.unique(own))


def check(model, frame, leaves, new):
    """Fitted rows and new ones reach the leaves of the library, through a table and its kinds."""
    measure = ForestProximity("shi", model=model).fit(frame)
    both = pd.concat([frame, new], ignore_index=True)
    codes = measure.encode(both).arrays["codes"]
    same_leaves(codes, leaves(both))
    assert_array_equal(measure.rows_.arrays["codes"], codes[: len(frame)])
    theirs = np.asarray(leaves(frame)).reshape(len(frame), -1)
    shared = (theirs[:, None] == theirs[None]).mean(axis=2)
    assert_allclose(measure.similarity(), shared, atol=1e-12)
    gain = adapt_model(model).gain
    weighted = ForestProximity(Shi(weights="gain"), model=model).fit(frame).similarity()
    by_gain = (theirs[:, None] == theirs[None]) @ (gain / gain.sum())
    np.fill_diagonal(by_gain, 1.0)
    assert_allclose(weighted, by_gain, atol=1e-12)
    return measure


# -- XGBoost ---------------------------------------------------------------------------------------


def xgboost():
    return pytest.importorskip("xgboost", reason="XGBoost is an extra: lookalike[boosters]")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("one_hot", [2, 50])
def test_xgboost_with_categories(seed, one_hot):
    xgb = xgboost()
    frame, y, _ = make(seed)
    options = {"enable_categorical": True, "max_cat_to_onehot": one_hot, "random_state": seed}
    model = xgb.XGBRegressor(n_estimators=12, max_depth=5, **options).fit(frame, y)
    new = make(seed + 100, 50, missing=0.3)[0]
    measure = check(model, frame, model.apply, new)
    tested = sum(
        'split_condition": [' in tree for tree in model.get_booster().get_dump("", False, "json")
    )
    assert tested or one_hot == 50
    gains = [
        sum(float(part.split(",")[0]) for part in tree.split("gain=")[1:])
        for tree in model.get_booster().get_dump(with_stats=True)
    ]
    assert_allclose(measure.inputs_.model.gain, gains, rtol=1e-5)


def test_xgboost_in_its_other_forms():
    """Native, several classes, DART, without names, and stopped early."""
    xgb = xgboost()
    frame, y, _ = make(0, numeric_only=True)
    classes = np.digitize(y, [0.5, 1.5])
    new = make(100, 50, numeric_only=True)[0]
    model = xgb.XGBClassifier(n_estimators=4, max_depth=3).fit(frame, classes)
    check(model, frame, model.apply, new)
    rows = xgb.DMatrix(frame, y)
    for booster in ("gbtree", "dart"):
        native = xgb.train({"booster": booster, "max_depth": 4}, rows, 6)
        check(native, frame, lambda X, m=native: m.predict(xgb.DMatrix(X), pred_leaf=True), new)
    plain = xgb.XGBRFRegressor(n_estimators=5, random_state=0).fit(frame.to_numpy(), y)
    codes = ForestProximity("shi", model=plain).fit(frame.to_numpy()).rows_.arrays["codes"]
    same_leaves(codes, plain.apply(frame.to_numpy()))
    stopped = xgb.XGBRegressor(n_estimators=200, early_stopping_rounds=2, learning_rate=0.5)
    stopped.fit(frame[:150], y[:150], eval_set=[(frame[150:], y[150:])], verbose=False)
    assert adapt_model(stopped).forest.n_trees == stopped.best_iteration + 1 < 200
    check(stopped, frame, stopped.apply, new)


def test_xgboost_of_lines_is_refused():
    xgb = xgboost()
    model = xgb.train({"booster": "gblinear"}, xgb.DMatrix(np.eye(4), np.arange(4)), 2)
    with pytest.raises(InvalidInput, match="the booster 'gblinear'"):
        adapt_model(model)
    with pytest.raises(InvalidInput, match="XGBRegressor, which is not fitted"):
        adapt_model(xgb.XGBRegressor())


def test_damaged_xgboost_models_are_refused():
    xgb = xgboost()
    model = xgb.train({"max_depth": 2}, xgb.DMatrix(np.eye(4), np.arange(4)), 2)
    whole = json.loads(bytes(model.save_raw("json")))
    for key, value in (("split_indices", 99), ("left_children", 0), ("split_conditions", np.nan)):
        damaged = copy.deepcopy(whole)
        damaged["learner"]["gradient_booster"]["model"]["trees"][0][key][0] = value
        wrong = xgb.Booster()
        wrong.load_model(bytearray(json.dumps(damaged).encode()))
        with pytest.raises(InvalidInput, match="tests of one of 4|reached once|a threshold in"):
            adapt_model(wrong)
    fitted = xgb.XGBRegressor(n_estimators=2).fit(np.eye(4), np.arange(4))
    fitted.get_booster().set_attr(best_iteration="999")
    assert adapt_model(fitted).forest.n_trees == 2


# -- LightGBM --------------------------------------------------------------------------------------


def lightgbm():
    return pytest.importorskip("lightgbm", reason="LightGBM is an extra: lookalike[boosters]")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("zeros", [False, True])
def test_lightgbm_with_categories(seed, zeros):
    lgb = lightgbm()
    frame, y, _ = make(seed)
    options = {"min_child_samples": 3, "min_data_per_group": 3, "cat_smooth": 1, "verbose": -1}
    model = lgb.LGBMRegressor(n_estimators=12, zero_as_missing=zeros, **options).fit(frame, y)
    new = make(seed + 100, 50, missing=0.3)[0]
    measure = check(model, frame, lambda X: model.predict(X, pred_leaf=True), new)
    dump = json.dumps(model.booster_.dump_model())
    assert '"=="' in dump
    assert ('"missing_type": "Zero"' in dump) == zeros
    assert measure.inputs_.model.zeros.any() == zeros


def test_lightgbm_in_its_other_forms():
    """Native, several classes, names with spaces, no missing values in training, stopped early."""
    lgb = lightgbm()
    frame, y, _ = make(1, numeric_only=True, missing=0.0)
    frame.columns = ["the size", "the count"]
    new = make(101, 50, numeric_only=True, missing=0.4)[0].set_axis(frame.columns, axis=1)
    options = {"min_child_samples": 3, "verbose": -1}
    model = lgb.LGBMClassifier(n_estimators=3, **options).fit(frame, np.digitize(y, [0.5, 1.5]))
    check(model, frame, lambda X: model.predict(X, pred_leaf=True), new)
    native = lgb.train({"verbose": -1}, lgb.Dataset(frame.to_numpy(), y), 4)
    codes = ForestProximity("shi", model=native).fit(frame.to_numpy()).rows_.arrays["codes"]
    same_leaves(codes, native.predict(frame.to_numpy(), pred_leaf=True))
    parts = [lgb.Dataset(frame[rows], y[rows]) for rows in (slice(150), slice(150, None))]
    stopped = lgb.train(
        {"learning_rate": 0.5, **options}, parts[0], 200, parts[1:],
        callbacks=[lgb.early_stopping(2, verbose=False)],
    )  # fmt: skip
    assert adapt_model(stopped).forest.n_trees == stopped.best_iteration < 200
    check(stopped, frame, lambda X: stopped.predict(X, pred_leaf=True), new)
    with pytest.raises(InvalidInput, match="LGBMRegressor, which is not fitted"):
        adapt_model(lgb.LGBMRegressor())


# -- CatBoost --------------------------------------------------------------------------------------


def catboost(**options):
    cb = pytest.importorskip("catboost", reason="CatBoost is an extra: lookalike[boosters]")
    return cb.CatBoostRegressor(iterations=10, verbose=0, allow_writing_files=False, **options)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("side", ["Min", "Max"])
def test_catboost_with_numbers(policy, side):
    frame, y, _ = make(2, numeric_only=True)
    model = catboost(depth=4, grow_policy=policy, nan_mode=side).fit(frame, y)
    new = make(102, 50, numeric_only=True, missing=0.4)[0]
    check(model, frame, model.calc_leaf_indexes, new)


@pytest.mark.parametrize("options", [{}, {"one_hot_max_size": 20}, {"max_ctr_complexity": 3}])
def test_catboost_with_categories(options, tmp_path):
    frame, y, _ = make(3)
    words = ["color", "code"]

    def texts(rows):
        # The usual way round its rule that categories are not missing.
        return rows.astype(dict.fromkeys(words, object)).assign(
            **{name: rows[name].astype(object).map(str) for name in words}
        )

    frame, new = texts(frame), texts(make(103, 50, missing=0.3)[0])
    model = catboost(depth=4, cat_features=words, **options).fit(frame, y)
    measure = check(model, frame, model.calc_leaf_indexes, new)
    assert measure.inputs_.model.asked
    reasons = measure.explain(0, 1)
    assert sum(reasons.minus.values()) == pytest.approx(1 - reasons.similarity)
    with pytest.raises(WrongType, match="with categories, which is asked for leaves itself"):
        measure.save(tmp_path / "measure.lookalike")
    other = catboost(depth=4, cat_features=words, grow_policy="Lossguide").fit(frame, y)
    with pytest.raises(InvalidInput, match="symmetric trees"):
        adapt_model(other)


def test_catboost_that_is_not_fitted():
    with pytest.raises(InvalidInput, match="CatBoostRegressor, which is not fitted"):
        adapt_model(catboost())


# -- scikit-learn's histogram booster --------------------------------------------------------------


def test_histogram_boosters_are_refused_with_what_to_use_instead():
    frame, y, _ = make(0, numeric_only=True)
    for model in (HistGradientBoostingRegressor(max_iter=3).fit(frame, y),
                  HistGradientBoostingClassifier()):  # fmt: skip
        with pytest.raises(InvalidInput, match="does not show.*Use LightGBM"):
            adapt_model(model)


# -- all of them -----------------------------------------------------------------------------------


def test_one_line_search_leaves_other_columns_out_and_saves(tmp_path):
    frame, y, _ = make(4)
    model = lightgbm().LGBMRegressor(n_estimators=10, min_child_samples=5, verbose=-1).fit(frame, y)
    table = frame.assign(price=y, same=1.0)
    hits = la.search(table, row=3, measure=ForestProximity(model=model))
    assert len(hits) == 10
    measure = ForestProximity(Shi(weights="gain"), model=model).fit(table)
    assert list(measure.schema_.kinds) == list(frame)
    path = tmp_path / "measure.lookalike"
    measure.save(path)
    loaded = la.load(path)
    assert_array_equal(loaded.similarity(frame[:20]), measure.similarity(frame[:20]))
    assert_array_equal(loaded.fit(table).similarity(), measure.similarity())
    index = la.Index(ForestProximity(model=model)).fit(table)
    index.save(path)
    found, again = index.search(3), la.load(path).search(3)
    assert [hit.id for hit in found] == [hit.id for hit in again]
    assert found[0].similarity == again[0].similarity
    with pytest.raises(InvalidInput, match="no column 'color'"):
        ForestProximity(model=model).fit(frame.drop(columns="color"))


def test_missing_cells_answer_as_the_model_sends_them():
    """In ratio, too: a row without any value is not like all others."""
    frame, y, _ = make(5, numeric_only=True)
    model = lightgbm().LGBMRegressor(n_estimators=10, min_child_samples=5, verbose=-1).fit(frame, y)
    measure = ForestProximity(model=model).fit(frame)
    nothing = pd.DataFrame({"size": [None], "count": [None]}, dtype=float)
    s = measure.similarity(nothing)[0]
    alike = (measure.encode(nothing).arrays["codes"] == measure.rows_.arrays["codes"]).all(axis=1)
    assert_allclose(s[alike], 1.0)
    assert s[~alike].max() < 1.0
