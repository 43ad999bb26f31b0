"""What matters to whoever asks: column weights that hold for one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lookalike.errors import InvalidInput, Param, Phrase, WrongType, suggest
from lookalike.measures.contract.base import Measure
from lookalike.table import Schema


def reweigh(measure: Measure, schema: Schema, weights: Any, columns: Any, who: str) -> Measure:
    """Return a fitted measure under the weights of a question; without any, the measure itself.

    Parameters
    ----------
    measure : Measure, fitted
    schema : Schema of the rows
    weights : None, or mapping of column to number of at least 0
        Multiplied with the fitted weights.
    columns : None, or names
        Only these count.
    who : str, the caller
    """
    if weights is None and columns is None:
        return measure
    factors: dict[str, Any] = {}
    if weights is not None:
        if not isinstance(weights, Mapping):
            hint = Phrase("Pass for example ", Param("weights", {"year": 3}))
            raise WrongType(
                Param("weights", of=who), "a mapping of column to number", repr(weights), hint
            )
        _check_names(weights, schema, Phrase(Param("weights", of=who)))
        factors = dict(weights)
    if columns is not None:
        only = _read_columns(columns, schema, Phrase(Param("columns", of=who)))
        extra = [name for name in factors if name not in only]
        if extra:
            found = f"a weight for {extra[0]!r}, which is not compared"
            hint = Phrase("Add it to ", Param("columns"), ", or leave its weight out")
            raise InvalidInput(
                Param("weights", of=who), "weights of the columns compared", found, hint
            )
        factors |= {name: 0.0 for name in schema.kinds if name not in only}
    return measure.reweighted(factors, who)


def _read_columns(columns: Any, schema: Schema, who: str) -> list[str]:
    if not isinstance(columns, str | Iterable):
        raise WrongType(
            who,
            "names of columns",
            repr(columns),
            ("Pass for example ", Param("columns", ["year"])),
        )
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise InvalidInput(who, "at least one column", "none", "Name a column")
    _check_names(names, schema, who)
    return names


def _check_names(names: Iterable[Any], schema: Schema, who: str) -> None:
    """Refuse what is not the name of a compared column."""
    for name in names:
        if name in schema.kinds:
            continue
        if name in schema.aside:
            found = f"{name!r}, which is set aside"
            hint = "Have it compared by giving its kind when the table is read"
            raise InvalidInput(who, "columns that are compared", found, hint)
        hint = suggest(str(name), schema.kinds)
        raise InvalidInput(who, "columns of the table", repr(name), hint)
