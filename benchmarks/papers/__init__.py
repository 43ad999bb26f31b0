"""Published tables beside our numbers: ``python -m benchmarks.papers [CASE|all]``."""
