"""Data to try things on: two real tables, and the transforms that test a measure's sense of scale."""

from lookalike.datasets.films import load_films
from lookalike.datasets.penguins import load_penguins
from lookalike.datasets.transforms import transforms

__all__ = ["load_films", "load_penguins", "transforms"]
