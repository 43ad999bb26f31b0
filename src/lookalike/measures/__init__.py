"""Measures of likeness: each an encoder of rows and a comparison of blocks."""

from lookalike.measures.base import MEASURES, Measure
from lookalike.measures.combined import Combined
from lookalike.measures.explanation import Explanation
from lookalike.measures.forest import ForestProximity
from lookalike.measures.forest_ancestors import Aryal, Ting, Zhu2, Zhu3
from lookalike.measures.forest_reading import OutOfBag, Ratio, Shi
from lookalike.measures.gower import Gower
from lookalike.measures.names import known_measures, make_measure
from lookalike.measures.precomputed import Precomputed
from lookalike.measures.ranked import Ranked
from lookalike.measures.rows import Rows
from lookalike.measures.stochastic_forest import StochasticForest
from lookalike.measures.traits import Traits
from lookalike.measures.vector import Vector
from lookalike.measures.weights import least_squares_weights, relieff_weights

__all__ = [
    "MEASURES",
    "Aryal",
    "Combined",
    "Explanation",
    "ForestProximity",
    "Gower",
    "Measure",
    "OutOfBag",
    "Precomputed",
    "Ranked",
    "Ratio",
    "Rows",
    "Shi",
    "StochasticForest",
    "Ting",
    "Traits",
    "Vector",
    "Zhu2",
    "Zhu3",
    "known_measures",
    "least_squares_weights",
    "make_measure",
    "relieff_weights",
]
