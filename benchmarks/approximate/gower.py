"""Two sketches of mixed rows, tried and not shipped: points of the same distances, and random bits.

Without gaps the Gower distance is a sum over columns, so scaled numbers and half-weighted one-hot
categories are points whose city-block distance it is; objects and gaps have no place in it.
"""

import numpy as np

from lookalike.neighbors.sketch import Sketch

MANY = 64  # categories of a column that get a coordinate each
BITS = 1024


def coordinates(table):
    """Return a float32 array of shape (rows, coordinates), and the column of each."""
    parts = []
    for column in table:
        values = np.asarray(column.values)
        if column.kind.name == "category":
            levels = int(values.max(initial=0)) + 1
            hot = np.zeros((len(values), min(levels, MANY)), np.float32)
            there = values >= 0
            hot[np.flatnonzero(there), values[there] % MANY] = 0.5
            parts.append(hot)
        elif column.kind.name in ("set", "text", "sequence"):
            continue
        elif values.ndim == 2:
            parts.append(
                (values / max(1e-12, float(np.abs(values).sum(axis=1).max()))).astype("f4")
            )
        else:
            numbers = np.where(column.missing, np.nan, values.astype(float))
            low, high = np.nanmin(numbers), np.nanmax(numbers)
            scaled = (numbers - low) / ((high - low) or 1.0)
            scaled[np.isnan(scaled)] = np.nanmean(scaled)  # a gap is nowhere: put it in the middle
            parts.append(scaled[:, None].astype(np.float32))
    return np.nan_to_num(np.hstack(parts))


def as_points(table):
    return Sketch("cityblock", "", lambda x: x), coordinates(table)


def as_bits(table):
    """Return bits that ask random coordinates whether they are above a random number.

    Two rows differ in a bit with the probability of their mean difference.
    """
    x = coordinates(table)
    rng = np.random.default_rng(0)
    span = x.max(axis=0) - x.min(axis=0)
    which = rng.choice(x.shape[1], BITS, p=span / span.sum())
    limit = x.min(axis=0)[which] + rng.random(BITS) * span[which]
    sketches = np.vstack(
        [np.packbits(x[at : at + 4096][:, which] > limit, axis=1) for at in range(0, len(x), 4096)]
    )
    return Sketch("bits", "", lambda bits: bits), sketches


SKETCHES = {"as points": as_points, "as bits": as_bits}
