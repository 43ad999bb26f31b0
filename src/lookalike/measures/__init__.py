"""Measures of likeness: each an encoder of rows and a comparison of blocks."""

from lookalike.measures.combined import Combined
from lookalike.measures.contract.base import MEASURES, Measure, Traits
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows
from lookalike.measures.default import choose_measure
from lookalike.measures.forest.methods import Aryal, Gap, OutOfBag, Ratio, Shi, Ting, Zhu2, Zhu3
from lookalike.measures.forest.proximity import ForestProximity
from lookalike.measures.forest.stochastic_forest import StochasticForest
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.mixed.importance import importance_weights
from lookalike.measures.mixed.weights import least_squares_weights, relieff_weights
from lookalike.measures.names import known_measures, make_measure
from lookalike.measures.precomputed import Precomputed
from lookalike.measures.ranked import Ranked
from lookalike.measures.vector import Vector

__all__ = [
    "MEASURES",
    "Aryal",
    "Combined",
    "Explanation",
    "ForestProximity",
    "Gap",
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
    "choose_measure",
    "importance_weights",
    "known_measures",
    "least_squares_weights",
    "make_measure",
    "relieff_weights",
]
