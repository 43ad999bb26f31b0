"""Saved objects: what an attribute may be, writing, and reading untrusted files."""
