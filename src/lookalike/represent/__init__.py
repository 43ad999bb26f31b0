"""Similarity as features: prototypes, representations, chains, pictures."""

from lookalike.represent.layers import LayeredRepresentation
from lookalike.represent.map_layout import MapLayout, layout, place_rows
from lookalike.represent.neighbors_transformer import NeighborsTransformer
from lookalike.represent.plot import class_similarity, plot_class_similarity
from lookalike.represent.powers import (
    power_similarity,
    similarity_activation,
    transitive_closure,
)
from lookalike.represent.prototypes import cfs, select_prototypes
from lookalike.represent.representation import NystroemRepresentation, SimilarityRepresentation

__all__ = [
    "LayeredRepresentation",
    "MapLayout",
    "NeighborsTransformer",
    "NystroemRepresentation",
    "SimilarityRepresentation",
    "cfs",
    "class_similarity",
    "layout",
    "place_rows",
    "plot_class_similarity",
    "power_similarity",
    "select_prototypes",
    "similarity_activation",
    "transitive_closure",
]
