import io
import itertools
import json
import math
import sys
import zipfile
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.clustering import MixedKMeans, SimilarityClustering
from lookalike.columns import RankShare
from lookalike.columns.ragged import Ragged
from lookalike.errors import InvalidInput, UnreadableFile, WrongType
from lookalike.measures import Gower, StochasticForest, Vector
from lookalike.saving import encode as _save
from lookalike.saving.decode import read
from lookalike.saving.encode import SAVEABLE, array_name
from lookalike.saving.fields import (
    Array,
    Choice,
    Either,
    Flag,
    Instance,
    Integer,
    ListOf,
    MapOf,
    Maybe,
    Misfit,
    Offsets,
    Real,
    Saved,
    Text,
    check_fields,
    fields_of,
    parameters_of,
)
from lookalike.saving.load import import_packages
from lookalike.saving.safe_json import json_depth, parse_json
from lookalike.trees.thresholds.flat import check_preorder, flatten

X = [[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]


def ours():
    import_packages()
    return [cls for cls in SAVEABLE.values() if cls.__module__.startswith("lookalike.")]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "rows.lookalike"
    Vector("cityblock").fit(X).save(path)
    return path


def rewrite(path, change=lambda page, arrays: None, how=zipfile.ZIP_STORED, extra=()):
    """Write a saved file again, changed, with fresh checksums."""
    with zipfile.ZipFile(path) as pack:
        page = json.loads(pack.read("measure.json"))
        arrays = [
            np.load(io.BytesIO(pack.read(array_name(at)))) for at in range(len(pack.namelist()) - 1)
        ]
    change(page, arrays)
    with zipfile.ZipFile(path, "w", how) as pack:
        pack.writestr("measure.json", json.dumps(page))
        for at, array in enumerate(arrays):
            text = io.BytesIO()
            np.lib.format.write_array(text, array, allow_pickle=False)
            pack.writestr(array_name(at), text.getvalue())
        for name in extra:
            pack.writestr(name, b"x")


# -- the declarations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "words", "good", "bad"),
    [
        (Integer(1), "an integer >= 1", [1, np.int64(3), sys.maxsize], [0, True, 1.0, 2**63, None]),
        (Integer(), "an integer", [-5], [False, "1"]),
        (Integer(0, 9), "an integer >= 0 and <= 9", [9], [10]),
        (Integer(0, math.inf), "an integer >= 0", [2**128], [-1]),
        (Real(0.0), "a number >= 0", [0, 1.5, math.inf], [-1.0, math.nan, "1", True, 10**400]),
        (Real(0, 1, open_low=True), "a number > 0 and <= 1", [0.5, 1], [0, 1.5]),
        (Real(nan=True), "a number, or NaN", [math.nan, -math.inf], [None]),
        (Real(finite=True), "a finite number", [-1e308], [math.inf, math.nan]),
        (Choice("a", 1), "one of 'a', 1", ["a", 1], [True, "b"]),
        (Flag(), "True or False", [True, np.False_], [0, None]),
        (Text(), "a string", ["a"], [1]),
        (Instance(int, named="a count"), "a count", [1], [True, 1.0]),
        (Saved(Vector), "Vector", [Vector().fit(X)], [Gower().fit(X), Vector()]),
        (Saved("Measure", fitted=False), "Measure", [Vector(), Gower()], [Vector, None]),
        (Maybe(Integer(2)), "None, or an integer >= 2", [None, 2], [1]),
        (
            Either(Choice(None, "auto"), Integer(2)),
            "one of None, 'auto', or an integer >= 2",
            [None, "auto", 2],
            [1, "b"],
        ),
        (ListOf(Text()), "a list, each a string", [["a"], []], [("a",), [1]]),
        (MapOf(Text(), Flag()), "a mapping of a string to True or False", [{"a": True}], [{1: 0}]),
    ],
)
def test_a_field_says_what_fits(field, words, good, bad):
    assert field.describe() == words
    assert [value for value in good if not field.fits(value)] == []
    assert [value for value in bad if field.fits(value)] == []


def test_a_wrong_parameter_is_refused_with_the_nearest_word():
    field = Maybe(Either(Choice("auto", "exact"), Integer(2)))
    field.check("search", "method", "auto")
    with pytest.raises(InvalidInput) as caught:
        field.check("search", "method", "exat")
    assert caught.value.who == "search(method='exat')"
    assert caught.value.needed == "None, or one of 'auto', 'exact', or an integer >= 2"
    assert caught.value.hint == "Did you mean 'exact'?"


def test_every_saveable_class_declares_every_field():
    for cls in ours():
        declared = fields_of(cls)
        assert [name for name in parameters_of(cls) if name not in declared] == [], cls
        if is_dataclass(cls) and not hasattr(cls, "get_params"):  # no estimator
            saved = {field.name for field in fields(cls) if field.init}  # the others are caches
            assert saved == set(declared), cls


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (Array("float64", "n"), np.zeros(3, np.float32), "float64"),
        (Array("float64", "n"), np.zeros((3, 1)), "1 dimensions"),
        (Array("float64", "n"), [1.0], "an array"),
        (Array("float64", 2), np.zeros(3), "a size of 2"),
        (Array("float64", "n", finite=True), np.array([1.0, np.inf]), "finite"),
        (Array("float64", "n", no_nan=True), np.array([1.0, np.nan]), "without NaN"),
        (Array("int64", "n", low=0), np.array([0, -1]), ">= 0"),
        (Array("int64", "n", below=2), np.array([0, 2]), "<= 1"),
        (Array("int64", "n", ascending=True), np.array([0, 1, 1]), "ascending"),
        (Either(Array("int64", "n"), Array("bool", "n")), np.zeros(1), "array .n. of int64"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_a_field_refuses_what_it_does_not_allow(field, value, message):
    with pytest.raises(Misfit, match=message):
        check_fields({"x": value}, {"x": field}, "it")


def test_dimensions_of_one_name_have_one_size():
    shapes = {"a": Array("float64", "n"), "b": Array("float64", "n+1")}
    assert check_fields({"a": np.zeros(2), "b": np.zeros(3)}, shapes, "it") == {"n": 2}
    with pytest.raises(Misfit, match="a size of 2"):
        check_fields({"a": np.zeros(2), "b": np.zeros(2)}, shapes, "it")


@given(st.lists(st.integers(-2, 6), max_size=5), st.integers(0, 5))
def test_offsets_are_exactly_what_slices_need(offsets, total):
    values = np.array(offsets, np.int64)
    good = (
        len(offsets) > 0
        and offsets[0] == 0
        and offsets[-1] == total
        and all(a <= b for a, b in itertools.pairwise(offsets))
    )
    shapes = {"values": Array("float64", "items"), "offsets": Offsets("items", "rows")}
    try:
        check_fields({"values": np.zeros(total), "offsets": values}, shapes, "it")
    except Misfit:
        assert not good
    else:
        assert good


@st.composite
def trees(draw):
    """Draw a forest as lists (feature, right) per tree, in preorder."""

    def grow(depth):
        if depth == 0 or draw(st.booleans()):
            return [(-1, -1)]
        left, right = grow(depth - 1), grow(depth - 1)
        moved = [(f, r + 1 if r >= 0 else -1) for f, r in left]
        at = 1 + len(left)
        return [(0, at), *moved, *((f, r + at if r >= 0 else -1) for f, r in right)]

    return [grow(3) for _ in range(draw(st.integers(1, 3)))]


@given(trees(), st.data())
def test_only_trees_in_preorder_pass(forest, data):
    nodes = [node for tree in forest for node in tree]
    feature = np.array([f for f, _ in nodes], np.int32)
    right = np.array([r for _, r in nodes], np.int32)
    offsets = np.cumsum([0, *map(len, forest)])
    check_preorder(feature, right, offsets, "it")
    at = data.draw(st.integers(0, len(nodes) - 1))
    other = data.draw(st.integers(-2, len(nodes) + 1).filter(lambda to: to != right[at]))
    wrong = right.copy()
    wrong[at] = other
    with pytest.raises(Misfit):
        check_preorder(feature, wrong, offsets, "it")
    turned = feature.copy()
    turned[at] = -1 if feature[at] >= 0 else 0
    with pytest.raises(Misfit):
        check_preorder(turned, right, offsets, "it")


def test_a_grown_forest_passes():
    forest = flatten([0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [0, 3], n_inputs=1)
    forest.check_loaded({})


# -- what is refused before memory is taken --------------------------------------------------------


def test_members_are_the_expected_ones_and_stored(saved):
    whole = saved.read_bytes()
    rewrite(saved, how=zipfile.ZIP_DEFLATED)
    with pytest.raises(UnreadableFile, match="compressed"):
        la.load(saved)
    saved.write_bytes(whole)
    rewrite(saved, extra=["more.txt"])
    with pytest.raises(UnreadableFile, match="other members"):
        la.load(saved)


def test_the_size_of_an_array_is_that_of_its_shape(saved):
    with zipfile.ZipFile(saved) as pack:
        parts = {name: pack.read(name) for name in pack.namelist()}
    body = parts["arrays/0.npy"]
    for size in (b"(9000000000000,)", b"(0, 90000000000)", b"(-3,)"):
        old = body[body.index(b"'shape': ") + 9 : body.index(b"), }") + 1]
        head = body[:128].replace(old, size).replace(b" " * (len(size) - len(old)) + b"\n", b"\n")
        with zipfile.ZipFile(saved, "w") as pack:
            for name, data in {**parts, "arrays/0.npy": head + body[128:]}.items():
                pack.writestr(name, data)
        with pytest.raises(UnreadableFile, match="arrays/0.npy|format|shape"):
            la.load(saved)


def test_deep_pages_repeated_keys_and_odd_words_are_refused():
    with pytest.raises(ValueError, match="nested 5000 deep"):
        parse_json(b"[" * 5000 + b"]" * 5000)
    with pytest.raises(ValueError, match="twice"):
        parse_json(b'{"a": 1, "a": 2}')
    with pytest.raises(ValueError, match="NaN"):
        parse_json(b"[NaN]")


JSON = st.recursive(
    st.none() | st.text(st.sampled_from('[]{}"\\a\n')),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


def depth_of(value):
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(st.lists(JSON, max_size=4))
def test_depth_is_counted_as_parsing_would(values):
    assert json_depth(json.dumps(values).encode()) == depth_of(values)
    lines = "\n".join(map(json.dumps, values)).encode()
    assert json_depth(lines, lines=True) == max(map(depth_of, values), default=0)
    assert json_depth(b'"\n' + lines, lines=True) == max(map(depth_of, values), default=0)


def test_a_list_that_holds_itself_is_not_written(tmp_path):
    endless = []
    endless.append(endless)
    deep = [0]
    for _ in range(300):
        deep = [deep]
    for value in (endless, deep):
        with pytest.raises(WrongType, match="nested less than"):
            _save.write(tmp_path / "x", value)
    assert not (tmp_path / "x").exists()


def test_shared_objects_cannot_stand_for_very_much_more(tmp_path):
    value = np.zeros(1)
    for _ in range(40):
        value = np.array([value, value, None], dtype=object)
    _save.write(tmp_path / "x", value)
    with pytest.raises(UnreadableFile, match="over and over"):
        read(tmp_path / "x")


# -- what is refused before anything is used -------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda page, _: page.update(format=0), "no format number"),
        (lambda page, _: page.update(format=True), "no format number"),
        (lambda page, _: page.update(more=1), "other keys"),
        (lambda page, _: page.update(root=[page["root"]]), "an estimator, found list"),
        (lambda page, _: page["root"]["learned"].update(fit=1), "declares, found fit"),
        (lambda page, _: page["root"]["learned"].update(more_=1), "declares, found more_"),
        (lambda page, _: page["root"]["learned"].update(__class__=1), "found __class__"),
        (lambda page, _: page["root"]["learned"].pop("unit_"), "the field unit_"),
        (lambda page, _: page["root"]["params"].update(metric="x"), "one of 'euclidean'"),
        (lambda page, _: page["root"]["params"].update(more=1), "known parameters"),
        (lambda page, _: page["root"]["params"].update(n_jobs=2**62), "usual size, found 461168"),
        (lambda page, _: page["root"]["learned"].update(scale_="x"), "or NaN, found 'x'"),
        (lambda page, _: page["root"].update({"class": "Measure"}), "no class of that name"),
        (lambda _, arrays: arrays.__setitem__(0, arrays[0][:1]), "a size of"),
    ],
)
def test_pages_that_do_not_fit_their_class_are_refused(saved, change, message):
    rewrite(saved, change)
    with pytest.raises(UnreadableFile, match=message) as caught:
        la.load(saved)
    assert ": needs " in str(caught.value)
    assert "Save the estimator again" in str(caught.value) or "Import" in str(caught.value)


def test_codes_beyond_the_leaves_are_refused(tmp_path):
    path = tmp_path / "forest.lookalike"
    rows = np.random.default_rng(0).random((8, 2))
    StochasticForest(5, 2, random_state=0).fit(rows).save(path)

    def change(page, arrays):
        (at,) = (i for i, array in enumerate(arrays) if array.shape == (8, 5))
        arrays[at][3, 1] = 4

    la.load(path)
    rewrite(path, change)
    with pytest.raises(UnreadableFile, match="codes"):
        la.load(path)


def test_codes_beyond_the_levels_are_refused(tmp_path):
    path = tmp_path / "levels.lookalike"
    table = la.read_table({"size": ["low", "high", "mid"]}, kinds={"size": ["low", "mid", "high"]})
    measure = Gower().fit(table)
    measure.rows_.arrays["simple"][0, 0] = 3.0
    measure.save(path)
    with pytest.raises(UnreadableFile, match="codes of its levels"):
        la.load(path)


def test_each_input_of_a_space_is_a_column_of_the_table(tmp_path):
    """A column named twice made a matrix wider than what it is copied into."""
    path = tmp_path / "means.lookalike"
    means = MixedKMeans(2, random_state=0).fit({"a": [1.0, 2.0, 9.0], "b": ["x", "x", "y"]})
    names = means.space_.inputs.names
    means.space_ = replace(means.space_, inputs=replace(means.space_.inputs, names=(*names, "b")))
    means.save(path)
    with pytest.raises(UnreadableFile, match=r"MixedSpace\.inputs"):
        la.load(path)


def test_ragged_rows_stay_inside_their_values(tmp_path):
    _save.write(tmp_path / "x", Ragged(np.zeros(2), np.array([0, 3]), np.zeros(1, bool)))
    with pytest.raises(UnreadableFile, match="offsets from 0 to 2"):
        read(tmp_path / "x")
    _save.write(tmp_path / "x", Ragged(np.zeros(2), np.array([0, 2]), np.ones(1, bool)))
    with pytest.raises(UnreadableFile, match="missing rows without items"):
        read(tmp_path / "x")


def test_a_class_of_the_users_may_leave_its_fields_undeclared(tmp_path):
    class Doubled(Vector):
        def _fit(self, table, y):
            super()._fit(table, y)
            self.twice_ = {"two": [2, 2.0]}

    try:
        path = tmp_path / "own.lookalike"
        Doubled().fit(X).save(path)
        assert la.load(path).twice_ == {"two": [2, 2.0]}
        rewrite(path, lambda page, _: page["root"]["learned"].update(fit=1))
        with pytest.raises(UnreadableFile, match="found fit"):
            la.load(path)
    finally:
        del SAVEABLE["Doubled"]
        la.measures.MEASURES.pop("Doubled")


def test_a_function_that_is_not_handed_back_stays_a_question_to_the_caller(tmp_path):
    words = {"w": ["apple", "avocado", "banana"]}

    def first_letter(a, b):
        return float(a[0] != b[0])

    measure = Gower(kinds={"w": "text"}, distances={"w": first_letter}).fit(words)
    measure.save(tmp_path / "x")
    with pytest.raises(InvalidInput, match="first_letter"):
        la.load(tmp_path / "x")


def test_numbers_that_make_no_sense_are_refused(tmp_path):
    path = tmp_path / "clusters.lookalike"
    SimilarityClustering(n_clusters=2, random_state=0).fit(X).save(path)
    whole = path.read_bytes()
    for name, value in (("n_clusters", 2**62), ("eps", -1e308), ("dense_limit", 10**400)):
        rewrite(path, lambda page, _, n=name, v=value: page["root"]["params"].update({n: v}))
        with pytest.raises(UnreadableFile, match=rf"SimilarityClustering\.{name}"):
            la.load(path)
        path.write_bytes(whole)
    la.load(path)


@pytest.mark.parametrize("value", [-1e308, np.inf, np.nan])
def test_distances_that_make_no_sense_are_refused(value, tmp_path):
    path = tmp_path / "clusters.lookalike"
    model = SimilarityClustering(Gower(), method="hdbscan", min_neighbors=2, min_cluster_size=2)
    points = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    for name in ("core", "reach"):
        model.fit(points)
        getattr(model.model_, name)[0] = value
        model.save(path)
        with pytest.raises(UnreadableFile, match=rf"\.{name}"):
            la.load(path)


def test_an_unfitted_part_without_parameters_comes_back(tmp_path):
    path = tmp_path / "ranks.lookalike"
    measure = Gower(distances={"n": RankShare()}).fit({"n": [1.0, 2.0, 5.0, 9.0]})
    measure.save(path)
    assert np.array_equal(la.load(path).similarity(), measure.similarity())
