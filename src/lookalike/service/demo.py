"""The films, served: what ``lookalike demo --page`` shows."""

from __future__ import annotations

from lookalike.datasets import load_films
from lookalike.service.catalog import Catalog
from lookalike.service.fitting import Settings
from lookalike.service.limits import Limits

NAME = "films"


def serve_films(catalog: Catalog, limits: Limits) -> str:
    """Make the films a collection, unless the store has them already; return its name."""
    if NAME not in {head.name for head in catalog.heads()}:
        settings = Settings("58,788 films of IMDb (2005)", label_column="title")
        catalog.create(NAME, load_films(), settings, limits)
    return NAME
