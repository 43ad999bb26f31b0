"""The same answers from several machines: tasks over shards, scheduled by Dask.

There is no mathematics here. A task reads files, calls the function that one machine calls for the
same rows, and writes its answer as a shard, beside and renamed; doing it twice changes nothing.
"""

from lookalike.index.dask.clients import connect
from lookalike.index.dask.encode import add, fit_encode, read_table
from lookalike.index.dask.graph import density_clusters, hubness, knn_graph
from lookalike.index.dask.questions import check, kneighbors, open_index
from lookalike.index.dask.summary import Hubness, Summary

__all__ = [
    "Hubness",
    "Summary",
    "add",
    "check",
    "connect",
    "density_clusters",
    "fit_encode",
    "hubness",
    "kneighbors",
    "knn_graph",
    "open_index",
    "read_table",
]
