"""Compiled loops over arrays; they see no tables, options or objects."""
