"""Writing: what comes back, what stays shared, what cannot be written."""

import datetime
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookalike.errors import InvalidInput, UnwritableFile, WrongType
from lookalike.measures import Vector
from lookalike.saving import encode as _save
from lookalike.saving.decode import decode_cell, read
from lookalike.saving.encode import digest_of, encode_cell
from lookalike.saving.safe_json import DEEPEST

X = [[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "rows.lookalike"
    Vector("cityblock").fit(X).save(path)
    return path


def test_a_file_holds_one_page_and_arrays_only(saved):
    with zipfile.ZipFile(saved) as pack:
        names = pack.namelist()
        page = json.loads(pack.read("measure.json"))
    assert names[0] == "measure.json"
    assert all(name.startswith("arrays/") and name.endswith(".npy") for name in names[1:])
    assert page["format"] == _save.FORMAT
    assert page["root"]["class"] == "Vector"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        float("inf"),
        "word",
        [1, [2]],
        (1, ("a",)),
        {"a": 1, 2: "b", None: 3},
        {1, 2},
        frozenset({"x"}),
        datetime.datetime(2020, 1, 2, 3, 4, 5),
        datetime.date(2020, 1, 2),
        datetime.timedelta(days=1, seconds=2),
        slice(1, 2),
    ],
    ids=repr,
)
def test_plain_values_come_back(tmp_path, value):
    _save.write(tmp_path / "x", [value])
    (back,) = read(tmp_path / "x")
    assert back == value
    assert type(back) is type(value)


def test_nan_generators_and_arrays_come_back(tmp_path):
    rng = np.random.default_rng(5)
    rng.random(3)
    cells = np.array(["a", None], dtype=object)
    _save.write(tmp_path / "x", {"nan": float("nan"), "rng": rng, "a": np.eye(2), "cells": cells})
    back = read(tmp_path / "x")
    assert np.isnan(back["nan"])
    assert back["rng"].random() == rng.random()
    assert_array_equal(back["a"], np.eye(2))
    assert_array_equal(back["cells"], cells)


def test_repeated_objects_stay_shared(tmp_path):
    array = np.arange(3)
    _save.write(tmp_path / "x", [array, array])
    one, other = read(tmp_path / "x")
    assert one is other


def test_what_cannot_be_written_is_named_and_nothing_is_lost(saved):
    before = saved.read_bytes()
    measure = Vector().fit(X)
    measure.extra_ = object()
    with pytest.raises(WrongType, match=r"save \(Vector.extra_\).*builtins.object"):
        measure.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
    with pytest.raises(UnwritableFile, match="a folder that exists"):
        Vector().fit(X).save(saved.parent / "none" / "x")


def test_equal_content_has_one_digest():
    digests = [
        digest_of(Vector(metric).fit(x))
        for metric, x in (
            ("cityblock", X),
            ("cityblock", np.array(X)),
            ("cosine", X),
            ("cityblock", X[::-1]),
        )
    ]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
    shapes = [
        digest_of([np.zeros(shape, dtype)])
        for shape, dtype in (
            ((4, 1), "f8"),
            ((1, 4), "f8"),
            ((4,), "f8"),
            ((4,), "i8"),
        )
    ]
    assert len(set(shapes)) == 4


def test_cells_come_back_from_text():
    for cell in ({"a": (1, frozenset({2}))}, [None, datetime.date(2020, 1, 2)], np.int64(3)):
        back = decode_cell(encode_cell(cell))
        assert back == cell
    assert encode_cell(np.float32(0.5)) == "0.5"
    with pytest.raises(WrongType, match="values without arrays"):
        encode_cell([np.zeros(2)])
    for text in ('{"$": "array", "at": 0, "id": 0}', "[1", '{"$": "tuple"}', "NaN"):
        with pytest.raises(ValueError, match="a damaged cell"):
            decode_cell(text)


def test_nesting_that_could_not_be_read_is_not_written(tmp_path):
    def nest(depth):
        value = 1
        for _ in range(depth):
            value = [value]
        return value

    # The page itself is one level, and no test needs the deepest file: one level less is read.
    _save.write(tmp_path / "x", nest(DEEPEST - 2))
    assert read(tmp_path / "x") == nest(DEEPEST - 2)
    loop = []
    loop.append(loop)
    for value in (nest(DEEPEST), loop):
        with pytest.raises(WrongType, match=f"nested less than {DEEPEST} deep"):
            _save.write(tmp_path / "x", value)


def test_a_class_is_known_by_a_name_of_its_own():
    class Vector:
        pass

    with pytest.raises(InvalidInput, match="class Vector.*of the same name"):
        _save.saveable(Vector)
    made = {}
    for _ in range(2):  # a notebook cell that runs again defines the class anew

        @_save.saveable
        class Once:
            pass

        made["Once"] = Once
    assert _save.SAVEABLE.pop("Once") is made["Once"]

    class _Hidden(_save.SaveMixin):
        pass

    class Base(_save.SaveMixin, abstract=True):
        pass

    assert not {"_Hidden", "Base"} & _save.SAVEABLE.keys()
