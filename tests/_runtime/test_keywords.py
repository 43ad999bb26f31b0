"""Keywords that callers guess."""

import inspect
from functools import partial

import numpy as np
import pytest

import lookalike as la
from lookalike._runtime.keywords import check_keywords, forgiving
from lookalike.errors import ColumnsLeftOut, WrongType

PETS = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "dog"]}
OTHER_COUNTS = ("k", "n", "n_neighbors", "top_k", "n_clusters", "n_results", "limit")


@pytest.mark.parametrize(
    ("called", "count"),
    [
        (partial(la.search, PETS, 0), "k"),
        (partial(la.hubs, PETS), "k"),
        (partial(la.compare, PETS), "k"),
        (partial(la.report, PETS), "k"),
        (partial(la.outliers, PETS), "n"),
        (partial(la.cluster, PETS), "n_clusters"),
        (partial(la.hubness_report, PETS), "k"),
        (partial(la.Index().fit(PETS).search, 0), "k"),
        (la.Index().fit(PETS).kneighbors, "n_neighbors"),
    ],
)
def test_a_count_by_another_name_is_refused_with_the_right_one(called, count):
    for name in set(OTHER_COUNTS) - {count}:
        with pytest.raises(WrongType, match=f"no parameter {name!r}. Did you mean {count}=3\\?$"):
            called(**{name: 3})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("wieghts", {}, r"search: has no parameter 'wieghts'\. Did you mean 'weights'\?$"),
        ("n", PETS, r"Did you mean k=\.\.\.\?$"),  # a table would fill the screen
        ("zzz", 1, "has no parameter 'zzz'. Known: 'table', 'row', 'like'"),
    ],
)
def test_what_was_probably_meant_is_named(name, value, message):
    with pytest.raises(TypeError, match=message):
        la.search(PETS, 0, **{name: value})


def test_a_method_is_named_with_its_class():
    with pytest.raises(WrongType, match=r"^Index\.search: has no parameter 'top'"):
        la.Index().fit(PETS).search(0, top=3)


@pytest.mark.parametrize("verb", ["classify", "cluster", "hubs", "report", "compare"])
def test_verbs_take_y_for_label(verb):
    table = {"size": [1.0, 2.0, 1.5, 9.0, 8.0, 8.5] * 4, "kind": ["a", "a", "a", "b", "b", "b"] * 4}
    options = {"measures": "gower"} if verb == "compare" else {}
    options |= {"folds": 2, "method": "neighbors:k=3"} if verb == "classify" else {}
    by_label = getattr(la, verb)(table, label="kind", **options)
    by_y = getattr(la, verb)(table, y="kind", **options)
    one, other = by_label.to_dict(), by_y.to_dict()
    for timed in (one, other):
        for measure in timed.get("measures", ()):
            for name in [name for name in measure if name.endswith(("seconds", "bytes"))]:
                del measure[name]  # of a clock, and of the allocator
        timed.pop("parts", None)  # pages with drawings
    assert one == other
    with pytest.raises(WrongType, match="one of the two, found 'label' and 'y'"):
        getattr(la, verb)(table, y="kind", label="kind", **options)


def test_regress_takes_y_for_label():
    table = {"size": [1.0, 2.0, 1.5, 9.0, 8.0, 8.5], "price": [2.0, 4.0, 3.0, 18.0, 16.0, 17.0]}
    found = la.regress(table, y="price", folds=2, method="neighbors:k=1")
    assert found.label == "price"


def test_positions_and_known_keywords_pass_unchanged():
    @forgiving
    def call(a, b=2, *, label=None):
        return a, b, label

    assert call(1) == (1, 2, None)
    assert call(1, 3, y="c") == call(a=1, b=3, label="c") == (1, 3, "c")
    assert list(inspect.signature(call).parameters) == ["a", "b", "label"]
    assert call.__name__ == "call"


def test_a_function_with_both_names_keeps_them_apart():
    assert check_keywords("f", ["y", "label"], {"y": 1, "label": 2}) == {"y": 1, "label": 2}


def test_a_warning_points_at_the_line_that_called():
    rows = {"size": np.arange(5.0), "color": list("abcab")}
    with pytest.warns(ColumnsLeftOut) as caught:
        la.measures.Vector().fit(rows)
    assert caught[0].filename == __file__
