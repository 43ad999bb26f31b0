"""Measures by name, as ``lookalike.measures.make_measure`` reads them, and "auto"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.measures import Measure
    from lookalike.table import Table

__all__ = [
    "AUTO",
    "DEFAULT",
    "choose",
    "known",
    "make_measure",
    "read_measure",
    "set_seed",
]

AUTO = "auto"
DEFAULT = "gower"
WHO = "--measure"


def known() -> dict[str, tuple[type[Measure], dict[str, Any]]]:
    """Return every name that a measure of rows can be asked for by, with its options."""
    from lookalike.measures.names import known_measures

    return known_measures(matrices=False)


def make_measure(text: str) -> Measure:
    """Make the measure that the user names; one that looks distances up has no rows to read."""
    from lookalike.measures.names import make_measure as make

    return make(text, WHO, matrices=False)


def read_measure(text: str) -> Measure | str:
    """Make the measure that the user names; "auto" waits for the table."""
    return AUTO if text.strip().lower() == AUTO else make_measure(text)


def choose(measure: Measure | str, table: Table) -> tuple[Measure, str | None]:
    """Return a measure, for "auto" the one that suits the table, with the reason."""
    if not isinstance(measure, str):
        return measure, None
    from lookalike.search import choose_measure

    return choose_measure(table)


def set_seed(measure: Measure, seed: int) -> Measure:
    """Give a seed to whatever is random in a measure and has none."""
    names = [n for n, v in measure.get_params().items() if n.endswith("random_state") and v is None]
    return measure.set_params(**dict.fromkeys(names, seed))
