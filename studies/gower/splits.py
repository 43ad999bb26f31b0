"""Errors over random splits: computed in parallel, cached separately, with standard errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lookalike._runtime.threads import run
from studies.gower.published import SETS
from studies.work import Work

# Set -> split -> whatever one split gave.
Errors = Mapping[str, Sequence[Any]]


def sets_here(work: Work) -> list[str]:
    """Return the sets of the study that are available."""
    return work.available({name: printed.file for name, printed in SETS.items()})


def over_splits(
    work: Work,
    what: str,
    one: Callable[[str, int], Any],
    n_splits: int,
    names: Sequence[str] | None = None,
) -> dict[str, list[Any]]:
    """Return what ``one(set, seed)`` gives for every set and split; each is kept as it is made."""
    found: dict[str, list[Any]] = {name: [] for name in names or sets_here(work)}
    # Splits outermost: an interrupted run has all sets with fewer splits, not fewer sets.
    parts = [(name, seed) for seed in range(n_splits) for name in found]

    def kept(name: str, seed: int) -> Any:
        return work.once(f"{what}/{name}/{seed}", lambda: one(name, seed))

    with warnings.catch_warnings():
        # Filters set inside a thread are undone by another one; this one holds for all of them.
        warnings.filterwarnings("ignore", message=".*sklearn.utils.parallel.delayed")
        made = run(kept, parts, None, f"{work.name}: {what}")
    for (name, _), errors in zip(parts, made, strict=True):
        found[name].append(errors)
    return found


def per_set(found: Errors, pick: Callable[[Any], float]) -> dict[str, list[float]]:
    """Return one number of each split, in percent, by set."""
    return {name: [100 * pick(split) for split in splits] for name, splits in found.items()}


def at_keys(*keys: str) -> Callable[[Any], float]:
    """Return what takes one number out of nested mappings."""

    def pick(split: Any) -> float:
        for key in keys:
            split = split[key]
        return float(split)

    return pick


def mean_of(errors: Mapping[str, Sequence[float]]) -> float:
    """Return the mean over sets of the mean over splits."""
    return float(np.mean([np.mean(splits) for splits in errors.values()]))


def twice_error(errors: Mapping[str, Sequence[float]], theirs: int = 20) -> float:
    """Return two standard errors of the difference of two such means, one over 20 splits.

    The spread between splits is ours; the paper's 20 splits are taken to vary as much.
    """
    counts = [len(splits) for splits in errors.values()]
    spread = [np.std(splits, ddof=1) if len(splits) > 1 else 0.0 for splits in errors.values()]
    # Both means have noise: ours over n splits, the printed one over 20.
    variances = [s**2 * (1 / n + 1 / theirs) for s, n in zip(spread, counts, strict=True)]
    return float(2 * np.sqrt(sum(variances)) / len(errors))
