"""A table of the board as every contender takes it, and as numbers for those that need them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.table import Table, read_table
from studies.board.split import WORDS, Entry, load


@dataclass(frozen=True)
class Problem:
    """Numbers and categories of a table, the same columns for all, and its target."""

    table: Table
    frame: Any
    numbers: list[str]
    words: list[str]
    y: np.ndarray

    def imputed(self) -> Any:
        """Return the frame without missing cells: medians, and a level of its own."""
        frame = self.frame.copy()
        frame[self.numbers] = frame[self.numbers].fillna(frame[self.numbers].median()).fillna(0.0)
        frame[self.words] = frame[self.words].fillna("missing").astype(str)
        return frame

    def one_hot(self) -> np.ndarray:
        """Return standardized numbers and 0/1 columns of levels, medians where missing."""
        return np.asarray(encoder(self).fit_transform(self.frame), dtype=float)


def prepare_problem(entry: Entry, data: Path, most: int) -> Problem:
    """Return a table with its target, at most so many rows: the same sample for all."""
    return prepare_frame(load(entry, data), entry.target, most)


def prepare_frame(frame: Any, target: str, most: int) -> Problem:
    """Return a frame with its target, at most so many rows."""
    if len(frame) > most:
        frame = frame.sample(most, random_state=0)
    frame = frame.reset_index(drop=True)
    cells = frame.pop(target)
    if cells.dtype.kind == "f" or (cells.dtype.kind in "iu" and cells.nunique() > 20):
        y = cells.to_numpy(dtype=np.float64)
    else:
        y = np.unique(cells.astype(str), return_inverse=True)[1].astype(np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = {c.name: c.kind.name for c in read_table(frame).columns}
        numbers = [
            c for c, kind in kinds.items() if kind == "number" and frame[c].dtype.kind in "if"
        ]
        words = [c for c, kind in kinds.items() if kind in WORDS]
        frame = frame[numbers + words]
        frame = frame.astype(dict.fromkeys(numbers, float))
        for word in words:
            frame[word] = frame[word].astype(object).where(frame[word].notna(), None)
            frame[word] = [None if cell is None else str(cell) for cell in frame[word]]
        # Stated, so that nothing is joined or goes round: all contenders have the same columns.
        stated = dict.fromkeys(numbers, "number") | dict.fromkeys(words, "category")
        table = read_table(frame, kinds=stated)
    return Problem(table, frame, numbers, words, y)


def encoder(problem: Problem) -> Any:
    """Return the usual preparation: medians with indicators and z-scores, one-hot levels."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    levels = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=50,
                           sparse_output=False)  # fmt: skip
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(impute, StandardScaler()), problem.numbers),
            ("words", levels, problem.words),
        ]
    )
