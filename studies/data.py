"""The data sets of the studies, as the authors of the papers had them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import MissingFile
from studies.recipes import MissingSet, prepare_set, recipes

ENDINGS = (".parquet", ".npz")
KINDS = {"R": "number", "N": "category", "O": "order", "B": "category"}


def prepared_folder() -> Path:
    """Return where prepared sets are kept: below ``XDG_CACHE_HOME``, or ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "lookalike" / "data"


def data_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder in which sets are looked for first, or say that it is not there.

    Without one given it is ``LOOKALIKE_DATA``, or ``../shared/data`` beside a checkout, or the
    folder of prepared sets.
    """
    named = given or os.environ.get("LOOKALIKE_DATA")
    if not named:
        beside = Path(__file__).parents[2] / "shared" / "data"
        return beside if beside.is_dir() else prepared_folder()
    if not Path(named).is_dir():
        do = "Name a folder with data sets (--data, or LOOKALIKE_DATA), or none"
        raise MissingFile("studies", "a folder with data sets", f"none at {str(named)!r}", do)
    return Path(named)


def find_file(data: Path, name: str) -> Path:
    """Return the file of a set; where no folder has it, prepare it from an installed package."""
    return _found(data, name) or prepare_set(name, prepared_folder())


def download_sets(data: Path) -> Iterator[tuple[str, str]]:
    """Fetch what neither a folder nor a package has; yield each name and why it failed, or ""."""
    for name, recipe in recipes().items():
        if recipe.urls and not _found(data, name):
            try:
                prepare_set(name, prepared_folder(), download=True)
            except MissingSet as error:
                yield name, error.reason
            else:
                yield name, ""


def why_missing(data: Path, name: str) -> str:
    """Return why a data set is not available, or an empty string if it is."""
    try:
        find_file(data, name)
    except MissingSet as error:
        return error.reason
    return ""


def _found(data: Path, name: str) -> Path | None:
    # The named folder wins over what was prepared: it holds the sets as the authors had them.
    paths = (folder / f"{name}{end}" for folder in (data, prepared_folder()) for end in ENDINGS)
    return next((path for path in paths if path.exists()), None)


@lru_cache(maxsize=64)
def _frame(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def load_frame(data: Path, name: str, leave_out: Sequence[str] = ()) -> tuple[Any, np.ndarray]:
    """Return a set's columns as an Arrow table, without the class, and the classes as numbers."""
    table = _frame(find_file(data, name))
    # As text: classes of any type are then sorted, and numbered, the same way everywhere.
    classes = np.asarray([str(value) for value in table["target"].to_pylist()])
    rest = table.drop_columns(["target", *(one for one in leave_out if one in table.column_names)])
    return rest, np.unique(classes, return_inverse=True)[1]


def kinds_of(data: Path, name: str) -> dict[str, str]:
    """Return the kinds of a set's columns as the file states them: column -> kind."""
    stated = (_frame(find_file(data, name)).schema.metadata or {}).get(b"kinds", b"{}")
    return {
        column: KINDS[letter] for column, letter in json.loads(stated).items() if column != "target"
    }


def load_numbers(
    data: Path, name: str, leave_out: Sequence[str] = (), *, complete: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return a set as numbers, and its classes as numbers from 0.

    Parameters
    ----------
    data : path
    name : str, of the file, without its ending
    leave_out : columns that are not features
    complete : bool, leave out rows with missing values
    """
    path = find_file(data, name)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as kept:
            y = np.unique(kept["y"], return_inverse=True)[1]
            if "X" in kept:
                return kept["X"].astype(float), y
        from scipy.sparse import load_npz

        return load_npz(path).toarray().astype(float), y
    table, y = load_frame(data, name, leave_out)
    columns = []
    for column in table.column_names:
        cells = table[column].to_pylist()
        try:
            columns.append([np.nan if cell is None else float(cell) for cell in cells])
        except ValueError:  # words: their position in the alphabet, as the sources code them
            words = sorted({cell for cell in cells if cell is not None})
            place = {word: float(at) for at, word in enumerate(words)}
            columns.append([np.nan if cell is None else place[cell] for cell in cells])
    x = np.column_stack([np.asarray(column, dtype=float) for column in columns])
    if complete:
        whole = ~np.isnan(x).any(axis=1)
        # Numbered again: a class whose rows all had missing values is gone.
        x, y = x[whole], np.unique(y[whole], return_inverse=True)[1]
    return x, y


def rescale(x: np.ndarray, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Return columns brought to a common range; a constant column becomes the lower end."""
    floor, span = x.min(axis=0), np.ptp(x, axis=0)
    scaled: np.ndarray = low + (high - low) * (x - floor) / np.where(span > 0, span, 1.0)
    return scaled
