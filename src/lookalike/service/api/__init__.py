"""The routes, one file per group."""
