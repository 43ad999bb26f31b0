"""Squares and rectangles of values between encoded rows: one loop, one memory guard.

The caller chooses the value of a pair with nothing to compare: ``"raise"`` (or the measure's
``undefined=``), ``"half"`` (half alike, for representations) or ``"keep"`` (NaN).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, run
from lookalike.errors import Param, TooLarge, UndefinedMeasure
from lookalike.kernels.hubness import fold_moments
from lookalike.measures.contract.rows import Rows, self_pairs

if TYPE_CHECKING:
    from lookalike.measures.contract.base import Measure

CHUNK = 1024  # width of a scan over the fitted rows: never derived from n_jobs or memory_limit
MEDIAN_ROWS = 128  # rows sampled for the median distance
HALF = 0.5  # similarity of two rows with nothing to compare, for representations


def check_pairs(
    who: str, n: int, m: int, hint: str, *, bytes_per_pair: float = 8, what: str = "a matrix"
) -> None:
    """Refuse n x m values that would not fit under the memory limit, before they are made.

    Parameters
    ----------
    who : str
    n, m : int
    hint : str
        What to do instead; how to raise the limit is added.
    bytes_per_pair : float
    what : str
        What would be made, in words.
    """
    # Before the allocation: one that the system cannot serve may end the process.
    size, limit = bytes_per_pair * n * m, settings().memory_limit
    if size > limit:
        needed = f"{what} under the memory limit of {show_bytes(limit)}"
        more = hint, ", or raise ", Param("memory_limit", of="config")
        raise TooLarge(who, needed, f"{n:,} x {m:,} = {show_bytes(size)}", more)


def block_or_half(measure: Measure, a: Rows, b: Rows, to: str = "similarity") -> np.ndarray:
    """Return one block in which undefined pairs are half alike, or as far as half alike is."""
    return settle(measure, measure.block(a, b, to), to, "half")


def rectangle(
    measure: Measure,
    a: Rows,
    b: Rows,
    to: str = "distance",
    *,
    undefined: str = "raise",
    n_jobs: int | None = None,
    what: str = "comparing rows",
) -> np.ndarray:
    """Return the values of all rows of a against all rows of b.

    Of rows against themselves (a is b), only half is compared if the measure is symmetric.

    Parameters
    ----------
    measure : Measure, fitted
    a, b : Rows
    to : {"distance", "similarity"}
    undefined : {"raise", "half", "keep"}
    n_jobs : int, optional
        None: that of the measure.
    what : str
        The label of the progress bar.
    """
    out, is_square = np.empty((len(a), len(b))), a is b
    mirrored = is_square and measure.traits.symmetric

    def compare(down: slice, across: slice) -> bool:
        block = measure.block(a[down], b[across], to, same=is_square and down == across)
        out[down, across] = block
        if mirrored:  # bit for bit what comparing the other way round gives (trait ``symmetric``)
            out[across, down] = block.T
        return bool(np.isnan(block).any())

    # Blocks of up to 2 MB stay in the cache of a core while they are made and checked for NaN; tall
    # ones share the rows of b that a kernel transposes. Of a square, only equal slices of one size
    # touch the diagonal.
    wide = max(1, min(len(b), 256 if is_square else 1024))
    tall = wide if is_square else max(64, (1 << 18) // wide)
    columns = list(blocks(len(b), wide))
    tasks = [(r, c) for i, r in enumerate(blocks(len(a), tall)) for c in columns[i * mirrored :]]
    jobs = getattr(measure, "n_jobs", None) if n_jobs is None else n_jobs
    has_undefined = any(run(compare, tasks, jobs, f"{what} ({to})"))
    return settle(measure, out, to, undefined) if has_undefined else out


def square(measure: Measure, rows: Rows, to: str = "distance", **options: Any) -> np.ndarray:
    """Return the values of all rows against each other; options as for ``rectangle``."""
    return rectangle(measure, rows, rows, to, **options)


def settle(measure: Measure, values: np.ndarray, to: str, undefined: str = "raise") -> np.ndarray:
    """Return values with undefined pairs filled in place or kept, else an error naming the rows."""
    missing = np.isnan(values)
    filler = HALF if undefined == "half" else getattr(measure, "undefined", None)
    if undefined == "keep" or not missing.any():
        return values
    if filler is not None:
        values[missing] = filler if to == "similarity" else measure.distance_at(filler)
        return values
    i, j = (int(positions[0]) for positions in np.nonzero(missing))
    hint: Any = "Leave out these pairs"
    if hasattr(measure, "undefined"):
        fill = " to the similarity such pairs should have"
        hint = ("Drop the empty rows, or set ", Param("undefined"), fill)
    who, needed = f"{type(measure).__name__}.{to}", "pairs of rows with something to compare"
    found = f"{int(missing.sum()):,} pairs without, the first of them rows {i} and {j}"
    raise UndefinedMeasure(who, needed, found, hint)


def pair_by_pair(
    measure: Measure, a: Rows, b: Rows, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return the distances of single pairs, those with the same left row in one block."""
    out = np.empty(len(left))
    starts = np.flatnonzero(np.diff(left, prepend=-1))
    for start, end in pairwise([*starts.tolist(), len(left)]):
        i = int(left[start])
        out[start:end] = measure.block(a[i : i + 1], b[right[start:end]])[0]
    return out


def fixed_sample(n: int) -> np.ndarray:
    """Return the positions of at most MEDIAN_ROWS of n rows, ascending, always the same."""
    # A fixed seed: the scale, and so every similarity, is the same in every fit.
    size = min(n, MEDIAN_ROWS)
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))


def median_distance(measure: Measure, rows: Any) -> float:
    """Return the median distance of a fixed sample of fitted pairs: the unit of ``"ratio"``."""
    sample = rows[fixed_sample(len(rows))]
    values = measure.block(sample, sample, "distance")[np.triu_indices(len(sample), 1)]
    # Duplicates would make the median 0 in a table of repeated rows, and s = c / (c + d) undefined.
    values = values[np.isfinite(values) & (values > 0)]
    return float(np.median(values)) if len(values) else 1.0


ROWS_PER_TASK = 64  # with chunks of 1,024 columns a block (512 KB) stays in the second-level cache


def moments(
    measure: Measure, rows: Rows, reference: Rows, include_self: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return number, mean and population standard deviation of the distances to a reference.

    A row itself and undefined distances are left out; with ``include_self`` a fitted row counts
    itself at distance 0. The standard deviation of equal distances is exactly 0.
    """
    n = len(rows)
    count, mean, square = np.zeros(n), np.zeros(n), np.zeros(n)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)

    def fold(part: slice) -> None:
        queries = rows[part]
        folded = [values[part] for values in (count, mean, square, low, high)]
        for chunk in blocks(len(reference), CHUNK):  # a fixed width, so a fixed order of every sum
            others = reference[chunk]
            d = measure.block(queries, others)
            d[self_pairs(queries, others)] = np.nan
            fold_moments(d, *folded)

    run(fold, [(part,) for part in blocks(n, ROWS_PER_TASK)], n_jobs, "averaging distances")
    if include_self:
        # One more value of 0: the update of mean and squares by Welford (1962).
        own = rows.seen >= 0
        square[own] += mean[own] ** 2 * (count[own] / (count[own] + 1))
        mean[own] *= count[own] / (count[own] + 1)
        low[own], high[own] = np.minimum(low[own], 0.0), np.maximum(high[own], 0.0)
        count[own] += 1
    with np.errstate(invalid="ignore"):
        sd = np.sqrt(square / np.where(count > 0, count, np.nan))
    mean[count == 0] = np.nan
    # Sums of equal values leave round-off behind, which would pass for spread.
    equal = low == high
    mean[equal], sd[equal] = low[equal], 0.0
    return count, mean, sd
