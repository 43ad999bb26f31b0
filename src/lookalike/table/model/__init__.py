"""The table and its columns, targets, summaries and new rows."""
