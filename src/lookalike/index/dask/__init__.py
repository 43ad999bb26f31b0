"""Build, search and analyze an index by many workers: tasks over shards, scheduled by Dask.

There is no mathematics here. A task reads files, calls the function that one process calls for the
same rows, and writes its result as a shard under another name, then renames it: tasks are
idempotent.
"""

from lookalike.index.dask.build import add, fit_encode, read_table
from lookalike.index.dask.scheduling import Summary, connect
from lookalike.index.dask.search import (
    Hubness,
    check,
    density_clusters,
    hubness,
    kneighbors,
    knn_graph,
    open_index,
)

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
