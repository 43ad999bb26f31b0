"""The zip file of a saved estimator, as untrusted input.

Every size is known and compared with the length of the file before memory is taken: members are
stored as they are, under the names that ``lookalike.saving.encode`` gives them, one after another.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.saving.safe_json import parse_json

PAGE = "measure.json"
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
MAX_HEADER_BYTES = 10_000  # that describe an array; numpy's own limit for untrusted files
DTYPE_KINDS = "biufUSmM"  # numbers, flags, texts, times: never objects, which are pickles


def array_name(number: int) -> str:
    """Return the name of an array's member."""
    return f"arrays/{number}.npy"


class Archive:
    """A saved file that is open for reading; every fault of it is a ``ValueError``."""

    def __init__(self, path: Path) -> None:
        self.size = path.stat().st_size
        self.file = path.open("rb")
        try:
            with zipfile.ZipFile(self.file) as pack:
                members = pack.infolist()
            self.members = self._check(members)
        except BaseException:
            self.file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    @property
    def n_arrays(self) -> int:
        """How many arrays there are."""
        return len(self.members) - 1

    def _check(self, members: list[zipfile.ZipInfo]) -> dict[str, tuple[int, int, int]]:
        """Return where each member begins, how long it is, and its checksum."""
        expected = [PAGE, *map(array_name, range(len(members) - 1))]
        if not members or [member.filename for member in members] != expected:
            raise ValueError(f"other members than {PAGE} and numbered arrays")
        # Members must not overlap: many that share their bytes would expand to any size.
        ends = [member.header_offset for member in members[1:]] + [self.size]
        extents = {}
        for member, end in zip(members, ends, strict=True):
            if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 0x1:
                raise ValueError(f"{member.filename} is compressed or encrypted")
            if member.file_size != member.compress_size:
                raise ValueError(f"{member.filename} has two sizes")
            start = self._start(member)
            if start + member.file_size > end:
                raise ValueError(f"{member.filename} is longer than its place")
            extents[member.filename] = (start, member.file_size, member.CRC)
        return extents

    def _start(self, member: zipfile.ZipInfo) -> int:
        # The lengths of name and extra field may differ between the two headers of a member.
        self.file.seek(member.header_offset)
        header = self.file.read(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise ValueError(f"{member.filename} is not where it should be")
        *_, name, extra = LOCAL_HEADER.unpack(header)
        return int(member.header_offset + LOCAL_HEADER.size + name + extra)

    def page(self) -> Any:
        """Return the JSON page."""
        start, size, checksum = self.members[PAGE]
        self.file.seek(start)
        text = self.file.read(size)
        if len(text) != size or zlib.crc32(text) != checksum:
            raise ValueError(f"Bad CRC-32 of {PAGE}")
        return parse_json(text)

    def array(self, number: Any) -> np.ndarray:
        """Return an array, after comparing what its header says with the size of its member."""
        if type(number) is not int or not 0 <= number < self.n_arrays:
            raise ValueError(f"no array {number!r}")
        name = array_name(number)
        start, size, checksum = self.members[name]
        self.file.seek(start)
        head = self.file.read(min(size, 12 + MAX_HEADER_BYTES))
        dtype, shape, length = read_header(head, name)
        # (0, 10**12) has no bytes, but loops over its columns would not end.
        if max(shape, default=0) > max(64, self.size):
            raise ValueError(f"{name} has more rows or columns than the file has bytes")
        if math.prod(shape) * dtype.itemsize != size - length:
            raise ValueError(f"{name} is not as long as its shape {shape} of {dtype} says")
        # Straight into the array: np.load would read member and array through a copy.
        self.file.seek(start + length)
        values = np.fromfile(self.file, dtype, math.prod(shape))
        if len(values) != math.prod(shape):
            raise ValueError(f"{name} ends early")
        body: Any = values.view(np.uint8) if len(values) else b""
        if zlib.crc32(body, zlib.crc32(head[:length])) != checksum:
            raise ValueError(f"Bad CRC-32 of {name}")
        return values.reshape(shape)


def read_header(head: bytes, name: str) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return dtype, shape and length of the header of an array."""
    text = io.BytesIO(head)
    form = np.lib.format
    version = form.read_magic(text)
    read = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"{name} is of version {version} of the array format")
    shape, fortran, dtype = read(text, max_header_size=MAX_HEADER_BYTES)
    if dtype.hasobject:
        raise ValueError(f"{name}: Object arrays (pickles) are never read")
    if fortran or not _is_written(dtype):
        raise ValueError(f"{name} is an array of {dtype}, which is never written")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"{name} has the shape {shape}")
    return dtype, shape, text.tell()


def _is_written(dtype: np.dtype[Any]) -> bool:
    plain = dtype.names is None and dtype.subdtype is None and dtype.kind in DTYPE_KINDS
    return plain and dtype.isnative and dtype.itemsize > 0
