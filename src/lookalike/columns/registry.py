"""Which distances there are, and which one a column gets."""

from typing import Any

import numpy as np

from lookalike.columns import graph, levels, number, sequence, series, sets, text, vector
from lookalike.columns.base import Distance, show
from lookalike.columns.custom import CallableDistance, MatrixDistance
from lookalike.errors import InvalidInput, Param, Phrase, suggest
from lookalike.table.model.kind import DOCUMENT, KINDS, PLACE, period_of

# In the order in which they are listed to users, which is that of their definition: of each kind,
# the default first.
_MODULES = (number, levels, text, sets, sequence, series, vector, graph)

# Months and weekdays go round; the no of an answer says as much as its yes.
BY_ROLE = {
    **dict.fromkeys(("month", "weekday", "cycle"), levels.Cyclic),
    "answer": levels.Equal,
    PLACE: vector.GreatCircle,
    DOCUMENT: text.TfIdf,
}

# Embeddings are trained for their angle: what models write is compared by the cosine.
FIRST = {"vector": "cosine"}

# Distances by the name that users type; the first one that serves a kind is its default, unless
# another one is named above.
DISTANCES: dict[str, type[Distance]] = {
    found.name: found
    for module in _MODULES
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, Distance) and found.name
}


def distances_of(kind: str) -> tuple[str, ...]:
    """Return the names of the distances that serve a kind of column, its default first.

    Examples
    --------
    >>> distances_of("text")
    ('levenshtein', 'token_set', 'jaro_winkler', 'tfidf')
    """
    serving = [name for name, distance in DISTANCES.items() if kind in distance.kinds]
    return tuple(sorted(serving, key=lambda name: name != FIRST.get(kind)))


def distance_for(spec: Any, kind: str, column_name: str, role: str = "") -> Distance:
    """Return the distance that a column asks for.

    Parameters
    ----------
    spec : None, str, Distance, callable or square matrix
        None: the default of the kind. A name such as "jaccard". A distance with options, such as
        ``Levenshtein(normalized=False)``. A function of two cells. A matrix of distances, of which
        the column then holds positions.
    kind : str
        The kind of the column.
    column_name : str
        Its name, for error messages.
    role : str
        The role of the column's kind: what comes round (months, hours, angles) is compared in a
        circle by default, and a shared no of yes/no answers counts as much as a shared yes.

    Examples
    --------
    >>> distance_for(None, "set", "tags")
    Jaccard()
    >>> distance_for("levenstein", "text", "title")
    Traceback (most recent call last):
    lookalike.errors.InvalidInput: column 'title': needs a distance for text cells, found
    'levenstein'. Did you mean 'levenshtein'?...
    """
    who = f"column {column_name!r}"
    if kind not in KINDS:
        raise InvalidInput(who, "a kind of column", repr(kind), suggest(kind, KINDS))
    if spec is None:
        return _default(kind, column_name, role)
    if (distance := _given(spec, kind, who)) is None:
        needed = "a name, a distance, a function of two cells or a square matrix"
        hint = "Choose one of " + ", ".join(map(repr, distances_of(kind)))
        raise InvalidInput(who, needed, show(spec), hint)
    if isinstance(distance, MatrixDistance) and kind != "number":
        hint = "Let the column hold integers, the positions of its rows in the matrix"
        raise InvalidInput(who, "positions in the given matrix", f"a column of kind {kind}", hint)
    if kind not in distance.kinds:
        use = " or ".join(map(repr, distances_of(kind))) or "a function of two cells"
        other = Param("kinds", {column_name: distance.kinds[0]})
        hint = Phrase(f"Use {use}, or read the column as another kind: ", other)
        named = repr(spec if isinstance(spec, str) else distance)
        found = f"{named}, which is for {' and '.join(distance.kinds)} cells"
        raise InvalidInput(who, f"a distance for {kind} cells", found, hint)
    return distance


def _given(spec: Any, kind: str, who: str) -> Distance | None:
    """Return the distance that a name, class, object, function or matrix means; None: nothing."""
    if isinstance(spec, Distance):
        return spec
    if isinstance(spec, str):
        if spec not in DISTANCES:
            hint = suggest(spec, distances_of(kind) or DISTANCES)
            raise InvalidInput(who, f"a distance for {kind} cells", repr(spec), hint)
        return DISTANCES[spec]()
    if isinstance(spec, type) and issubclass(spec, Distance):
        return spec()
    if callable(spec):
        return CallableDistance(spec)
    try:
        matrix = np.atleast_1d(np.asarray(spec, dtype=np.float64))
    except (TypeError, ValueError):
        return None
    return MatrixDistance(matrix) if matrix.shape == 2 * matrix.shape[:1] else None


def _default(kind: str, column_name: str, role: str) -> Distance:
    """Return the distance of a column that asks for none: that of its role, else of its kind."""
    if role in BY_ROLE:
        return BY_ROLE[role]()
    if period_of(role):
        return number.Circular(period_of(role))
    if serving := distances_of(kind):
        return DISTANCES[serving[0]]()
    instead = (", or set the column aside: ", Param("kinds", {column_name: "aside"}))
    hint = Phrase("Name a distance of two cells in ", Param("distances"), *instead)
    who = f"column {column_name!r}"
    raise InvalidInput(who, "a distance, as its cells can be anything", "none", hint)
