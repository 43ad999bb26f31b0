"""Measures by name, as ``lookalike.measures.make_measure`` reads them, and "auto"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.options import read_weights
from lookalike.errors import InvalidInput

if TYPE_CHECKING:
    from lookalike.cli.source import Loaded
    from lookalike.measures import Measure
    from lookalike.table import Table

AUTO = "auto"
DEFAULT = "gower"
WHO = "--measure"


def known() -> dict[str, tuple[type[Measure], dict[str, Any]]]:
    """Return every name that a measure of rows can be asked for by, with its options."""
    from lookalike.measures.names import known_measures

    return known_measures(matrices=False)


def make_measure(text: str, who: str = WHO) -> Measure:
    """Make the measure that the user names; one that looks distances up has no rows to read."""
    from lookalike.measures.names import make_measure as make

    return make(text, who, matrices=False)


def read_measure(text: str) -> Measure | str:
    """Make the measure that the user names; "auto" waits for the table."""
    return AUTO if text.strip().lower() == AUTO else make_measure(text)


def pick_measure(
    text: str | None, loaded: Loaded, default: str = DEFAULT, weights: list[str] | None = None
) -> tuple[Measure, str | None]:
    """Return the measure for a table, with the reason where it was not asked for by name.

    Parameters
    ----------
    text : what the user named, None for nothing
    loaded : Loaded
        A saved index brings its own measure, which is used unless another is named.
    default : name to use where there is none
    weights : words of ``--weight``
    """
    factors = read_weights(weights)
    if text is None and loaded.index is not None:
        from sklearn.base import clone

        return _weighed(clone(loaded.index.measure_), factors), "the measure of the saved index"
    given = read_measure(default if text is None else text)
    if isinstance(given, str) and factors:
        from lookalike.index import choose_measure

        measure, reason = choose_measure(loaded.table, weighs_columns=True)
        return _weighed(measure, factors), reason
    measure, why = choose(given, loaded.table)
    return _weighed(measure, factors), why


def _weighed(measure: Measure, weights: dict[str, float] | None) -> Measure:
    """Give column weights to a measure, or to the one inside it."""
    if not weights:
        return measure
    from lookalike.measures import Gower

    for name, part in [("", measure), *measure.get_params().items()]:
        if isinstance(part, Gower):
            return measure.set_params(**{f"{name}__weights" if name else "weights": weights})
    needed, hint = "a measure that weighs columns", "Use --measure gower"
    raise InvalidInput("--weight", needed, type(measure).__name__, hint)


def choose(measure: Measure | str, table: Table) -> tuple[Measure, str | None]:
    """Return a measure, for "auto" the one that suits the table, with the reason."""
    if not isinstance(measure, str):
        return measure, None
    from lookalike.index import choose_measure

    return choose_measure(table)


def in_words(measure: Measure) -> str:
    """Name a measure in a heading, a repair with what it repairs.

    Examples
    --------
    >>> from lookalike.hubness import MutualProximity
    >>> from lookalike.measures import Gower
    >>> in_words(Gower()), in_words(MutualProximity(Gower()))
    ('Gower', 'MutualProximity of Gower')
    """
    name, inner = type(measure).__name__, getattr(measure, "measure", None)
    return name if inner is None else f"{name} of {type(inner).__name__}"


def set_seed(measure: Measure, seed: int) -> Measure:
    """Give a seed to whatever is random in a measure and has none."""
    names = [n for n, v in measure.get_params().items() if n.endswith("random_state") and v is None]
    return measure.set_params(**dict.fromkeys(names, seed))
