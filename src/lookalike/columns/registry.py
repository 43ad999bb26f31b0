"""Which distances there are, and which one a column gets."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.columns.base import Distance
from lookalike.columns.custom import CallableDistance, MatrixDistance
from lookalike.columns.graph import GraphEdit, GraphJaccard, WeisfeilerLehman
from lookalike.columns.levels import Cyclic, Equal, Information, Presence, RankRange
from lookalike.columns.number import Absolute, RankShare
from lookalike.columns.sequence import Edit, EditSets
from lookalike.columns.series import DTW
from lookalike.columns.sets import Jaccard, Overlap
from lookalike.columns.text import JaroWinkler, Levenshtein, TokenSet
from lookalike.columns.vector import Cosine, EarthMover, Euclidean, NormalizedEuclidean
from lookalike.errors import InvalidInput, Param, Phrase, suggest
from lookalike.table.model.kind import KINDS

_ORDER: tuple[type[Distance], ...] = (
    Absolute,
    RankShare,
    Information,
    RankRange,
    Cyclic,
    Presence,
    Equal,
    Levenshtein,
    TokenSet,
    JaroWinkler,
    Jaccard,
    Overlap,
    Edit,
    EditSets,
    DTW,
    Euclidean,
    NormalizedEuclidean,
    EarthMover,
    Cosine,
    GraphJaccard,
    WeisfeilerLehman,
    GraphEdit,
)

CYCLES = ("month", "weekday")  # roles whose levels go round
ANSWER = "answer"  # the role of flags whose no says as much as their yes

DISTANCES: dict[str, type[Distance]] = {distance.name: distance for distance in _ORDER}
"""Distances by the name that users type; the first one that serves a kind is its default."""


def distances_of(kind: str) -> tuple[str, ...]:
    """Return the names of the distances that serve a kind of column, its default first.

    Examples
    --------
    >>> distances_of("text")
    ('levenshtein', 'token_set', 'jaro_winkler')
    """
    return tuple(name for name, distance in DISTANCES.items() if kind in distance.kinds)


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
        The role of the column's kind: months and weekdays are compared in a circle by default, and
        a shared no of yes/no answers counts as much as a shared yes.

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
    distance = _given(spec, kind, who)
    if distance is None:
        needed = "a name, a distance, a function of two cells or a square matrix"
        hint = "Choose one of " + ", ".join(map(repr, distances_of(kind)))
        raise InvalidInput(who, needed, repr(spec), hint)
    if kind not in distance.kinds:
        asked = repr(spec if isinstance(spec, str) else distance)
        raise _does_not_serve(asked, distance.kinds, kind, column_name)
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
    if isinstance(spec, list | tuple) or hasattr(spec, "__array__"):
        return _matrix_distance(spec, kind, who)
    return None


def _default(kind: str, column_name: str, role: str) -> Distance:
    """Return the distance of a column that asks for none: that of its role, else of its kind."""
    if role in CYCLES:
        return Cyclic()
    if role == ANSWER:
        return Equal()
    serving = distances_of(kind)
    if serving:
        return DISTANCES[serving[0]]()
    hint = Phrase(
        "Name a distance of two cells in ",
        Param("distances"),
        ", or set the column aside: ",
        Param("kinds", {column_name: "aside"}),
    )
    who = f"column {column_name!r}"
    raise InvalidInput(who, "a distance, as its cells can be anything", "none", hint)


def _does_not_serve(asked: str, kinds: tuple[str, ...], kind: str, column: str) -> InvalidInput:
    use = " or ".join(repr(name) for name in distances_of(kind)) or "a function of two cells"
    hint = Phrase(
        f"Use {use}, or read the column as another kind: ", Param("kinds", {column: kinds[0]})
    )
    found = f"{asked}, which is for {' and '.join(kinds)} cells"
    return InvalidInput(f"column {column!r}", f"a distance for {kind} cells", found, hint)


def _matrix_distance(spec: Any, kind: str, who: str) -> MatrixDistance:
    matrix = _as_matrix(spec, who)
    if kind != "number":
        found = f"a column of kind {kind}"
        hint = "Let the column hold integers, the positions of its rows in the matrix"
        raise InvalidInput(who, "positions in the given matrix", found, hint)
    return MatrixDistance(matrix)


def _as_matrix(spec: Any, who: str) -> np.ndarray:
    try:
        matrix = np.asarray(spec, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        found = f"an array of shape {matrix.shape}"
        hint = "Give the distance of every object to every object"
        raise InvalidInput(who, "a square matrix of distances", found, hint)
    return matrix
