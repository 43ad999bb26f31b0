"""``check_measure`` passes for measures that keep the contract, and names what others break."""

import numpy as np
import pytest

from lookalike.measures import Gower, Ranked, Vector
from lookalike.testing import check_measure
from lookalike.testing.contract import _CHECKS

X = np.random.default_rng(0).integers(0, 4, (12, 3)).astype(float)  # with ties


def broken(name, change, base=Vector):
    """Return a measure whose method answers something else."""
    original = getattr(base, name)

    def method(self, *arguments, **options):
        return change(original(self, *arguments, **options), *arguments)

    # A name with an underscore is not entered among the classes that can be saved.
    return type("_Broken", (base,), {name: method, "__init__": base.__init__}, abstract=True)()


def test_measures_of_the_library_keep_it():
    for measure in (Vector(), Ranked(), Gower()):
        check_measure(measure, X, X[:5] + 0.5)


def test_each_breach_is_named():
    def asymmetric(values, a, b):
        return values + np.arange(values.shape[1]) * 1e-9

    def second_first(graph, *_):
        graph.indices[:, [0, -1]] = graph.indices[:, [-1, 0]]
        return graph

    for measure, message in (
        (broken("compare", asymmetric), "a row with itself|symmetry|bounds"),
        (broken("nearest", second_first), "neighbors agree with the matrix|lists of parts merge"),
    ):
        with pytest.raises(AssertionError, match=f"breaks the contract .({message})"):
            check_measure(measure, X)


def test_the_checks_are_those_of_the_docstring():
    assert len(_CHECKS) == len({check.__name__ for check in _CHECKS}) == 11
