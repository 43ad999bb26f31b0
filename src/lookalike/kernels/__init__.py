"""Loops over arrays, compiled on first use: no tables, options, strings or objects."""

from lookalike.kernels._cache import cache_folder as cache_folder
from lookalike.kernels._jit import COMPILED as COMPILED
from lookalike.kernels._jit import started as started
from lookalike.kernels._jit import when_started as when_started
