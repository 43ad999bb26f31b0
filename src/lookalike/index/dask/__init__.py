"""Build and search an index by many workers: tasks over shards, scheduled by Dask.

There is no mathematics here. A task reads files, calls the function that one process calls for the
same rows, and writes its result as a shard under another name, then renames it: tasks are
idempotent.
"""

from lookalike.index.dask.folders import add, check, fit_encode, knn_graph, open_index, read_table
from lookalike.index.dask.scheduling import Summary, connect

__all__ = [
    "Summary",
    "add",
    "check",
    "connect",
    "fit_encode",
    "knn_graph",
    "open_index",
    "read_table",
]
