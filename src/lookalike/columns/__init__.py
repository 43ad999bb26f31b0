"""How two cells of a column differ, one file per kind of column.

Every distance knows the kinds of column it serves, learns what it needs from the fitted column, and
compares blocks of encoded cells. ``distance_for`` turns what a user asks for (a name, a distance
with options, a function of two cells, a matrix) into one.
"""

from lookalike.columns.base import Cells, Distance, variance
from lookalike.columns.custom import CallableDistance, MatrixDistance
from lookalike.columns.graph import GraphEdit, GraphJaccard, WeisfeilerLehman
from lookalike.columns.levels import Cyclic, Equal, Information, Presence, RankRange
from lookalike.columns.number import Absolute, Circular, RankShare
from lookalike.columns.registry import DISTANCES, distance_for, distances_of
from lookalike.columns.sequence import Edit, EditSets
from lookalike.columns.series import DTW, MSM, TWE
from lookalike.columns.sets import Jaccard, Overlap
from lookalike.columns.text import JaroWinkler, Levenshtein, TfIdf, TokenSet
from lookalike.columns.vector import (
    Cosine,
    EarthMover,
    Euclidean,
    Gaussian,
    GreatCircle,
    KullbackLeibler,
    NormalizedEuclidean,
)

__all__ = [
    "DISTANCES",
    "DTW",
    "MSM",
    "TWE",
    "Absolute",
    "CallableDistance",
    "Cells",
    "Circular",
    "Cosine",
    "Cyclic",
    "Distance",
    "EarthMover",
    "Edit",
    "EditSets",
    "Equal",
    "Euclidean",
    "Gaussian",
    "GraphEdit",
    "GraphJaccard",
    "GreatCircle",
    "Information",
    "Jaccard",
    "JaroWinkler",
    "KullbackLeibler",
    "Levenshtein",
    "MatrixDistance",
    "NormalizedEuclidean",
    "Overlap",
    "Presence",
    "RankRange",
    "RankShare",
    "TfIdf",
    "TokenSet",
    "WeisfeilerLehman",
    "distance_for",
    "distances_of",
    "variance",
]
