"""The zip file of a saved estimator, as untrusted input.

Every size is known and compared with the length of the file before memory is taken: members are
stored as they are, under the names that ``lookalike.saving.encode`` gives them, one after another.
"""

import math
import zipfile
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from lookalike.saving.safe_json import parse_json

PAGE = "measure.json"
LOCAL_HEADER_BYTES = 30  # of a member, without its name and extra field
DTYPE_KINDS = "biufUSmM"  # numbers, flags, texts, times: never objects, which are pickles


def array_name(number: int) -> str:
    """Return the name of an array's member."""
    return f"arrays/{number}.npy"


class Archive:
    """A saved file that is open for reading; a fault is a ``ValueError`` or a ``BadZipFile``."""

    def __init__(self, path: Path) -> None:
        self.size = path.stat().st_size
        self.pack = zipfile.ZipFile(path)
        self.n_arrays = len(self.pack.infolist()) - 1
        try:
            self._check(self.pack.infolist())
        except BaseException:
            self.pack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.pack.close()

    def _check(self, members: list[zipfile.ZipInfo]) -> None:
        """Refuse other members than those that are written, compressed and overlapping ones."""
        expected = [PAGE, *map(array_name, range(self.n_arrays))]
        if not members or [member.filename for member in members] != expected:
            raise ValueError(f"other members than {PAGE} and numbered arrays")
        # Members must not overlap: many that share their bytes would expand to any size.
        ends = [member.header_offset for member in members[1:]] + [self.size]
        for member, end in zip(members, ends, strict=True):
            if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 0x1:
                raise ValueError(f"{member.filename} is compressed or encrypted")
            if member.file_size != member.compress_size:
                raise ValueError(f"{member.filename} has two sizes")
            head = LOCAL_HEADER_BYTES + len(member.filename)
            if member.header_offset + head + member.file_size > end:
                raise ValueError(f"{member.filename} is longer than its place")

    def page(self) -> Any:
        """Return the JSON page."""
        return parse_json(self.pack.read(PAGE))

    def array(self, number: Any) -> np.ndarray:
        """Return an array, after comparing what its header says with the size of its member."""
        if type(number) is not int or not 0 <= number < self.n_arrays:
            raise ValueError(f"no array {number!r}")
        name = array_name(number)
        with self.pack.open(name) as file:
            dtype, shape = read_header(file, name)
            # (0, 10**12) has no bytes, but loops over its columns would not end.
            if max(shape, default=0) > max(64, self.size):
                raise ValueError(f"{name} has more rows or columns than the file has bytes")
            body = self.pack.getinfo(name).file_size - file.tell()
            if math.prod(shape) * dtype.itemsize != body:
                raise ValueError(f"{name} is not as long as its shape {shape} of {dtype} says")
            file.seek(0)
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def read_header(file: IO[bytes], name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return dtype and shape of an array, whose header is read."""
    version = np.lib.format.read_magic(file)
    if version != (1, 0):  # others are for longer headers than ours
        raise ValueError(f"{name} is of version {version} of the array format")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject:
        raise ValueError(f"{name}: Object arrays (pickles) are never read")
    plain = dtype.names is None and dtype.subdtype is None and dtype.kind in DTYPE_KINDS
    if fortran or not (plain and dtype.isnative and dtype.itemsize > 0):
        raise ValueError(f"{name} is an array of {dtype}, which is never written")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"{name} has the shape {shape}")
    return dtype, shape
