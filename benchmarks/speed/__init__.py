"""Ours and named rivals, interleaved in one run: ``python -m benchmarks.speed [CASE|all]``."""
