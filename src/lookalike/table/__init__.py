"""Tables as they come from the world: each column with its kind and the reason for it."""

from lookalike.table.formats.lazy import LazyTable
from lookalike.table.model.kind import KINDS, Kind, Reading
from lookalike.table.model.summary import ColumnSummary, TableSummary
from lookalike.table.model.table import Column, Graph, Schema, Table
from lookalike.table.read import as_table, read_table

__all__ = [
    "KINDS",
    "Column",
    "ColumnSummary",
    "Graph",
    "Kind",
    "LazyTable",
    "Reading",
    "Schema",
    "Table",
    "TableSummary",
    "as_table",
    "read_table",
]
