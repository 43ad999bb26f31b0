"""Find rows, refine by feedback, and keep an index that rows come to and leave."""

from lookalike.search.choose import choose_measure
from lookalike.search.drift import ColumnDrift, Drift
from lookalike.search.feedback import FeedbackSession, Round
from lookalike.search.hits import Hit, Hits
from lookalike.search.index import Index
from lookalike.search.refeat import ReFeat
from lookalike.search.relevance import rocchio
from lookalike.search.retrieval import Retrieval, retrieval_precision
from lookalike.search.shard_index import build_index

__all__ = [
    "ColumnDrift",
    "Drift",
    "FeedbackSession",
    "Hit",
    "Hits",
    "Index",
    "ReFeat",
    "Retrieval",
    "Round",
    "build_index",
    "choose_measure",
    "retrieval_precision",
    "rocchio",
]
