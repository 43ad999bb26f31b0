"""scikit-learn's protocol of parameters, without scikit-learn.

Importing ``sklearn.base`` loads scipy.stats and pandas: more than half of the processor time of a
search in a small file. What a search needs (measures, growers of trees, the index) follows the
protocol by this class; estimators with ``predict`` or ``transform`` inherit from scikit-learn.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any, Self

from lookalike.errors import InvalidInput, suggest

MAX_REPR_CHARACTERS = 700  # as scikit-learn


def _defaults_of(cls: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a class, sorted, with their defaults."""
    params = inspect.signature(cls).parameters
    return {name: params[name].default for name in sorted(params)}


class Estimator:
    """Gives ``get_params``, ``set_params``, ``clone``, tags and a repr as scikit-learn has them.

    Examples
    --------
    >>> class Trees(Estimator):
    ...     def __init__(self, depth=3, seed=None):
    ...         self.depth, self.seed = depth, seed
    >>> Trees(5).set_params(seed=1).get_params(), Trees(5)
    ({'depth': 5, 'seed': 1}, Trees(depth=5))
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor; ``deep`` adds those of estimators in them."""
        params: dict[str, Any] = {}
        for name in _defaults_of(type(self)):
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``measure__scale`` is the ``scale`` of the parameter ``measure``."""
        known = self.get_params(deep=False)
        # Shorter names first: an inner parameter belongs to the new value of the outer one.
        for key in sorted(params, key=lambda key: key.count("__")):
            name, _, inner = key.partition("__")
            if name not in known:
                who, needed = f"{type(self).__name__}.set_params", "a parameter of the constructor"
                raise InvalidInput(who, needed, repr(name), suggest(name, known))
            if inner:
                getattr(self, name).set_params(**{inner: params[key]})
            else:
                setattr(self, name, params[key])
        return self

    def __sklearn_clone__(self) -> Any:
        return type(self)(**{k: copy_value(v) for k, v in self.get_params(deep=False).items()})

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def __repr__(self) -> str:
        defaults, params = _defaults_of(type(self)), self.get_params(deep=False)
        # By their reprs, since arrays and NaN do not compare to one truth value.
        changed = (f"{k}={v!r}" for k, v in params.items() if repr(v) != repr(defaults[k]))
        text = f"{type(self).__name__}({', '.join(changed)})"
        if len(text) <= MAX_REPR_CHARACTERS:
            return text
        half = MAX_REPR_CHARACTERS // 2
        return f"{text[:half]}...{text[-half:]}"

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))


def clone(estimator: Any) -> Any:
    """Return an estimator of the same parameters that is not fitted, as ``sklearn.base.clone``."""
    if isinstance(estimator, Estimator):
        return estimator.__sklearn_clone__()
    from sklearn.base import clone

    return clone(estimator)


def copy_value(value: Any) -> Any:
    """Return a copy of a parameter: estimators in it are cloned, other values copied."""
    if isinstance(value, type):
        return value
    if hasattr(value, "get_params"):
        return clone(value)
    if type(value) is dict:
        return {key: copy_value(item) for key, item in value.items()}
    if type(value) in (list, tuple, set, frozenset):
        return type(value)([copy_value(item) for item in value])
    return copy.deepcopy(value)


def check_is_fitted(estimator: Any, attribute: str) -> None:
    """Raise scikit-learn's NotFittedError unless the learned attribute is there."""
    if hasattr(estimator, attribute):
        return
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator, attribute)
