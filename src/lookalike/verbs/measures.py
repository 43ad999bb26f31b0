"""The measure and the method of a verb, by name and options: ``vector:metric=cosine``.

A measure may also be given, be that of an index, or be chosen for the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookalike._runtime.options import read_option, split_options
from lookalike.errors import InvalidInput, Param, suggest

if TYPE_CHECKING:
    from lookalike.measures import Measure
    from lookalike.verbs.source import NamedRows

AUTO = "auto"
OF_INDEX = "the measure of the saved index"
# Short names of options; those of measures are the same.
SYNONYMS = dict.fromkeys(("trees", "n_trees"), "n_estimators")
SYNONYMS |= {"k": "n_neighbors", "seed": "random_state"}


def read_measure(measure: Any, seed: int | None = 0) -> Measure | str:
    """Return an unfitted measure for its name; "auto" stays: it needs the table.

    Parameters
    ----------
    measure : str or Measure
    seed : int or None
        For whatever is random in the measure and has no seed of its own.
    """
    if isinstance(measure, str):
        if measure.strip().lower() == AUTO:
            return AUTO
        from lookalike.measures.names import make_measure

        # A measure that looks up distances in a matrix has no rows to read.
        return set_seed(make_measure(measure, Param("measure"), matrices=False), seed)
    from lookalike._runtime.estimator import clone

    return set_seed(clone(measure), seed)


def refuse_measure(measure: Any) -> None:
    """Refuse a measure beside a saved index, whose rows are encoded by its own."""
    if measure is not None:
        found, hint = "a saved index, which has its own", "Leave it out, or build another index"
        raise InvalidInput(Param("measure"), "a table to fit it to", found, hint)


def choose_measure(
    measure: Any, rows: NamedRows, weights: Mapping[str, float] | None = None, seed: int | None = 0
) -> tuple[Measure, str | None]:
    """Return the unfitted measure for some rows, with the reason where it was not asked for.

    Parameters
    ----------
    measure : str, Measure or None
        None: that of the index that the rows came from, else the default for the table.
    rows : NamedRows
    weights : mapping of column to weight, optional
    seed : int or None
    """
    # The measure of an index is fitted again: rows may be filtered, or their columns selected.
    if measure is None and rows.index is not None:
        from lookalike._runtime.estimator import clone

        return weigh_columns(set_seed(clone(rows.index.measure_), seed), weights), OF_INDEX
    given = read_measure(AUTO if measure is None else measure, seed)
    if not isinstance(given, str):
        return weigh_columns(given, weights), None
    from lookalike.measures import choose_measure as choose

    chosen, reason = choose(rows.table)
    return weigh_columns(chosen, weights), reason


def weigh_columns(measure: Measure, weights: Mapping[str, float] | None) -> Measure:
    """Give column weights to a measure, or to the one inside it."""
    if not weights:
        return measure
    from lookalike.measures import Gower

    # The first Gower, outermost first: a reducer passes weights to the measure inside it.
    for name, part in [("", measure), *measure.get_params().items()]:
        if isinstance(part, Gower):
            return measure.set_params(**{f"{name}__weights" if name else "weights": dict(weights)})
    needed, hint = "a measure that weighs columns", ("Use ", Param("measure", "gower"))
    raise InvalidInput(Param("weights"), needed, type(measure).__name__, hint)


def set_seed(measure: Measure, seed: int | None) -> Measure:
    """Give a seed to whatever is random in a measure and has none; None gives none."""
    if seed is None or getattr(measure, "frozen_", False):  # a frozen one is the caller's own
        return measure
    # Nested parameters too, such as that of a forest inside of a reducer.
    names = [n for n, v in measure.get_params().items() if n.endswith("random_state") and v is None]
    return measure.set_params(**dict.fromkeys(names, seed))


def name_measure(measure: Measure) -> str:
    """Name a measure in a heading, a reducer with the measure inside it.

    Examples
    --------
    >>> from lookalike.hubness import MutualProximity
    >>> from lookalike.measures import Gower
    >>> name_measure(Gower()), name_measure(MutualProximity(Gower()))
    ('Gower', 'MutualProximity of Gower')
    """
    name, inner = type(measure).__name__, getattr(measure, "measure", None)
    return name if inner is None else f"{name} of {type(inner).__name__}"


# -- methods ---------------------------------------------------------------------------------------


def read_method(text: str, known: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    """Return the name of a method and its options.

    Parameters
    ----------
    text : str
    known : mapping of method to the options that it takes

    Examples
    --------
    >>> read_method("neighbors:k=5", {"neighbors": ("n_neighbors",), "forest": ()})
    ('neighbors', {'n_neighbors': 5})
    >>> read_method("forest:k=5", {"neighbors": ("n_neighbors",), "forest": ()})
    Traceback (most recent call last):
    lookalike.errors.InvalidInput: method='forest:k=5': needs an option of 'forest', found 'k'. \
It is an option of 'neighbors'.
    """
    name, _, rest = str(text).partition(":")
    name = name.strip().lower()
    if name not in known:
        raise InvalidInput(Param("method"), "a known method", repr(name), suggest(name, known))
    options: dict[str, Any] = {}
    for part in split_options(rest):
        option, equals, value = (word.strip() for word in part.partition("="))
        meant = SYNONYMS.get(option, option)
        if not equals:
            hint = f"Write {name}:option=value"
            raise InvalidInput(Param("method", text), "options as name=value", repr(part), hint)
        if meant not in known[name]:
            who, needed = Param("method", text), f"an option of {name!r}"
            hint = suggest(option, known[name]) if known[name] else "It has none"
            # Most mistakes are options of another method, which the nearest name would hide.
            if others := [other for other in known if meant in known[other]]:
                hint = f"It is an option of {', '.join(map(repr, others))}"
            raise InvalidInput(who, needed, repr(option), hint)
        options[meant] = read_option(value)
    return name, options


def refuse_unused(method: str, methods: Sequence[str], **given: Any) -> None:
    """Refuse parameters that were given and have no effect: ignoring them would mislead.

    Parameters
    ----------
    method : str
        The method that was chosen.
    methods : names of the methods that the parameters are for
    **given : values of the parameters, None where they were not given

    Examples
    --------
    >>> refuse_unused("neighbors", ["neighbors"], measure="gower")
    >>> refuse_unused("forest", ["neighbors"], measure="gower")
    Traceback (most recent call last):
    lookalike.errors.InvalidInput: measure: needs method='neighbors', found method='forest'. \
Leave measure out, or use method='neighbors'.
    """
    for name, value in given.items():
        if not value or method in methods:
            continue
        # Parts, not a text: each surface spells parameters in its own way.
        first = Param("method", methods[0])
        rest = "".join(f" or {other}" for other in methods[1:])
        hint = ("Leave ", Param(name), " out, or use ", first, rest)
        raise InvalidInput(Param(name), (first, rest), Param("method", method), hint)
