"""The zip file of a saved estimator: every size is checked before memory is taken."""

import io
import struct
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookalike.saving.archive import PAGE, Archive, array_name, read_header


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
