"""Measures by name: ``gower``, ``vector:metric=cosine``, ``nicdm:measure=gower``.

Names are those of the registry in kebab case, or established names of a setting. Options follow a
colon, as ``key=value`` separated by commas; values are parsed as JSON where they are JSON, else
taken as text. Options of a forest's grower and of its method are written like those of the measure:
``ratio:n_trees=200,forest=extra,max_depth=8``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from lookalike._runtime.options import read_option, split_options
from lookalike.errors import InPython, InvalidInput, LookalikeError, Param, Phrase, suggest
from lookalike.measures.contract.base import MEASURES, Measure
from lookalike.saving.fields import Field
from lookalike.saving.load import import_packages

PACKAGES = ("measures", "hubness")  # importing them fills the registry
WHO = "measure"
DEFAULT = "auto"

SYNONYMS = {"n_trees": "n_estimators", "trees": "n_estimators", "seed": "random_state"}
# Established names of a setting of a measure.
ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: ("Vector", {"metric": name}) for name in ("euclidean", "cityblock", "chebyshev")},
    "cosine": ("Vector", {"metric": "cosine"}),
    "manhattan": ("Vector", {"metric": "cityblock"}),
    DEFAULT: ("Gower", {"scale": "rank", "missing": "midpoint"}),  # measures/default.py
    "simusf": ("StochasticForest", {}),
    "ratiorf": ("ForestProximity", {"method": "ratio"}),
    **{
        name: ("ForestProximity", {"method": name})
        for name in ("ratio", "shi", "zhu2", "zhu3", "ting", "aryal", "oob", "gap")
    },
}


def kebab(name: str) -> str:
    """Write a class name as it is typed.

    Examples
    --------
    >>> kebab("StochasticForest"), kebab("NICDM")
    ('stochastic-forest', 'nicdm')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def known_measures(*, matrices: bool = True) -> dict[str, tuple[type[Measure], dict[str, Any]]]:
    """Return every name of a measure, with its class and the options that the name implies.

    Parameters
    ----------
    matrices : bool
        Whether measures that look up distances in a matrix are among them.

    Examples
    --------
    >>> sorted(known_measures())[:3]
    ['aryal', 'auto', 'cdm']
    """
    # Hubness reducers are in a package above this one: imported by name, when first needed.
    import_packages(PACKAGES)
    names: dict[str, tuple[type[Measure], dict[str, Any]]] = {
        kebab(name): (cls, {})
        for name, cls in MEASURES.items()
        if matrices or not cls.examples()[0].traits.pairwise
    }
    for alias, (name, options) in ALIASES.items():
        if name in MEASURES:  # an alias must not fail where its class is not imported
            names[alias] = (MEASURES[name], options)
    return names


def make_measure(text: str, who: str | Param = WHO, *, matrices: bool = True) -> Measure:
    """Make the measure that is named.

    Parameters
    ----------
    text : str
        A name, in any spelling of its case ("gower", "StochasticForest", "local_scaling"), then
        options after a colon.
    who : str or Param
        Whose name an error begins with.
    matrices : bool
        Whether it may be a measure that looks up distances in a matrix.

    Examples
    --------
    >>> make_measure("vector:metric=cityblock,scale=minmax")
    Vector(metric='cityblock', scale='minmax')
    >>> make_measure("nicdm:measure=gower,n_neighbors=5")
    NICDM(measure=Gower(), n_neighbors=5)
    """
    name, _, rest = text.partition(":")
    names = known_measures(matrices=matrices)
    key = _key(name, names)
    if key not in names:
        raise InvalidInput(who, "a known measure", repr(name), suggest(key, names))
    cls, options = names[key]
    parameters = inspect.signature(cls).parameters
    given: dict[str, str] = {}
    for part in split_options(rest):
        option, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            hint = f"Write {key}:name=value,name=value"
            raise InvalidInput((who, f" {key}"), "options as name=value", repr(part), hint)
        given[SYNONYMS.get(option, option)] = value
    options = dict(options)
    for option in [option for option in given if option in parameters]:
        value, inner = given.pop(option), option == "measure"
        made = make_measure(value, who, matrices=matrices) if inner else read_option(value)
        options[option] = made
    # After the loop, since ``forest=`` and ``method=`` decide which options their parts have.
    nested = _nested(options) if "forest" in parameters else {}
    for option, value in given.items():
        if option not in nested:
            hint = suggest(option, [*parameters, *nested])
            raise InvalidInput((who, f" {key}"), "a known option", repr(option), hint)
        owner = nested[option]
        options[owner] = _part(options, owner).set_params(**{option: read_option(value)})
    _check_complete(key, parameters, options, who)
    return cls(**options)


def as_measure(value: Any, who: str = WHO) -> Any:
    """Return a measure for its name, the default for None, and everything else unchanged.

    Examples
    --------
    >>> as_measure("cosine")
    Vector(metric='cosine')
    """
    value = DEFAULT if value is None else value
    return make_measure(value, who) if isinstance(value, str) else value


def named_entries(entries: Any) -> Iterable[tuple[str | None, Any]]:
    """Return the entries of a mapping with their names, of a sequence with None."""
    if isinstance(entries, Mapping):
        return entries.items()
    return ((None, entry) for entry in entries)


class IsMeasure(Field):
    """A measure or the name of one; not its class.

    Parameters
    ----------
    none : str
        What None means, in words; "" where a measure has to be given.
    words : tuple of str
        Other words that are allowed.
    """

    def __init__(self, none: str = repr(DEFAULT), words: tuple[str, ...] = ()) -> None:
        self.none, self.words = none, words

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if isinstance(value, str):
            return value in self.words or _why_not(value) is None
        return isinstance(value, Measure) or (value is None and bool(self.none))

    def describe(self) -> str:
        """Say what is allowed, in words."""
        none = f", or None for {self.none}" if self.none else ""
        words = "".join(f"{word!r}, " for word in self.words)
        return f"{words}a lookalike measure, or the name of one{none}"

    def hint(self, value: Any) -> str:
        """Say what to do about a wrong value."""
        if isinstance(value, str):
            name = value.partition(":")[0]
            names = known_measures()
            key = _key(name, names)
            if key in names:  # the name is right, so its options are wrong
                return _why_not(value) or ""
            return suggest(key, [*self.words, *names])
        example = "Pass an instance or a name, for example ", InPython("measure=Gower() or ")
        return Phrase(*example, Param("measure", "gower"))


def _why_not(text: str) -> str | None:
    """Return what is wrong with the name of a measure, None if nothing is."""
    try:
        make_measure(text)
    except LookalikeError as error:
        return error.phrase()
    return None


def _key(name: str, names: Any) -> str:
    """Return a name as it is known: "LocalScaling", "local_scaling", "localscaling"."""
    key = kebab(name.strip()).replace("_", "-").replace(" ", "-")
    if key in names:
        return key
    # "localscaling" has no boundaries to split at: compare without any hyphen.
    plain = {known.replace("-", ""): known for known in names}
    return plain.get(key.replace("-", ""), key)


def _nested(options: dict[str, Any]) -> dict[str, str]:
    """Return the options of a forest's method and grower, and which of the two has each."""
    mine = dict.fromkeys(_part(options, "forest").get_params(), "forest")
    return mine | dict.fromkeys(_part(options, "method").get_params(), "method")


def _part(options: dict[str, Any], name: str) -> Any:
    """Return the method or the grower of a forest as an object whose options can be set."""
    from lookalike.measures.forest.methods import find_method
    from lookalike.trees.growers import find_grower

    if name == "method":
        return find_method(options.get("method", "ratio"))
    given = options.get("forest")
    given = _part(options, "method").forest if given is None else given
    return find_grower(given) if isinstance(given, str) else given


def _check_complete(key: str, parameters: Any, options: dict[str, Any], who: str | Param) -> None:
    """Refuse a measure without an option that has no default: the measure inside a wrapper."""
    for option, parameter in parameters.items():
        if parameter.default is parameter.empty and option not in options:
            inner = option == "measure"
            hint = f"Write {key}:measure={DEFAULT}" if inner else "Make it in Python"
            raise InvalidInput((who, f" {key}"), f"the option {option!r}", "none", hint)


def same_settings(measure: Measure, n_jobs: int | None) -> Measure:
    """Pass ``n_jobs`` to a measure, and to those inside it, where they have none."""
    if n_jobs is not None:
        params = measure.get_params()
        unset = [n for n, v in params.items() if n.rpartition("__")[2] == "n_jobs" and v is None]
        measure.set_params(**dict.fromkeys(unset, n_jobs))
    return measure
