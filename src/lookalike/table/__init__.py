"""Tables as they come from the world: each column with its kind and the reason for it."""

from lookalike.table.lazy import LazyTable
from lookalike.table.new_rows import as_table
from lookalike.table.read import read_table
from lookalike.table.reading import Reading
from lookalike.table.summary import ColumnSummary, TableSummary
from lookalike.table.table import KINDS, Column, Graph, Kind, Schema, Table

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
