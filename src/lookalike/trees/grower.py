"""What the objects that say how a forest is grown have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from lookalike._runtime.random_state import RANDOM_STATE
from lookalike.errors import InvalidInput, Param
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import Choice, Either, Fields, Integer, Maybe, Real, check_params

# What forests grown against synthetic rows were published with.
PUBLISHED: dict[str, Any] = {
    "n_estimators": 100,
    "max_samples": 0.8,
    "max_features": 0.5,
    "bootstrap": False,
    "synthetic": "resampled",
}
PUBLISHED_OUT_OF_BAG: dict[str, Any] = {
    "n_estimators": 1000,
    "max_samples": 1.0,
    "max_features": "sqrt",
    "bootstrap": True,
    "synthetic": "permuted",
}


class Grower(SaveMixin, BaseEstimator, abstract=True):
    """Base of the objects that say how a forest is grown; an option of None is as published.

    Out-of-bag similarities were published with other settings than the rest, so what None means
    may depend on whether the rows of each tree are asked for.
    """

    FIELDS: ClassVar[Fields] = {
        "n_estimators": Maybe(Integer(1)),
        "max_depth": Maybe(Integer(1)),
        "bootstrap": Choice(None, True, False),
        "threshold": Choice("observed", "midpoint"),
        "random_state": RANDOM_STATE,
        "max_samples": Maybe(Real(0.0)),
        "max_features": Maybe(Either(Real(0.0), Choice("sqrt", "all"))),
    }

    PUBLISHED: ClassVar[dict[str, Any]] = {"n_estimators": 100}
    PUBLISHED_OUT_OF_BAG: ClassVar[dict[str, Any]] = {}

    n_estimators: int | None
    random_state: Any

    def with_shorthands(self, n_estimators: int | None, random_state: Any) -> Self:
        """Return a copy with the number of trees and the seed that were given elsewhere."""
        params = self.get_params(deep=False)
        for name, value in (("n_estimators", n_estimators), ("random_state", random_state)):
            own = params[name]
            if value is not None and own is not None and not (value is own or value == own):
                raise InvalidInput(
                    Param(name, value),
                    f"one {name}",
                    ("another in the forest: ", Param(name, own)),
                    "Give it once",
                )
            params[name] = own if value is None else value
        return type(self)(**params)

    def _settings(self, out_of_bag: bool) -> dict[str, Any]:
        """Check the options; return those that were given, and the published one of the others."""
        check_params(self)
        usual = {**self.PUBLISHED, **(self.PUBLISHED_OUT_OF_BAG if out_of_bag else {})}
        given = self.get_params(deep=False)
        chosen = {k: usual.get(k) if v is None else v for k, v in given.items()}
        chosen["n_trees"] = chosen.pop("n_estimators")
        if chosen.get("max_features") == "all":
            chosen["max_features"] = None
        return chosen
