"""Rules for constructor parameters, stated beside each class and checked in one place.

A class says ``PARAMS = {"n_neighbors": AtLeast(1), "metric": OneOf("euclidean", "cityblock")}``;
its ``fit`` calls ``check_params(self)``.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lookalike.errors import InvalidInput, Param, suggest


class Rule:
    """What a parameter must be: ``fits`` decides, ``wants`` says it in words."""

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        raise AssertionError("a rule must say what fits")

    def wants(self) -> str:
        """Say what is allowed, in words."""
        raise AssertionError("a rule must say what it wants")

    def advice(self, value: Any) -> str:
        """Say what to do about a wrong value."""
        return "Give another value"


class OneOf(Rule):
    """One of a few values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        return any(value is v or (type(value) is type(v) and value == v) for v in self.values)

    def wants(self) -> str:
        """Say what is allowed, in words."""
        return "one of " + ", ".join(repr(v) for v in self.values)

    def advice(self, value: Any) -> str:
        """Suggest the nearest allowed word."""
        return suggest(str(value), [v for v in self.values if isinstance(v, str)] or self.values)


@dataclass(frozen=True)
class AtLeast(Rule):
    """A whole number not below ``low``."""

    low: int

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and int(value) >= self.low

    def wants(self) -> str:
        """Say what is allowed, in words."""
        return f"a whole number of at least {self.low}"


@dataclass(frozen=True)
class Between(Rule):
    """A real number from ``low`` to ``high``; ``open_low`` leaves out the lower end."""

    low: float
    high: float = float("inf")
    open_low: bool = False

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        number = float(value)
        above = number > self.low if self.open_low else number >= self.low
        return above and number <= self.high

    def wants(self) -> str:
        """Say what is allowed, in words."""
        low = f"above {self.low:g}" if self.open_low else f"of at least {self.low:g}"
        return f"a number {low}" + (
            "" if self.high == float("inf") else f" and at most {self.high:g}"
        )


class Is(Rule):
    """An instance of one of these types."""

    def __init__(self, *types: type, named: str | None = None) -> None:
        self.types, self.named = types, named

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if isinstance(value, bool) and bool not in self.types:
            return False
        return isinstance(value, self.types)

    def wants(self) -> str:
        """Say what is allowed, in words."""
        return self.named or " or ".join(t.__name__ for t in self.types)


class AnyOf(Rule):
    """Whatever fits one of several rules."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def fits(self, value: Any) -> bool:
        """Whether the value is allowed."""
        return any(rule.fits(value) for rule in self.rules)

    def wants(self) -> str:
        """Say what is allowed, in words."""
        return ", or ".join(rule.wants() for rule in self.rules)

    def advice(self, value: Any) -> str:
        """Suggest the nearest allowed word where there is one."""
        for rule in self.rules:
            if isinstance(value, str) and type(rule).advice is not Rule.advice:
                return rule.advice(value)
        return super().advice(value)


N_JOBS = AnyOf(OneOf(None), Is(int, named="a whole number"))
KINDS = AnyOf(OneOf(None), Is(Mapping, named="a mapping of column to kind"))


def check_params(estimator: Any) -> None:
    """Check every parameter named in the PARAMS of the estimator's class and its bases."""
    rules: dict[str, Rule] = {}
    for cls in reversed(type(estimator).__mro__):
        rules |= cls.__dict__.get("PARAMS", {})
    for name, value in estimator.get_params(deep=False).items():
        rule = rules.get(name)
        if rule is not None and not rule.fits(value):
            who = Param(name, value, of=type(estimator).__name__)
            raise InvalidInput(who, rule.wants(), repr(value), rule.advice(value))
