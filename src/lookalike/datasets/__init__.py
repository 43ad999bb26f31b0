"""Data to try things on: two real tables, other scales for one, and sequences of sets."""

from lookalike.datasets.loaders import load_films, load_penguins
from lookalike.datasets.scales import transforms
from lookalike.datasets.sequences import PUBLISHED_SEQUENCES, make_sequences_of_sets

__all__ = [
    "PUBLISHED_SEQUENCES",
    "load_films",
    "load_penguins",
    "make_sequences_of_sets",
    "transforms",
]
