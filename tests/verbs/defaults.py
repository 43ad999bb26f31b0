"""What a verb does when it is asked nothing more."""

import inspect

from lookalike.verbs import get_verb


def defaults_of(verb):
    """Return the parameters of a verb that need not be given, with their values."""
    every = inspect.signature(get_verb(verb)).parameters.items()
    return {name: one.default for name, one in every if one.default is not one.empty}
