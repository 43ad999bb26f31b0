"""Everything about a table on one page: columns, gaps, neighbors, hubs, map, clusters, measures."""

from lookalike.show.report.table_report import TableReport

__all__ = ["TableReport"]
