"""Reading untrusted files: a clear error, and nothing in them is run."""

import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import InvalidInput, UnreadableFile
from lookalike.measures import Gower, Vector
from lookalike.saving.decode import Misfit, _check_learned, fields_of

X = [[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "rows.lookalike"
    Vector("cityblock").fit(X).save(path)
    return path


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


def test_what_a_class_outside_of_the_package_has_learned():
    class Open:
        def method_(self):
            pass

    class Closed:
        FIELDS = {}

    class Ours:
        pass

    Ours.__module__ = "lookalike.measures"
    _check_learned(Open, "found_", ["given"])
    _check_learned(Gower, next(iter(fields_of(Gower))), [])
    for cls, name, params in (
        (Open, "found", []),
        (Open, "_found_", []),
        (Open, "method_", []),
        (Open, "a_", ["a_"]),
        (Closed, "found_", []),
        (Ours, "found_", []),
        (Gower, next(iter(fields_of(Gower))), list(fields_of(Gower))),
    ):
        with pytest.raises(Misfit, match="fields that the class declares"):
            _check_learned(cls, name, params)
