"""Reading untrusted files: a clear error, and nothing in them is run."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import InvalidInput, UnreadableFile
from lookalike.measures import Gower, Vector
from lookalike.saving.decode import Archive, Misfit, _check_learned, fields_of, read_header
from lookalike.saving.encode import PAGE, array_name

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


# -- the zip file ----------------------------------------------------------------------------------


def npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def pack(path, members, kind=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def header(text, version=b"\x01\x00"):
    """Return the head of an array file with a description of our own."""
    text = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text


ARRAYS = [np.arange(6.0).reshape(2, 3), np.array(["a", "bc"]), np.zeros((0, 3)), np.array(5)]
WHOLE = {PAGE: b'{"a": 1}'} | {array_name(i): npy(array) for i, array in enumerate(ARRAYS)}


def test_page_and_arrays_come_back(tmp_path):
    with Archive(pack(tmp_path / "x", WHOLE)) as archive:
        assert archive.n_arrays == len(ARRAYS)
        assert archive.page() == {"a": 1}
        for i, array in reversed(list(enumerate(ARRAYS))):
            back = archive.array(i)
            assert_array_equal(back, array)
            assert (back.dtype, back.shape) == (array.dtype, array.shape)
        for bad in (-1, len(ARRAYS), True, "0", None):
            with pytest.raises(ValueError, match="no array"):
                archive.array(bad)
    assert archive.pack.fp is None


def test_other_members_are_refused(tmp_path):
    first = array_name(0)
    for members in ({}, {first: b""}, {PAGE: b"", array_name(1): b""}, {PAGE: b"", "code.py": b""}):
        with pytest.raises(ValueError, match="other members than"):
            Archive(pack(tmp_path / "x", members))
    with pytest.raises(ValueError, match="compressed or encrypted"):
        Archive(pack(tmp_path / "x", {PAGE: b"[]" * 99}, zipfile.ZIP_DEFLATED))


def change(path, offset, data, after=b"PK\x01\x02"):
    """Overwrite bytes of the first entry of the central directory, or of another part."""
    whole = bytearray(path.read_bytes())
    start = whole.find(after) + offset
    whole[start : start + len(data)] = data
    path.write_bytes(whole)
    return path


def test_sizes_that_do_not_fit_are_refused(tmp_path):
    def damaged(*parts, **options):
        return change(pack(tmp_path / "x", WHOLE), *parts, **options)

    size = len(WHOLE[PAGE])
    with pytest.raises(ValueError, match="has two sizes"):
        Archive(damaged(24, struct.pack("<I", size + 1)))
    with pytest.raises(ValueError, match="is longer than its place"):
        Archive(damaged(20, struct.pack("<II", 9_999, 9_999)))
    with pytest.raises(ValueError, match="compressed or encrypted"):
        Archive(damaged(8, b"\x01"))
    # The space of a member ends where the next one begins, to the byte.
    for part in ((28, struct.pack("<H", 1)), (0, b"PK\x03\x05")):
        with Archive(damaged(*part, after=b"PK\x03\x04")) as archive:
            with pytest.raises(zipfile.BadZipFile, match="CRC|Bad magic"):
                archive.page()


def test_members_that_share_bytes_are_refused(tmp_path):
    path = pack(tmp_path / "x", {PAGE: b"[]"} | {array_name(i): npy(np.zeros(9)) for i in range(2)})
    whole = path.read_bytes()
    entries = [at for at in range(len(whole)) if whole.startswith(b"PK\x01\x02", at)]
    first, second = (whole[at + 42 : at + 46] for at in entries[1:])
    for by in (0, -1, 40):  # the second array begins in the first one, or the page in itself
        moved = struct.pack("<I", struct.unpack("<I", first)[0] + by)
        path.write_bytes(whole[: entries[2] + 42] + moved + whole[entries[2] + 46 :])
        with pytest.raises(ValueError, match="is longer than its place"):
            Archive(path)
    assert first != second


def test_damage_is_noticed_by_the_checksums(tmp_path):
    with Archive(change(pack(tmp_path / "x", WHOLE), 1, b"b", after=b'{"a": 1}')) as archive:
        with pytest.raises(zipfile.BadZipFile, match=f"Bad CRC-32 for file {PAGE!r}"):
            archive.page()
    after = np.arange(6.0).tobytes()
    with Archive(change(pack(tmp_path / "x", WHOLE), 9, b"\x07", after=after)) as archive:
        with pytest.raises(zipfile.BadZipFile, match="Bad CRC-32 for file 'arrays/0"):
            archive.array(0)
        assert_array_equal(archive.array(1), ARRAYS[1])


def test_an_array_is_as_long_as_its_header_says(tmp_path):
    body = np.arange(6.0).tobytes()
    good = "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}"
    for shape, data, message in (
        ("(6,)", body, None),
        ("(6,)", body[:-1], "not as long as its shape"),
        ("(7,)", body, "not as long as its shape"),
        ("(5,)", body, "not as long as its shape"),
        # Of no bytes in all, but more rows than anyone should loop over.
        ("(0, 100000000)", b"", "more rows or columns than the file has bytes"),
    ):
        member = header(good.replace("(6,)", shape)) + data
        with Archive(pack(tmp_path / "x", {PAGE: b"", array_name(0): member})) as archive:
            if message is None:
                assert_array_equal(archive.array(0), np.arange(6.0))
            else:
                with pytest.raises(ValueError, match=message):
                    archive.array(0)


def test_arrays_that_are_never_written_are_never_read():
    good = "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}"
    assert read_header(io.BytesIO(header(good)), "x") == (np.dtype("f8"), (6,))
    for text, message in (
        (good.replace("<f8", "|O"), "pickles"),
        (good.replace("<f8", ">f8"), "never written"),
        (good.replace("<f8", "<c16"), "never written"),
        (good.replace("'<f8'", "[('a', '<f8')]"), "never written"),
        (good.replace("<f8", "<U0"), "never written"),
        (good.replace("False", "True"), "never written"),
        (good.replace("(6,)", "(-6,)"), "has the shape"),
        (good.replace("(6,)", "(True,)"), "has the shape"),
    ):
        with pytest.raises(ValueError, match=message):
            read_header(io.BytesIO(header(text)), "x")
    with pytest.raises(ValueError, match="is of version"):
        read_header(io.BytesIO(header(good, b"\x03\x00")), "x")
