import datetime
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import InvalidInput, UnreadableFile, UnwritableFile, WrongType
from lookalike.measures import Gower, Vector
from lookalike.saving import encode as _save
from lookalike.saving.decode import read

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


def test_a_file_cut_short_is_a_clear_error(saved):
    whole = saved.read_bytes()
    for share in (0.0, 0.3, 0.7, 0.99):
        saved.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(UnreadableFile, match=r"load \(rows.lookalike\): needs a complete"):
            la.load(saved)


def test_a_flipped_byte_is_noticed(saved):
    whole = bytearray(saved.read_bytes())
    at = whole.find(b"\x93NUMPY") + 140  # inside the first array
    whole[at] ^= 0xFF
    saved.write_bytes(whole)
    with pytest.raises(UnreadableFile, match="CRC"):
        la.load(saved)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with pytest.raises(UnreadableFile, match="not from lookalike"):
        la.load(path)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as pack:
        pack.writestr("measure.json", "[]")
    with pytest.raises(UnreadableFile, match="no format number"):
        la.load(tmp_path / "other.zip")
    with pytest.raises(UnreadableFile, match="file not found"):
        la.load(tmp_path / "missing")
    with pytest.raises(UnreadableFile, match="a directory"):
        la.load(tmp_path)


def rewrite(path, change):
    with zipfile.ZipFile(path) as pack:
        parts = {name: pack.read(name) for name in pack.namelist()}
    page = json.loads(parts["measure.json"])
    change(page)
    parts["measure.json"] = json.dumps(page).encode()
    with zipfile.ZipFile(path, "w") as pack:
        for name, data in parts.items():
            pack.writestr(name, data)


@pytest.mark.parametrize(("number", "hint"), [(99, "Update lookalike"), (1, "Fit and save it")])
def test_another_format_says_so(saved, number, hint):
    rewrite(saved, lambda page: page.update(format=number))
    with pytest.raises(UnreadableFile, match=rf"format 2, found format {number}\. {hint}"):
        la.load(saved)


def test_an_unknown_class_is_never_imported(saved):
    rewrite(saved, lambda page: page["root"].update({"class": "os.system"}))
    with pytest.raises(UnreadableFile, match="no class of that name"):
        la.load(saved)


def test_pickles_inside_are_refused(saved, tmp_path):
    evil = tmp_path / "evil.npy"
    np.save(evil, np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(saved) as pack:
        parts = {name: pack.read(name) for name in pack.namelist()}
    parts["arrays/0.npy"] = evil.read_bytes()
    with zipfile.ZipFile(saved, "w") as pack:
        for name, data in parts.items():
            pack.writestr(name, data)
    with pytest.raises(UnreadableFile, match="[Pp]ickle|Object arrays"):
        la.load(saved)


def test_functions_are_handed_back(tmp_path):
    def first_letter(a, b):
        return float(a[0] != b[0])

    path = tmp_path / "words.lookalike"
    words = {"w": ["apple", "avocado", "banana"]}
    measure = Gower(kinds={"w": "text"}, distances={"w": first_letter}).fit(words)
    measure.save(path)
    with pytest.raises(InvalidInput, match="the function 'first_letter'.*callables="):
        la.load(path)
    back = la.load(path, callables={"first_letter": first_letter})
    assert_array_equal(back.similarity(), measure.similarity())


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
