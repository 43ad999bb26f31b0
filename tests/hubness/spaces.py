"""Small spaces, and a comparison of lists, that several tests share."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.measures import Precomputed, Vector

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])
LABELS = [0, 0, 1, 1]
LONGER = np.vstack([LINE, [[15.0]]])


def distances(seed, n=10, largest=9):
    """Symmetric integers: many ties."""
    d = np.random.default_rng(seed).integers(1, largest, (n, n)).astype(float)
    d = d + d.T
    np.fill_diagonal(d, 0)
    return d


def every_space(d):
    """The same space as a matrix, a fitted measure, a graph with all neighbors and a sparse one."""
    measure = Precomputed().fit(d)
    graph = measure.neighbors(k=len(d) - 1)
    frame = pd.DataFrame(d)
    return [d, measure, graph, graph.to_csr(include_self=True), frame]


line = Vector().fit(LINE)


def assert_same_lists(one, other):
    assert_array_equal(one.indices, other.indices)
    assert_allclose(one.distances, other.distances, rtol=1e-12, atol=1e-12)
