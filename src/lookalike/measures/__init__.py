"""Measures of likeness: each an encoder of rows and a comparison of blocks."""

from lookalike.measures.base import MEASURES, Measure, Traits
from lookalike.measures.explanation import Explanation
from lookalike.measures.gower import Gower
from lookalike.measures.precomputed import Precomputed
from lookalike.measures.ranked import Ranked
from lookalike.measures.rows import Rows
from lookalike.measures.vector import Vector

__all__ = [
    "MEASURES",
    "Explanation",
    "Gower",
    "Measure",
    "Precomputed",
    "Ranked",
    "Rows",
    "Traits",
    "Vector",
]
