"""Squares and rectangles of values between encoded rows: one loop, one memory guard.

What stands for a pair with nothing to compare depends on the use, and is said by the caller:
``"raise"`` (or what the measure's ``undefined=`` says), ``"half"`` (half alike, as representations
have it) or ``"keep"`` (NaN).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, run
from lookalike.errors import Param, TooLarge, UndefinedMeasure
from lookalike.kernels.hubness import fold_moments
from lookalike.measures.contract.rows import Rows, RowsAt, self_pairs

if TYPE_CHECKING:
    from lookalike.measures.contract.base import Measure

CHUNK = 1024  # width of a scan over the fitted rows: never derived from n_jobs or memory_limit
MEDIAN_ROWS = 128  # rows sampled for the median distance
HALF = 0.5  # the similarity of two rows with nothing to compare: neither alike nor unlike


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
    size, limit = bytes_per_pair * n * m, settings().memory_limit
    if size > limit:
        raise TooLarge(
            who,
            f"{what} under the memory limit of {show_bytes(limit)}",
            f"{n:,} x {m:,} = {show_bytes(size)}",
            (hint, ", or raise ", Param("memory_limit", of="config")),
        )


def block_or_half(measure: Measure, a: Rows, b: Rows, to: str = "similarity") -> np.ndarray:
    """Return one block in which undefined pairs are half alike, or as far as half alike is."""
    values = measure.block(a, b, to)
    gaps = np.isnan(values)
    if gaps.any():
        values[gaps] = HALF if to == "similarity" else measure.distance_at(HALF)
    return values


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
    out = np.empty((len(a), len(b)))

    def one(down: slice, across: slice) -> bool:
        out[down, across] = measure.block(a[down], b[across], to)
        return bool(np.isnan(out[down, across]).any())

    # Blocks of about 2 MB stay in the cache of a core while they are made and checked for NaN.
    wide = max(1, min(len(b), 4096))
    tasks = [
        (r, c) for r in blocks(len(a), max(64, (1 << 18) // wide)) for c in blocks(len(b), wide)
    ]
    jobs = getattr(measure, "n_jobs", None) if n_jobs is None else n_jobs
    gaps = any(run(one, tasks, jobs, f"{what} ({to})"))
    return _settle(measure, out, to, undefined) if gaps else out


def square(
    measure: Measure,
    rows: Rows,
    to: str = "distance",
    *,
    undefined: str = "raise",
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return the values of all rows against each other; half of them where it is symmetric.

    Parameters
    ----------
    measure : Measure, fitted
    rows : Rows
    to : {"distance", "similarity"}
    undefined : {"raise", "half", "keep"}
    n_jobs : int, optional
        None: that of the measure.
    """
    out = np.empty((len(rows), len(rows)))
    mirrored = measure.traits.symmetric

    def one(down: slice, across: slice) -> bool:
        block = measure.block(rows[down], rows[across], to, same=down == across)
        out[down, across] = block
        if mirrored:
            out[across, down] = block.T
        return bool(np.isnan(block).any())

    parts = list(blocks(len(rows), 256))  # square tiles: only equal slices touch the diagonal
    tasks = [(r, c) for i, r in enumerate(parts) for c in parts[i * mirrored :]]
    jobs = getattr(measure, "n_jobs", None) if n_jobs is None else n_jobs
    gaps = any(run(one, tasks, jobs, f"comparing rows ({to})"))
    return _settle(measure, out, to, undefined) if gaps else out


def _settle(measure: Measure, values: np.ndarray, to: str, undefined: str) -> np.ndarray:
    if undefined == "keep":
        return values
    if undefined == "half":
        values[np.isnan(values)] = HALF if to == "similarity" else measure.distance_at(HALF)
        return values
    return measure.defined(values, to)


def settle_undefined(measure: Measure, values: np.ndarray, to: str) -> np.ndarray:
    """Return values without NaN: filled if the measure says how, else an error naming the rows."""
    holes = np.isnan(values)
    filler = getattr(measure, "undefined", None)
    if filler is not None:
        values[holes] = filler if to == "similarity" else measure.distance_at(filler)
        return values
    i, j = (int(at[0]) for at in np.nonzero(holes))
    raise UndefinedMeasure(
        f"{type(measure).__name__}.{to}",
        "pairs of rows with something to compare",
        f"{int(holes.sum()):,} pairs without, the first of them rows {i} and {j}",
        (
            "Drop the empty rows, or set ",
            Param("undefined"),
            " to the similarity such pairs should have",
        )
        if hasattr(measure, "undefined")
        else "Leave out these pairs",
    )


def pair_by_pair(
    measure: Measure, a: Rows, b: Rows, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return the distances of single pairs, those with the same left row in one block."""
    out = np.empty(len(left))
    ends = [*(np.flatnonzero(np.diff(left)) + 1).tolist(), len(left)] if len(left) else []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        at = int(left[start])
        out[start:end] = measure.block(a[at : at + 1], b[right[start:end]])[0]
    return out


def median_distance(measure: Measure, rows: RowsAt) -> float:
    """Return the median distance of a fixed sample of fitted pairs: the unit of ``"ratio"``."""
    n = len(rows)
    at = np.arange(n)
    if n > MEDIAN_ROWS:
        # A fixed seed: the scale, and so every similarity, is the same in every fit.
        at = np.sort(np.random.default_rng(0).choice(n, MEDIAN_ROWS, replace=False))
    sample = rows[at]
    values = measure.block(sample, sample, "distance")[np.triu_indices(len(at), 1)]
    # Duplicates would make the median 0 in a table of repeated rows, and s = c / (c + d) undefined.
    values = values[np.isfinite(values) & (values > 0)]
    return float(np.median(values)) if len(values) else 1.0


TALL = 64  # with chunks of 1,024 columns a block of distances stays in the second-level cache


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

    def one(part: slice) -> None:
        some = rows[part]
        folded = [values[part] for values in (count, mean, square, low, high)]
        for at in blocks(len(reference), CHUNK):  # a fixed width, so a fixed order of every sum
            others = reference[at]
            d = measure.block(some, others)
            d[self_pairs(some, others)] = np.nan
            fold_moments(d, *folded)

    run(one, [(part,) for part in blocks(n, TALL)], n_jobs, "averaging distances")
    if include_self:
        own = rows.seen >= 0
        square[own] += mean[own] ** 2 * (count[own] / (count[own] + 1))
        mean[own] *= count[own] / (count[own] + 1)
        low[own], high[own] = np.minimum(low[own], 0.0), np.maximum(high[own], 0.0)
        count[own] += 1
    some = count > 0
    sd = np.full(n, np.nan)
    sd[some] = np.sqrt(square[some] / count[some])
    mean[~some] = np.nan
    equal = low == high
    mean[equal], sd[equal] = low[equal], 0.0
    return count, mean, sd
