"""Search a mutable index of rows, with reasons, filters, weights and relevance feedback."""

from lookalike.index.drift import ColumnDrift, Drift
from lookalike.index.feedback import FeedbackSession, Round
from lookalike.index.hits import Hit, Hits
from lookalike.index.index import Index
from lookalike.index.neighbor_lists import NeighborLists, list_neighbors
from lookalike.index.refeat import ReFeat
from lookalike.index.relevance import rocchio
from lookalike.index.shards.build import build_index

__all__ = [
    "ColumnDrift",
    "Drift",
    "FeedbackSession",
    "Hit",
    "Hits",
    "Index",
    "NeighborLists",
    "ReFeat",
    "Round",
    "build_index",
    "list_neighbors",
    "rocchio",
]
