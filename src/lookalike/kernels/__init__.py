"""Compiled loops over arrays. They see no tables, options or objects, and import nothing above this folder."""
