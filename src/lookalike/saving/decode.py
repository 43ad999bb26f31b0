"""Reading untrusted files: everything is checked before it is used, and nothing is run.

First the zip file (``Archive``), then the tree of the page, then every object against the fields
that its class declares (``fields``), inner objects before those that hold them. Whatever is wrong
is an ``UnreadableFile``.
"""

import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from lookalike.errors import InPython, InvalidInput, UnreadableFile, missing_file
from lookalike.saving.encode import FORMAT, FORMS, PAGE, SAVEABLE, array_name, hashed
from lookalike.saving.fields import Misfit, check_fields, fields_of, is_fitted, parameters_of
from lookalike.saving.safe_json import parse_json

# How many nodes a file may expand to by objects that occur more than once: nested references could
# double the size at every level ("billion laughs"). Both numbers are chosen by hand.
MAX_EXPANSION, FREE_NODES = 64, 100_000
PACKAGE = __name__.partition(".")[0]
SIMPLE = {str, int, float, bool, type(None)}
DAMAGED = "Save the estimator again; the file is incomplete or not from lookalike"


class MissingCallable(InvalidInput):
    """A function that the caller of ``load`` has to bring."""


# -- the zip file ----------------------------------------------------------------------------------


LOCAL_HEADER_BYTES = 30  # of a member, without its name and extra field
DTYPE_KINDS = "biufUSmM"  # numbers, flags, texts, times: never objects, which are pickles


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


# -- the page and its objects ----------------------------------------------------------------------


def read(
    path: str | os.PathLike[str],
    callables: Mapping[str, Callable[..., Any]] | None = None,
    root: type = object,
) -> Any:
    """Read what ``write`` wrote; every fault of the file is an ``UnreadableFile``.

    Parameters
    ----------
    path : str or path
    callables : mapping of name to function, optional
    root : type
        What the file must hold.
    """
    source = Path(path)
    who = f"load ({source.name})"
    if not os.path.exists(source):  # Path.exists raises for a name that is too long
        raise missing_file(source)
    if source.is_dir():
        raise UnreadableFile(who, "a file", "a directory", "Name the file in it")
    try:
        with Archive(source) as archive:
            page = archive.page()
            _check_format(page, who)
            reader = _Reader(archive, callables or {}, who)
            value = reader.decode(page["root"])
            if not isinstance(value, root):
                raise Misfit("the file", "an estimator", type(value).__name__)
            for part in reader.objects:
                check_object(part)
            return value
    except (UnreadableFile, MissingCallable):
        raise
    except (Misfit, InvalidInput) as error:  # also of checks that fitting has in common
        found = f"{error.found} in {error.who}"
        raise UnreadableFile(who, error.needed, found, DAMAGED) from error
    except Exception as error:  # whatever a damaged file makes of the libraries below
        found = f"{type(error).__name__}: {error}"
        raise UnreadableFile(who, "a complete lookalike file", found, DAMAGED) from error


def decode_cell(text: str) -> Any:
    """Return the cell that ``encode_cell`` has written, checked as a file is; or ValueError."""
    reader = _Reader(None, {}, "cell")
    try:
        value = reader.decode(parse_json(text.encode()))
        for part in reader.objects:
            check_object(part)
    except Exception as error:  # whatever a damaged cell makes of the parts below
        raise ValueError(f"a damaged cell ({error})") from error
    return value


def _check_format(page: Any, who: str) -> None:
    if not isinstance(page, dict) or type(page.get("format")) is not int or page["format"] < 1:
        raise ValueError("no format number")
    if page["format"] != FORMAT:
        older = page["format"] < FORMAT
        hint = "Fit and save it again with this version" if older else "Update lookalike to read it"
        raise UnreadableFile(who, f"format {FORMAT}", f"format {page['format']}", hint)
    if set(page) != {"format", "root"}:
        raise ValueError("other keys than format and root")


def check_object(value: Any) -> None:
    """Check an object against what its class declares."""
    cls, name = type(value), type(value).__name__
    declared, state = fields_of(cls), vars(value)
    complete = is_fitted(value)  # else only the parameters are there
    for key, field in declared.items() if complete else ():
        if key not in state and field.required:
            raise Misfit(name, f"the field {key}", "none")
    dims = check_fields(state, declared, name)
    # Last: it may rely on every single field being what the class declares.
    if complete and hasattr(value, "check_loaded"):
        value.check_loaded(dims)


class _Reader:
    def __init__(self, archive: Archive | None, callables: Mapping[str, Any], who: str) -> None:
        self.archive, self.callables, self.who = archive, callables, who
        self.made: dict[int, Any] = {}
        self.objects: list[Any] = []  # inner ones first
        self.costs: dict[int, int] = {}
        self.nodes = self.expanded = 0

    def decode(self, node: Any) -> Any:
        self.nodes += 1
        self.expanded += 1
        if isinstance(node, list):
            if set(map(type, node)) <= SIMPLE:  # thousands of numbers, without a call for each
                return node
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        form = node["$"]
        if form in _PLAIN:
            return _PLAIN[form](self.decode(node["is"]))
        number, start = node["id"], self.expanded
        if form == "again":
            # Decoded before, and entered within the limit of expansion.
            self.expanded += self.costs[number]
            if self.expanded > FREE_NODES + MAX_EXPANSION * self.nodes:
                raise ValueError("objects that hold one another over and over")
            return self.made[number]
        if type(number) is not int or number in self.made:
            raise ValueError(f"object number {number!r} comes twice")
        value = self._decode_object(form, node)
        # Entered when it is complete: an object can never hold itself.
        self.costs[number] = self.expanded - start
        self.made[number] = value
        return value

    def _decode_object(self, form: str, node: dict[str, Any]) -> Any:
        if form in ("array", "cells"):
            if self.archive is None:
                raise ValueError("an array outside of a file")
            if form == "array":
                return self.archive.array(node["at"])
            return self._cells(node, self.archive.size)
        if form == "callable":
            return self._callable(node["name"])
        # Only classes that are imported already: a name in a file never imports anything.
        if (cls := SAVEABLE.get(node["class"])) is None:
            needed = f"the class {str(node['class'])[:80]!r}"
            hint = "Import the module that defines it before loading"
            raise UnreadableFile(self.who, needed, "no class of that name", hint)
        if form != ("estimator" if hasattr(cls, "get_params") else "record"):
            raise ValueError(f"unknown form {str(form)[:80]!r} of {cls.__name__}")
        if form == "record":
            value = self._record(cls, node["fields"])
        else:
            value = self._estimator(cls, node["params"], node["learned"])
        self.objects.append(value)
        return value

    def _estimator(self, cls: type, given: dict[str, Any], learned: dict[str, Any]) -> Any:
        params = parameters_of(cls)
        for name in given:
            if name not in params:
                raise Misfit(cls.__name__, "known parameters", name[:80])
        value = cls(**{name: self.decode(part) for name, part in given.items()})
        for name, part in learned.items():
            _check_learned(cls, name, params)
            setattr(value, name, self.decode(part))
        return value

    def _record(self, cls: type, parts: dict[str, Any]) -> Any:
        made = fields(cls) if is_dataclass(cls) else ()
        known = [f.name for f in made if f.init] if is_dataclass(cls) else list(fields_of(cls))
        odd = set(parts) ^ set(known)
        if odd and (known or not is_dataclass(cls)):
            raise Misfit(cls.__name__, f"the fields {', '.join(known)}", min(odd)[:80])
        # Without the constructor, which could compute with values that are not checked yet.
        value: Any = object.__new__(cls)
        caches = {
            f.name: f.default_factory() for f in made if not f.init and callable(f.default_factory)
        }
        vars(value).update({name: self.decode(part) for name, part in parts.items()} | caches)
        return value

    def _cells(self, node: dict[str, Any], most: int) -> np.ndarray:
        items, shape = node["is"], node["shape"]
        sizes = isinstance(shape, list) and all(type(s) is int and s >= 0 for s in shape)
        if not sizes or not isinstance(items, list) or math.prod(shape) != len(items):
            raise ValueError("cells of another shape than they say")
        if max(shape, default=0) > max(64, most):
            raise ValueError("cells of more rows or columns than the file has bytes")
        if set(map(type, items)) <= SIMPLE:
            cells = items
            self.nodes += len(items)  # an object that holds them again has all checked again
            self.expanded += len(items)
        else:
            cells = [self.decode(cell) for cell in items]
        # numpy.array would take lists for axes.
        return np.fromiter(cells, object, len(items)).reshape(shape)

    def _callable(self, name: str) -> Any:
        if name not in self.callables:
            needed, found = f"the function {name!r} it was fitted with", ", ".join(self.callables)
            hint = ("Pass it again", InPython(f": load(path, callables={{{name!r}: function}})"))
            raise MissingCallable(self.who, needed, found or "none", hint)
        return self.callables[name]


def _check_learned(cls: type, name: str, params: list[str]) -> None:
    """Refuse a learned attribute that the class does not declare, or that would hide something."""
    if name in fields_of(cls) and name not in params:
        return
    # A class outside of the package may leave its fields undeclared; its own FIELDS are complete.
    closed = "FIELDS" in cls.__dict__ or cls.__module__.partition(".")[0] == PACKAGE
    odd = not name.endswith("_") or name.startswith("_") or hasattr(cls, name) or name in params
    if closed or odd:
        raise Misfit(cls.__name__, "fields that the class declares", name[:80])


_PLAIN: dict[str, Callable[[Any], Any]] = {form: make for form, _, _, make in FORMS}
_PLAIN |= {"float": float, "dict": hashed(dict)}
