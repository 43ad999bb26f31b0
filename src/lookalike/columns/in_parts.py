"""Distances fitted to a column that stays in its files: the same fit, learned in parts.

Numbers, levels and codes are learned from the distinct values and how often each occurs; cells with
something inside from the sample that is drawn in memory too. Nothing depends on where the parts
begin.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from lookalike.columns.base import Distance, cell_error, longest_of, missing_cells, sizes_of
from lookalike.columns.custom import MatrixDistance
from lookalike.columns.graph import GraphEdit, GraphJaccard, WeisfeilerLehman
from lookalike.columns.levels import Equal, LevelDistance, Presence
from lookalike.columns.number import Absolute, RankShare
from lookalike.columns.sequence import Edit, EditSets
from lookalike.columns.series import DTW
from lookalike.columns.sets import Jaccard, Overlap
from lookalike.columns.text import JaroWinkler, Levenshtein, TokenSet
from lookalike.columns.vector import Cosine, EarthMover, Euclidean, NormalizedEuclidean
from lookalike.errors import InvalidInput
from lookalike.saving.fields import check_params
from lookalike.table import LazyTable
from lookalike.table.model.tally import Tally

SAMPLED = {
    Cosine, DTW, EarthMover, Edit, EditSets, Euclidean, GraphEdit, GraphJaccard, Jaccard,
    JaroWinkler, Levenshtein, NormalizedEuclidean, Overlap, TokenSet, WeisfeilerLehman,
}  # fmt: skip


def fit_in_parts(distance: Distance, table: LazyTable, name: str) -> Distance:
    """Return a copy of a distance that has learned what it needs from a column in files.

    Parameters
    ----------
    distance : Distance
    table : LazyTable
    name : str, the column
    """
    learn = _how(distance, name)
    check_params(distance)
    distance._check_kind(table.like[name])
    fitted = copy.copy(distance)
    fitted.column_ = name
    found = learn(fitted, table, name)
    fitted.scale_ = float(found if distance.scale is None else distance.scale)
    return fitted


def _how(distance: Distance, name: str) -> Callable[..., float]:
    kind = type(distance)
    if kind is RankShare:
        return _ranks
    if kind is Absolute:
        return _range
    if isinstance(distance, LevelDistance):
        return _levels
    if kind in (Equal, Presence):
        return _codes
    if kind is MatrixDistance:
        return _positions
    if kind in SAMPLED:
        return _sampled
    found = f"{kind.__name__}, which may look at all cells together"
    hint = "Give the column a distance of lookalike's, set it aside, or fit in memory"
    raise InvalidInput(f"column {name!r}", "a distance that can be learned in parts", found, hint)


def _finite_tally(table: LazyTable, name: str) -> Tally:
    tally = table.tally(name)
    if tally.infinite >= 0:
        hint = "Replace infinite values or leave them missing"
        raise cell_error(name, tally.infinite, "finite numbers", "an infinite one", hint)
    return tally


def _range(fitted: Absolute, table: LazyTable, name: str) -> float:
    tally = _finite_tally(table, name)
    low = high = 0.0
    if tally.count:
        k = int(fitted.trim * (tally.count - 1))
        low, high = tally.ranked(np.array([k, tally.count - 1 - k])).tolist()
        if not low < high:
            low, high = float(tally.values[0]), float(tally.values[-1])
    fitted.low_ = low
    return fitted.span_of(name, low, high) if fitted.scale is None else 0.0


def _ranks(fitted: RankShare, table: LazyTable, name: str) -> float:
    tally = _finite_tally(table, name)
    fitted.learn_counts(tally.values, tally.counts)
    return float(len(fitted.values_) > 1)


def _levels(fitted: LevelDistance, table: LazyTable, name: str) -> float:
    levels = table.like[name].kind.levels
    tally = table.tally(name)
    counts = np.zeros(len(levels), np.int64)
    here = tally.values >= 0
    counts[tally.values[here].astype(np.int64)] = tally.counts[here]
    fitted.learn_levels(tuple(levels), counts)
    return 1.0


def _codes(fitted: Distance, table: LazyTable, name: str) -> float:
    fitted._learn(table.like[name])
    return 1.0


def _positions(fitted: MatrixDistance, table: LazyTable, name: str) -> float:
    fitted._learn(table.like[name])
    distinct = table.like[name].take(slice(0, 0))
    return float(fitted.largest_among(distinct, table.tally(name).values))


def _sampled(fitted: Distance, table: LazyTable, name: str) -> float:
    """Learn from the cells that ``Distance.fit`` would have looked at."""
    finds_sets = type(fitted) is Edit and fitted.relabel == "auto"
    rows, sizes = [np.empty(0, np.int64)], [np.empty(0)]
    sets: set[bool] = set()
    first = 0
    for part in table.column(name):
        here = np.flatnonzero(~missing_cells(part))
        rows.append(here + first)
        sizes.append(sizes_of(part, here))
        first += len(part)
        if finds_sets:
            sets |= {isinstance(i, frozenset | set) for cell in part.values[here] for i in cell}
    fitted._learn(table.like[name])
    if finds_sets and isinstance(fitted, Edit):
        fitted.sets_ = sets == {True}
    if fitted.scale is not None:
        return 0.0
    known = np.concatenate(sizes)
    size = fitted.sample_size(longest_of(table.like[name], known))
    drawn = fitted.draw(np.concatenate(rows), known, size)
    return fitted._farthest(fitted._encode(table.take_column(name, drawn)))
