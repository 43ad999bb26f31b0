"""Long texts are compared by their words: edit distances take too long, and say little."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import replace

import numpy as np

from lookalike.table import Column, Kind, Table

MIN_LONG_CHARACTERS = 200.0  # on average, from which a text is not a name or a code
MAX_WORD_SHARE = 0.5  # of the texts; more common words are stop words
WORD = re.compile(r"\w{3,}")


def by_words(table: Table) -> Table:
    """Compare long texts by the words in them.

    How many letters turn one review into another says little about what they are about, and takes
    half a millisecond a pair. Each column of texts with 200 characters or more on average becomes a
    column of sets of words, called "words of ...", and the texts are set aside as names of the
    rows. Words of one or two letters, and those in more than half of the texts, do not count.
    Columns whose kind was given stay as they are, and so does a table without long texts.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Table

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.show.report import by_words
    >>> said = [
    ...     "It rained. " * 30,
    ...     "It snowed, it rained. " * 20,
    ...     "The sun! " * 90,
    ...     "Clouds. " * 40,
    ... ]
    >>> table = by_words(la.read_table({"year": [1.5, 2.5, 3.5, 4.5], "diary": said}))
    >>> table.names, sorted(table["words of diary"].values[1])
    (('year', 'words of diary'), ['rained', 'snowed'])
    """
    columns, aside = [], list(table.aside)
    every = {column.name for column in table.columns + table.aside}
    for column in table.columns:
        name = f"words of {column.name}"
        mean = _mean_length(column)
        # A kind that the user gave is never changed; an existing column of the name is not
        # replaced.
        if mean < MIN_LONG_CHARACTERS or name in every or column.kind.reason.startswith("given"):
            columns.append(column)
            continue
        words = np.empty(len(column), dtype=object)
        words[:] = _words(column.values)
        why = f"{column.name} has {mean:,.0f} characters on average: compared by its words"
        columns.append(Column(name, Kind("set", why), words))
        kind = replace(column.kind, role="name", reason="long texts, compared by their words")
        aside.append(replace(column, kind=kind))
    if len(aside) == len(table.aside):
        return table
    return Table(columns, aside, len(table), table.missing)


def _words(texts: np.ndarray) -> list[frozenset[str] | None]:
    """Return the words of each text but for those that most texts have."""
    sets = [None if text is None else frozenset(WORD.findall(text.lower())) for text in texts]
    known = [words for words in sets if words is not None]
    counts = Counter(itertools.chain.from_iterable(known))
    common = {word for word, count in counts.items() if count > MAX_WORD_SHARE * len(known)}
    return [None if words is None else words - common for words in sets]


def _mean_length(column: Column) -> float:
    """Return how many characters the texts of a column have; 0 for any other column."""
    if column.kind.name != "text" or column.missing.all():
        return 0.0
    return float(np.mean([len(cell) for cell in column.values if cell is not None]))
