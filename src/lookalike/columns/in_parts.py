"""Distances fitted to a column that stays in its files: the same fit, learned in parts.

Numbers, levels and codes are learned from the distinct values and how often each occurs; cells with
something inside from the sample that is drawn in memory too. Nothing depends on where the parts
begin.
"""

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lookalike.columns.base import Distance, cell_error, longest_of, missing_cells, sizes_of
from lookalike.columns.custom import MatrixDistance
from lookalike.columns.levels import Equal, LevelDistance, Presence
from lookalike.columns.number import Absolute, Circular, RankShare
from lookalike.columns.registry import DISTANCES
from lookalike.columns.sequence import Edit
from lookalike.errors import InvalidInput
from lookalike.saving.fields import check_params
from lookalike.table import LazyTable
from lookalike.table.model.tally import Tally


def fit_in_parts(distance: Distance, table: LazyTable, name: str) -> Distance:
    """Return a copy of a distance that has learned what it needs from a column in files.

    Parameters
    ----------
    distance : Distance
    table : LazyTable
    name : str, the column
    """
    learn = _learner(distance, name)
    check_params(distance)
    distance._check_kind(table.like[name])
    fitted = copy.copy(distance)
    fitted.column_ = name
    learned = learn(fitted, table, name)
    fitted.scale_ = float(learned if distance.scale is None else distance.scale)
    return fitted


def _learner(distance: Distance, name: str) -> Callable[..., float]:
    """Return what learns for this class; a subclass of one of ours may learn in another way."""
    kind = type(distance)
    if isinstance(distance, LevelDistance):
        return _levels
    if kind in _LEARNERS:
        return _LEARNERS[kind]
    if DISTANCES.get(kind.name) is kind:
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
        # The same order statistics as ``Absolute._ends`` takes of all values.
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
    levels, tally = tuple(table.like[name].kind.levels), table.tally(name)
    counts = np.zeros(len(levels), np.int64)
    known = tally.values >= 0
    counts[tally.values[known].astype(np.int64)] = tally.counts[known]
    fitted.learn_levels(levels, counts)
    return 1.0


def _codes(fitted: Distance, table: LazyTable, name: str) -> float:
    fitted._learn(table.like[name])
    return fitted._find_scale(table.like[name])  # the same for all columns of this distance


def _positions(fitted: MatrixDistance, table: LazyTable, name: str) -> float:
    # Which positions occur decides about the scale, not how often.
    distinct = replace(table.like[name], values=table.tally(name).values)
    fitted._learn(distinct)
    return fitted._find_scale(distinct)


def _sampled(fitted: Distance, table: LazyTable, name: str) -> float:
    """Learn from the cells that ``Distance.fit`` would have looked at."""
    finds_sets = type(fitted) is Edit and fitted.relabel == "auto"
    positions, sizes = [np.empty(0, np.int64)], [np.empty(0)]
    are_sets: set[bool] = set()
    start = 0
    for part in table.column(name):
        present = np.flatnonzero(~missing_cells(part))
        positions.append(present + start)
        sizes.append(sizes_of(part, present))
        start += len(part)
        if finds_sets:
            items = (item for cell in part.values[present] for item in cell)
            are_sets |= {isinstance(item, frozenset | set) for item in items}
    fitted._learn_parts(table.like[name], table.column(name))
    if finds_sets and isinstance(fitted, Edit):
        fitted.sets_ = are_sets == {True}
    if fitted.scale is not None:
        return 0.0
    # Sizes and positions are those of all rows, so the draw is the one that memory would make.
    all_sizes = np.concatenate(sizes)
    n_sampled = fitted.sample_size(longest_of(table.like[name], all_sizes))
    drawn = fitted.draw(np.concatenate(positions), all_sizes, n_sampled)
    return fitted._farthest(fitted._encode(table.take_column(name, drawn)))


_LEARNERS: dict[type, Callable[..., float]] = {
    RankShare: _ranks,
    Absolute: _range,
    Equal: _codes,
    Presence: _codes,
    Circular: _codes,
    MatrixDistance: _positions,
}
