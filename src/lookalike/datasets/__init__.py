"""Data to try things on: two real tables, and one table written on six other scales."""

from lookalike.datasets.films import load_films
from lookalike.datasets.penguins import load_penguins
from lookalike.datasets.scales import transforms

__all__ = ["load_films", "load_penguins", "transforms"]
