import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from lookalike.columns import Jaccard, Levenshtein
from lookalike.errors import InvalidInput, UndefinedMeasure
from lookalike.hubness import MutualProximity
from lookalike.measures import Gower
from lookalike.measures.contract.matrices import square
from lookalike.prediction import RandomSimilarityForestRegressor
from lookalike.table import read_table
from lookalike.testing import frames
from lookalike.testing.strategies import LEVELS
from measures import reference

ONE = np.array([[1.0, 2, 3, 1], [1, 3, 3, np.nan], [1, 3, 3, 5]])
RANGES = {f"x{j}": 4.0 for j in range(4)}


def example_two(**options):
    """Two flags, a category, a level and a number of range 10; frequencies 2 : 1 : 1."""
    rows = {
        "d1": [True, True, False, True],
        "d2": [False, False, True, True],
        "color": ["red", "blue", "red", "blue"],
        "level": ["low", "mid", "high", "low"],
        "size": [2.0, 7.0, 10.0, 0.0],
    }
    return Gower({"level": list(LEVELS)}, **options).fit(rows)


def test_worked_example_one_ignoring_missing_cells():
    s = Gower(ranges=RANGES).fit(ONE).similarity()
    assert_allclose([s[0, 1], s[0, 2], s[1, 2]], [11 / 12, 11 / 16, 1])
    assert np.linalg.det(s) == pytest.approx(-121 / 2304)


@pytest.mark.parametrize("value", np.linspace(1, 5, 9))
def test_any_value_for_the_missing_cell_makes_it_positive_again(value):
    s = Gower(ranges=RANGES).fit(np.nan_to_num(ONE, nan=value)).similarity()
    assert np.linalg.eigvalsh(s).min() > -1e-12


def test_worked_example_one_with_midpoints():
    s = Gower(ranges=RANGES, missing="midpoint").fit(ONE).similarity()
    assert_allclose([s[0, 1], s[1, 2]], [13 / 16, 7 / 8])
    assert np.linalg.det(s) == pytest.approx(0.0791015625)


def test_worked_example_two():
    assert example_two().similarity()[0, 1] == pytest.approx(0.444173, abs=1e-6)
    weighted = example_two(weights={"color": 2.0})
    assert weighted.similarity()[0, 1] == pytest.approx(0.355338, abs=1e-6)
    assert example_two(weights=[1, 1, 2, 1, 1]).similarity()[0, 1] == weighted.similarity()[0, 1]


def test_worked_explanation():
    explained = example_two().explain(0, 1)
    assert_allclose(list(explained.plus.values()), [0.25, 0, 0, 0.069173, 0.125], atol=1e-6)
    assert_allclose(list(explained.minus.values()), [0, 0, 0.25, 0.180827, 0.125], atol=1e-6)
    assert list(explained.plus) == ["d1", "d2", "color", "level", "size"]
    assert explained.reasons(1) == ([("d1", 0.25)], [("color", 0.25)])


def facts_of(columns, kinds):
    facts = []
    for name, kind in kinds.items():
        there = [v for v in columns[name] if v is not None]
        if kind == "number":
            facts.append(max(there) - min(there) if there else 0)
        elif kind == "order":
            facts.append([there.count(level) for level in range(3)])
        else:
            facts.append(None)
    return facts


@pytest.mark.parametrize("missing", ["ignore", "midpoint", "pessimistic"])
@given(data=st.data())
def test_the_kernel_equals_its_slow_reference(missing, data):
    """On mixed tables with gaps, fully missing rows and columns included; new rows too."""
    columns, said = data.draw(frames(min_rows=3, max_rows=9))
    kinds = {n: "order" if isinstance(k, list) else k for n, k in said.items()}
    n = len(next(iter(columns.values())))
    if data.draw(st.booleans()):  # a fully missing row
        for values in columns.values():
            values[1] = None
    columns["rest"], said["rest"], kinds["rest"] = [0.5] * n, "number", "number"
    if data.draw(st.booleans()):  # a fully missing column among the fitted rows
        hole = data.draw(st.sampled_from(list(columns)))
        if hole != "rest":
            columns[hole] = [None] * (n - 1) + columns[hole][-1:]
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(kinds), max_size=len(kinds)))
    weights[-1] = 1
    if n > 2:
        columns["rest"][2] = None
    table = la.read_table(columns, kinds=said)
    if set(table.names) != set(columns):  # nothing at all in a column: it is set aside
        return
    fitted = table[: n - 1] if data.draw(st.booleans()) else table
    measure = Gower(weights=weights, missing=missing).fit(fitted)
    slow_columns = {
        name: [LEVELS.index(v) if kinds[name] == "order" and v is not None else v for v in values]
        for name, values in columns.items()
    }
    used = {name: values[: len(fitted)] for name, values in slow_columns.items()}
    facts = facts_of(used, kinds)
    rows = list(zip(*slow_columns.values(), strict=True))
    found = measure.block(measure.encode(table), measure.rows_, "similarity")
    for i, x in enumerate(rows):
        for j, y in enumerate(rows[: len(fitted)]):
            slow = reference.gower(kinds.values(), x, y, facts, weights, missing)
            if slow is None:
                assert np.isnan(found[i, j])
            else:
                assert found[i, j] == pytest.approx(slow, abs=1e-12)


@given(data=st.data())
def test_complete_data_give_a_positive_semi_definite_matrix(data):
    columns, said = data.draw(frames(min_rows=3, missing=False))
    columns["rest"], said["rest"] = [0.0] * len(next(iter(columns.values()))), "category"
    s = Gower(said).fit(columns).similarity()
    assert np.linalg.eigvalsh(s).min() > -1e-8


@given(data=st.data(), factor=st.sampled_from([0.25, 3.0]))
def test_units_and_scaled_weights_change_nothing(data, factor):
    columns, said = data.draw(frames(kinds=("number", "category"), min_rows=3, missing=False))
    before = Gower(said).fit(columns).similarity()
    changed = {
        name: [factor * v - 7 for v in values] if said[name] == "number" else values
        for name, values in columns.items()
    }
    for name in [name for name in columns if said[name] == "number"]:
        # a difference that the shift itself has rounded away is not there to be found
        assume(
            np.allclose(
                np.diff(changed[name]), factor * np.diff(columns[name]), rtol=1e-10, atol=0.0
            )
        )
    after = Gower(said, weights=[factor] * len(columns)).fit(changed).similarity()
    assert_allclose(after, before, atol=1e-9)
    twice = columns | {f"{name} again": values for name, values in columns.items()}
    said = said | {f"{name} again": kind for name, kind in said.items()}
    assert_allclose(Gower(said).fit(twice).similarity(), before, atol=1e-12)


def test_weight_zero_is_dropping_the_column():
    rows = {"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]}
    dropped = Gower().fit({"a": rows["a"]}).similarity()
    assert_array_equal(Gower(weights={"b": 0}).fit(rows).similarity(), dropped)


def test_shapes_of_the_number_similarity():
    s = Gower(alpha=2.0, beta=0.5).fit([[0.0], [1.0], [4.0]]).similarity()
    assert s[0, 1] == pytest.approx((1 - 0.25**0.5) ** 2)


def test_constant_columns():
    rows = {"k": [3.0, 3.0], "x": [0.0, 1.0]}
    kept, dropped = Gower().fit(rows), Gower(constant="drop").fit(rows)
    assert kept.similarity()[0, 1] == 0.5
    assert dropped.similarity()[0, 1] == 0.0
    assert_array_equal(kept.similarity({"k": [4.0], "x": [0.0]}), [[0.5, 0.0]])
    with pytest.raises(UndefinedMeasure):
        Gower(constant="drop").fit({"k": [3.0, 3.0]}).similarity()


def test_values_outside_the_fitted_range_are_as_unlike_as_its_ends():
    assert Gower().fit([[0.0], [10.0]]).similarity([[25.0]]).tolist() == [[0.0, 0.0]]


def test_unknown_categories_equal_only_themselves():
    measure = Gower().fit({"c": ["a", "b"], "x": [0.0, 1.0]})
    new = {"c": ["new", "new", "newer"], "x": [0.0, 0.0, 0.0]}
    assert_array_equal(measure.similarity(new), [[0.5, 0], [0.5, 0], [0.5, 0]])
    assert_array_equal(measure.similarity(new, new)[0], [1, 1, 0.5])


def test_objects_count_by_their_distance_as_a_share_of_a_scale():
    rows = {
        "tags": [{"a", "b"}, {"b", "c"}, {"d"}],
        "name": ["anna", "anne", "bob"],
        "x": [0.0, 1.0, 2.0],
    }
    measure = Gower({"name": "text"}, distances={"tags": Jaccard(scale=1.0)}).fit(rows)
    levenshtein = measure.plan_.distances["name"]
    assert isinstance(levenshtein, Levenshtein)
    s_name = 1 - 0.25 / levenshtein.scale_
    assert measure.similarity()[0, 1] == pytest.approx((1 / 3 + s_name + 0.5) / 3)


def test_records_are_left_out_until_they_have_a_distance():
    rows = {"at": [{"km": 0}, {"km": 1}, {"km": 5}], "x": [0.0, 1.0, 0.0]}
    assert Gower().fit(rows).schema_.kinds.keys() == {"x"}

    def apart(a, b):
        return abs(a["km"] - b["km"])

    for source in (rows, read_table(rows)):
        measure = MutualProximity(Gower(distances={"at": apart})).fit(source)
        assert measure.schema_.kinds.keys() == {"x", "at"}
    assert_allclose(Gower(distances={"at": apart}).fit(rows).similarity()[0], [1, 0.4, 0.5])
    trees = RandomSimilarityForestRegressor(5, distances={"at": apart}, random_state=0)
    assert trees.fit(rows, [0.0, 1.0, 2.0]).schema_.kinds.keys() == {"x", "at"}
    with pytest.raises(InvalidInput, match="aside: kinds="):
        Gower({"at": "object"}).fit(rows)


def test_a_function_of_two_cells_works_in_every_place():
    def length(a, b):
        return abs(len(a) - len(b))

    rows = {"w": ["a", "abc", "abcde"], "x": [0.0, 0.0, 1.0]}
    measure = Gower({"w": "text"}, distances={"w": length}).fit(rows)
    assert_allclose(measure.similarity()[0], [1, (0.5 + 1) / 2, 0])
    assert measure.kneighbors(n_neighbors=1)[1].ravel().tolist() == [1, 0, 1]
    assert measure.explain(0, 1).minus["w"] == pytest.approx(0.25)


def test_rows_with_nothing_to_compare():
    rows = {"x": [1.0, None, 2.0, 3.0], "c": ["a", None, "b", "a"]}
    with pytest.raises(UndefinedMeasure, match=r"6 pairs without, the first of them rows 0 and 1"):
        Gower().fit(rows).similarity()
    filled = Gower(undefined=0.25).fit(rows)
    assert filled.similarity()[0, 1] == 0.25
    assert filled.distance()[0, 1] == 0.75
    assert filled.similarity()[1, 1] == 1.0


def test_an_empty_row_comes_last_and_breaks_no_search():
    rows = {"x": [1.0, None, 2.0, 9.0], "c": ["a", None, "b", "c"]}
    distances, indices = Gower().fit(rows).kneighbors(n_neighbors=3)
    assert (indices[[0, 2, 3], 2] == 1).all()
    assert indices[1].tolist() == [0, 2, 3]
    assert np.isinf(distances[1]).all()


# -- faults of other packages that are not ours ---------------------------------------------------


def test_two_tables_of_equal_length_are_not_mirrored():
    measure = Gower(ranges={"x0": 10.0}).fit([[0.0], [2.0]])
    assert_allclose(measure.distance([[4.0], [10.0]]), [[0.4, 0.2], [1.0, 0.8]])


def test_a_column_whose_largest_value_is_zero_counts():
    assert Gower().fit([[-4.0], [-2.0], [0.0]]).distance()[0].tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("dtype", ["string", "category", "object", "str"])
def test_pandas_strings_in_every_form(dtype):
    frame = pd.DataFrame(
        {
            "c": pd.Series(["a", "b", None, "a"], dtype=dtype),
            "n": pd.array([1, 2, None, 3], dtype="Int64"),
            "b": pd.array([True, None, False, True], dtype="boolean"),
        }
    )
    s = Gower(undefined=0.0).fit(frame).similarity()  # rows 1 and 2 share no cell
    assert s[0, 3] == pytest.approx((1 + 0 + 1) / 3)
    assert s[0, 1] == pytest.approx((0 + 0.5) / 2)


def test_all_integer_tables_and_lists_of_weights():
    s = Gower(weights=[1, 3]).fit(pd.DataFrame({"a": [1, 2, 3], "b": [4, 4, 5]})).similarity()
    assert s[0, 1] == pytest.approx((0.5 + 3) / 4)


def test_a_pair_has_one_distance_whatever_the_batch():
    measure = Gower().fit({"x": [0.0, 5.0, 10.0], "c": ["a", "b", "a"]})
    new = {"x": [1.0, 9.0, 40.0], "c": ["a", "b", "b"]}
    together = measure.distance(new)
    for i in range(3):
        alone = {name: values[i : i + 1] for name, values in new.items()}
        assert_array_equal(measure.distance(alone)[0], together[i])


def test_polars_and_pandas_agree():
    rows = {"x": [1.0, None, 3.0], "c": ["a", "b", "a"]}
    one, other = (Gower().fit(lib.DataFrame(rows)).similarity() for lib in (pd, pl))
    assert_array_equal(one, other)


def test_missing_in_both_is_no_mismatch_and_the_diagonal_is_one():
    s = Gower().fit({"c": [None, None, "a"], "x": [1.0, 1.0, 2.0]}).similarity()
    assert s[0, 1] == 1.0
    assert_array_equal(np.diagonal(s), 1.0)


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": {"z": 1}}, r"columns of the table, found 'z'"),
        ({"weights": {"x": -1}}, r"weights of at least 0, found -1 for column 'x'"),
        ({"weights": {"x": 0, "c": 0}}, r"a weight above 0, found none"),
        ({"weights": [1.0]}, r"one weight for each of the 2 columns, found 1"),
        ({"weights": {"x": math.nan}}, r"weights of at least 0, found nan"),
        ({"weights": "relief"}, r"Did you mean 'relieff'"),
        ({"weights": "relieff"}, r"a target to learn from, found none"),
        ({"distances": {"z": "jaccard"}}, r"columns of the table, found 'z'"),
        ({"distances": {"c": "jaccard"}}, r"column 'c'.*'jaccard'"),
        ({"ranges": {"q": 3.0}}, r"found 'q'"),
        ({"missing": "drop"}, r"one of 'ignore', 'midpoint'"),
        ({"undefined": 2.0}, r"<= 1"),
        ({"alpha": 0.5}, r"a number >= 1"),
        ({"kinds": {"k": "number"}}, r"'k'"),
    ],
    ids=str,
)
def test_wrong_parameters(options, words):
    with pytest.raises(InvalidInput, match=words):
        Gower(**options).fit({"x": [1.0, 2.0], "c": ["a", "b"]})


def test_y_of_the_wrong_length():
    with pytest.raises(InvalidInput, match=r"each of the 2 rows, found an array of shape \(3,\)"):
        Gower(weights="relieff").fit({"x": [1.0, 2.0]}, [0, 1, 1])


@pytest.mark.parametrize(
    ("column", "kind", "words"),
    [
        ([{"a"}, "bc"], "set", r"'v'.*row 1|row 1.*'v'"),
        ([[1, 2, 3], [1, 2]], "histogram", r"'v'.*row 1|row 1.*'v'"),
        (["low", "top"], ["low", "high"], r"'v'.*'top'"),
    ],
)
def test_cells_that_do_not_fit_their_kind(column, kind, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Gower({"v": kind}).fit({"v": column, "x": [1.0, 2.0]})


def test_an_unknown_level_among_new_rows():
    measure = Gower({"v": ["low", "high"]}).fit({"v": ["low", "high"]})
    with pytest.raises(InvalidInput, match="'top'"):
        measure.similarity({"v": ["top"]})


@pytest.mark.parametrize(
    ("function", "words"),
    [(lambda a, b: math.nan, "nan"), (lambda a, b: 1 / 0, "ZeroDivisionError")],
    ids=["nan", "raises"],
)
def test_a_function_that_fails_names_the_column_and_the_rows(function, words):
    with pytest.raises(InvalidInput, match=rf"'w'.*row.*{words}|{words}.*'w'.*row"):
        Gower({"w": "text"}, distances={"w": function}).fit({"w": ["a", "b"]}).similarity()


def test_a_missing_column_and_infinities_among_new_rows():
    measure = Gower().fit({"x": [1.0, 2.0], "c": ["a", "b"]})
    with pytest.raises(InvalidInput, match="'c'"):
        measure.similarity({"x": [1.0]})
    with pytest.raises(InvalidInput, match="finite numbers, found inf"):
        measure.similarity({"x": [math.inf], "c": ["a"]})


def test_a_shared_no_in_words_counts_and_a_shared_false_does_not():
    """Answers are compared as answers; a flag that is only unset says nothing."""
    words = {"a": ["yes", "no", "no", "yes"], "x": [0.0, 1.0, 0.0, 1.0]}
    truth = {**words, "a": [True, False, False, True]}
    assert Gower().fit(words).similarity()[1, 2] == pytest.approx(0.5)
    assert Gower().fit(truth).similarity()[1, 2] == pytest.approx(0.0)
    explained = Gower(kinds={"a": "flag"}).fit(words)
    assert explained.similarity()[1, 2] == pytest.approx(0.0)


@pytest.mark.parametrize("named", [{"distances": {"w": "levenshtein"}}, {"weights": {"w": 2}}])
def test_a_name_is_compared_where_it_is_given_a_distance_or_a_weight(named):
    words = [f"w{chr(97 + i)}x{chr(122 - i)}" for i in range(24)]
    table = {"w": words, "x": [float(i % 5) for i in range(24)]}
    assert set(Gower().fit(table).schema_.kinds) == {"x"}
    measure = Gower(**named).fit(table)
    assert set(measure.schema_.kinds) == {"w", "x"}
    assert measure.explain(0, 5).similarity < 1


@pytest.mark.parametrize("missing", ["ignore", "midpoint", "pessimistic"])
def test_balanced_columns_differ_alike_on_the_mean(missing):
    rng = np.random.default_rng(0)
    rows = {
        "size": np.where(rng.random(40) < 0.2, np.nan, rng.random(40) ** 3).tolist(),
        "coin": np.array(["heads", "tails"])[rng.integers(0, 2, 40)].tolist(),
        "rare": ["x"] * 39 + ["y"],
        "tags": [["a", "b"][: 1 + i % 2] for i in range(40)],
    }
    kinds = {"rare": "category", "coin": "category"}
    measure = Gower(kinds, weights={"coin": 2.0}, missing=missing).fit(rows)
    balanced = measure.balanced()
    for name in ("size", "coin", "rare"):
        others = {other: 0.0 for other in rows if other != name}
        alone = square(measure.reweighted(others), measure.rows_, undefined="keep")
        mean = np.nanmean(alone[np.triu_indices(40, 1)])
        own = {"coin": 2.0}.get(name, 1.0)
        assert balanced.weights_[name] == pytest.approx(own / max(mean, 0.1))
    assert balanced.weights_["rare"] == 10  # 1 / 0.05, its mean difference, would be 20
    assert balanced.weights_["tags"] > 1
    assert measure.weights_["size"] == 1
