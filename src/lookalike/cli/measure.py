"""Measures by name: ``gower``, ``vector:metric=cosine``, ``nicdm:measure=gower``.

Names are those of the registry in kebab case. Options follow a colon, as ``key=value`` with commas
between; values are read as JSON where they are JSON, else as words. Options of a forest's growing
and reading stand among those of the measure: ``ratio:n_trees=200,forest=extra,max_depth=8``.
"""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lookalike.cli.options import read_weights
from lookalike.errors import InvalidInput, message, suggest

if TYPE_CHECKING:
    from lookalike.cli.source import Loaded
    from lookalike.measures import Measure
    from lookalike.table import Table

__all__ = [
    "AUTO",
    "DEFAULT",
    "choose",
    "known",
    "make_measure",
    "pick_measure",
    "read_measure",
    "set_seed",
    "split_options",
]

AUTO = "auto"
DEFAULT = "gower"
WHO = "--measure"
ROOMS = ("lookalike.measures", "lookalike.hubness")  # importing them fills the registry

SYNONYMS = {"n_trees": "n_estimators", "trees": "n_estimators", "seed": "random_state"}
# Names people know a setting of a measure by.
ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: ("Vector", {"metric": name}) for name in ("euclidean", "cityblock", "chebyshev")},
    "cosine": ("Vector", {"metric": "cosine"}),
    **{
        name: ("ForestProximity", {"method": name})
        for name in ("ratio", "shi", "zhu2", "zhu3", "ting", "aryal", "oob")
    },
}


def kebab(name: str) -> str:
    """Write a class name as it is typed on a command line.

    Examples
    --------
    >>> kebab("StochasticForest"), kebab("NICDM")
    ('stochastic-forest', 'nicdm')
    """
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return parts.lower()


def known() -> dict[str, tuple[type[Measure], dict[str, Any]]]:
    """Return every name that a measure can be asked for by, with the options it stands for.

    A measure of matrices is not among them: the rows of a file are compared, not looked up.
    """
    for room in ROOMS:
        if find_spec(room) is not None:
            import_module(room)
    from lookalike.measures import MEASURES

    names: dict[str, tuple[type[Measure], dict[str, Any]]] = {
        kebab(name): (cls, {})
        for name, cls in MEASURES.items()
        if not cls.examples()[0].traits.pairwise
    }
    for alias, (name, options) in ALIASES.items():
        if name in MEASURES:
            names[alias] = (MEASURES[name], options)
    return names


def make_measure(text: str) -> Measure:
    """Make the measure that the user names.

    Examples
    --------
    >>> make_measure("vector:metric=cityblock,scale=minmax")
    Vector(metric='cityblock', scale='minmax')
    """
    name, _, rest = text.partition(":")
    names = known()
    key = kebab(name.strip()).replace("_", "-")
    if key not in names:
        raise InvalidInput(message(WHO, "a known measure", repr(name), suggest(key, names)))
    cls, options = names[key]
    parameters = inspect.signature(cls).parameters
    options = dict(options)
    inside: list[tuple[str, str]] = []  # options that belong to a part of a forest
    for part in split_options(rest):
        option, found, value = (word.strip() for word in part.partition("="))
        if not found:
            do = f"Write {key}:name=value,name=value"
            raise InvalidInput(message(f"{WHO} {key}", "options as name=value", repr(part), do))
        option = SYNONYMS.get(option, option)
        if option in parameters:
            options[option] = make_measure(value) if option == "measure" else _value(value)
        else:
            inside.append((option, value))
    nested = _nested(options) if "forest" in parameters else {}
    for option, value in inside:
        if option not in nested:
            do = suggest(option, [*parameters, *nested])
            raise InvalidInput(message(f"{WHO} {key}", "a known option", repr(option), do))
        part = nested[option]
        options[part] = _part(options, part).set_params(**{option: _value(value)})
    _check_complete(key, parameters, options)
    return cls(**options)


def _nested(options: dict[str, Any]) -> dict[str, str]:
    """Return the options of a forest's reading and growing, and which of the two has each."""
    mine = dict.fromkeys(_part(options, "forest").get_params(), "forest")
    return mine | dict.fromkeys(_part(options, "method").get_params(), "method")


def _part(options: dict[str, Any], name: str) -> Any:
    """Return how a forest is read, or grown, as an object whose options can be set."""
    from lookalike.forests.growers import find_grower
    from lookalike.measures.forest_methods import find_reading

    if name == "method":
        return find_reading(options.get("method", "ratio"))
    given = options.get("forest")
    given = _part(options, "method").forest if given is None else given
    return find_grower(given) if isinstance(given, str) else given


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
        from lookalike.search import choose_measure

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
    needed, do = "a measure that weighs columns", "Use --measure gower"
    raise InvalidInput(message("--weight", needed, type(measure).__name__, do))


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


def _check_complete(key: str, parameters: Any, options: dict[str, Any]) -> None:
    """Refuse a measure that lacks an option without a default: the measure inside a wrapper."""
    for option, parameter in parameters.items():
        if parameter.default is parameter.empty and option not in options:
            inner = option == "measure"
            do = f"Write {key}:measure={DEFAULT}" if inner else "Use it from Python"
            raise InvalidInput(message(f"{WHO} {key}", f"the option {option!r}", "none", do))


def _value(word: str) -> Any:
    """Read a value as JSON, or in Python's spelling of the three constants, else as a word."""
    constants = {"None": None, "True": True, "False": False}
    if word in constants:
        return constants[word]
    try:
        return json.loads(word)
    except (json.JSONDecodeError, RecursionError):
        return word


def split_options(text: str) -> list[str]:
    """Split at the commas that stand outside of brackets and quotes.

    Examples
    --------
    >>> split_options('weights={"a": 1, "b": 2},missing=midpoint')
    ['weights={"a": 1, "b": 2}', 'missing=midpoint']
    """
    parts, depth, quoted = [""], 0, False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif not quoted:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth <= 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]
