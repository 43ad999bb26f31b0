"""Studies of published tables that have not yet moved to ``lookalike.papers``."""
