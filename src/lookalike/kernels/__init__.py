"""Loops over arrays, compiled on first use: no tables, options, strings or objects."""

from lookalike.kernels._cache import cache_folder as cache_folder
from lookalike.kernels._jit import COMPILED as COMPILED
from lookalike.kernels._jit import load_compiler as load_compiler
from lookalike.kernels._jit import when_compiling as when_compiling
