"""Points and tables that several tests of clustering share."""

import numpy as np

from clustering import reference
from lookalike.clustering._clustering import Space
from lookalike.measures import Vector

TOY = reference.TOY[:, None]
HALVES = [0, 0, 0, 1, 1, 1]
BY_NUMBER = ("components", "spectral", "affinity", "complete", "ward", "medoids")


def space_of(points, measure=None):
    measure = (Vector() if measure is None else measure).fit(points)
    return Space(measure, measure.rows_, "test", 20_000)


def two_moons(n=120, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, n)
    upper = np.arange(n) % 2 == 0
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.column_stack([x, y]) + rng.normal(0, 0.05, (n, 2)), upper.astype(int)


def blobs(n=90, seed=0, spread=0.6):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    groups = np.arange(n) % 3
    return centers[groups] + rng.normal(0, spread, (n, 2)), groups


def mixed(n=40, seed=0):
    rng = np.random.default_rng(seed)
    half = np.arange(n) % 2
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(0, 1, n) + 6 * half)
    color = np.array(["red", "blue"])[half].astype(object)
    color[rng.random(n) < 0.1] = None
    tags = [["x", "y"] if h else ["z"] for h in half]
    return {"size": size, "color": color.tolist(), "tags": tags}, half
