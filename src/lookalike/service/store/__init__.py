"""Rows on disk: SQLite in one file, or PostgreSQL."""
