"""Targets: labels or numbers given beside a table or as one of its columns, read in one way.

Every function that takes ``y`` reads it here: an array of n, or the name of a column; missing
values, wrong lengths, words where numbers are needed and amounts where classes are needed are
refused with the same sentences everywhere.
"""

import numbers
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, WrongType, suggest
from lookalike.saving.fields import Choice
from lookalike.table.model.table import Table

MAX_NAMED = 5  # classes named in a warning
TARGETS = ("auto", "classes", "numbers")
COMPLETE = "a target without missing values"
PASS_Y = ("Pass ", Param("y"), " as an array of n values or as the name of a column")


def split_target(table: Table, y: Any, who: str) -> tuple[Table, np.ndarray | None]:
    """Return the table without its target, and the target as an array of n, none missing."""
    if y is None:
        return table, None
    if not isinstance(y, str):
        target = np.asarray(y)
        target = target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target
        _check_shape(target, len(table), who)
        if target.dtype.kind in "fO":
            _check_missing(_missing(target), who)
        return table, target
    names = [column.name for column in table.every]
    if y not in names:
        hint = suggest(y, names)
        raise InvalidInput(_y(who), "an array or the name of a column", repr(y), hint)
    column, rest = table[y], table.drop(y)
    _check_missing(column.blank, who)
    aside = replace(column, kind=replace(column.kind, reason="the target"))
    rest = Table(rest.columns, (*rest.aside, aside), len(table), table.missing)
    number = column.kind.name == "number"
    return rest, np.asarray(column.values if number else list(map(column.cell, range(len(column)))))


def _missing(values: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Return where a value is None or not equal to itself, as NaN is."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.isnan(values)
    return np.fromiter((value is None or value != value for value in values), bool, len(values))


def _y(who: str) -> Param:
    """Name the target of a function, or of the ``fit`` of a class."""
    return Param("y", of=f"{who}.fit" if who[:1].isupper() else who)


def _check_shape(target: np.ndarray, n: int, who: str) -> None:
    if target.ndim != 1 or len(target) != n:
        needed = f"one target value for each of the {n} rows"
        raise InvalidInput(who, needed, f"an array of shape {target.shape}", PASS_Y)


def _check_missing(missing: np.ndarray, who: str, needed: str = COMPLETE) -> None:
    if missing.any():
        count, first = int(missing.sum()), int(np.flatnonzero(missing)[0])
        found = f"{count} missing values (NaN), the first in row {first}"
        raise InvalidInput(_y(who), needed, found, "Drop these rows or fill them")


def require_target(y: Any, who: str) -> Any:
    """Return y as it can be split off; None is an error, a column of one is flattened with a note.

    The words in brackets are those that scikit-learn's own checks look for.
    """
    if y is None:
        words = InPython(" (it requires y to be passed, but the target y is None)")
        raise InvalidInput(f"{who}.fit", ("a target", words), "none", PASS_Y)
    if isinstance(y, str):
        return y
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        theirs = "A column-vector y was passed when a 1d array was expected."
        ours = f"{who}.fit reads it as {len(target)} values; pass y.ravel() to silence this."
        warnings.warn(f"{theirs} {ours}", DataConversionWarning, stacklevel=3)
        return target[:, 0]
    return target


# -- classes or numbers ----------------------------------------------------------------------------


def holds_classes(values: np.ndarray) -> bool:
    """Whether a target is classes: not fractions, nor integers that are mostly different."""
    if values.dtype == object:
        real = all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values)
        return not real or holds_classes(values.astype(np.float64))
    if values.dtype.kind not in "iuf":
        return True
    # Of integers, each class has two rows on average; chosen by hand.
    repeated = 2 * len(np.unique(values)) <= max(4, len(values))
    return repeated and bool((values == np.floor(values)).all())


def read_target(y: Any, n: int, who: str, target: str = "auto") -> tuple[np.ndarray, Any]:
    """Return (int64 codes, sorted classes) of classes, or (float64 values, None) of numbers."""
    Choice(*TARGETS).check(who, "target", target)
    values = np.asarray(y)
    _check_shape(values, n, who)
    if values.dtype.kind in "iuf" and not np.isfinite(values.astype(np.float64)).all():
        raise InvalidInput(_y(who), COMPLETE, "NaN or infinity", "Drop these rows")
    if target == "numbers" or (target == "auto" and not holds_classes(values)):
        return read_numbers(values, who, ("Use ", Param("target", "classes"))), None
    classes, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), classes


def read_classes(
    y: np.ndarray, who: str, instead: str, least: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, sorted, and the number of each row's class.

    Parameters
    ----------
    y : array of n, without missing values
    who : str
    instead : str
        What to use for amounts, as advice.
    least : int
        How many classes there must be.
    """
    if y.dtype == object and all(isinstance(label, numbers.Number | np.bool_) for label in y):
        y = np.asarray(y.tolist())
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        found = f"{' and '.join(sorted({type(label).__name__ for label in y}))} labels"
        hint = "Turn them all into strings"
        raise InvalidInput(_y(who), "classes of one type", found, hint) from error
    fractions = y[~(np.isfinite(y) & (y == np.round(y)))] if y.dtype.kind == "f" else y[:0]
    if len(fractions):
        first = (f"{fractions[0]:g}", InPython(" (Unknown label type: continuous)"))
        advice = (f"Use {instead} for amounts, or turn ", Param("y"), " into strings")
        raise InvalidInput(who, "classes: strings, integers or flags", first, advice)
    if len(classes) < least:
        found = f"{len(classes)} class" + (f" ({str(classes[0])!r})" if len(classes) else "es")
        words = {1: "one class", 2: "two classes"}.get(least, f"{least} classes")
        raise InvalidInput(_y(who), f"at least {words}", found, "Add rows of another class")
    return classes, codes.astype(np.int64)


def keep_repeated(y: np.ndarray) -> np.ndarray:
    """Return which rows have a class that another row has too; of the others a warning tells.

    A class of one row cannot be both learned and judged. Where fewer than two classes would be
    left, all rows are kept: it is for the caller to refuse them.
    """
    counts = Counter(y.tolist())
    single = [label for label, count in counts.items() if count == 1]
    if not single or len(counts) - len(single) < 2:
        return np.ones(len(y), dtype=bool)
    rows = "1 row left out, the" if len(single) == 1 else f"{len(single):,} rows left out, each the"
    names = ", ".join(map(repr, single[:MAX_NAMED])) + (", ..." if single[MAX_NAMED:] else "")
    warnings.warn(LookalikeWarning(f"{rows} only one of its class: {names}"), stacklevel=3)
    return np.array([counts[label] > 1 for label in y.tolist()])


def read_numbers(y: np.ndarray, who: str, hint: Any) -> np.ndarray:
    """Return the target as float64; words and infinities are refused."""
    try:
        if y.dtype.kind not in "fiubO":
            raise ValueError(f"{y.dtype} values")
        values = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(_y(who), "numbers", str(error), hint) from error
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        found = f"{values[wrong[0]]:g} in row {wrong[0]} (infinity or a value too large)"
        raise InvalidInput(_y(who), "finite numbers", found, "Drop these rows")
    return np.asarray(values)


# -- labels ----------------------------------------------------------------------------------------


def code_labels(y: Any, n: int, who: str) -> tuple[np.ndarray, list[Any]]:
    """Return labels as integers, in order of first appearance, and the labels themselves."""
    if isinstance(y, str) or not hasattr(y, "__len__"):
        raise InvalidInput(_y(who), f"a list of {n} labels", repr(y), "Pass the labels as an array")
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(labels) != n:
        needed = f"one label for each of the {n} rows"
        raise InvalidInput(_y(who), needed, f"{len(labels)}", "Pass as many")
    _check_missing(_missing(labels), who, "labels without missing values")
    known: dict[Any, int] = {}
    try:
        codes = np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)
    except TypeError as error:
        hint = "Use retrieval_accuracy for several labels per row"
        raise WrongType(who, "one label per row", "labels that are lists or sets", hint) from error
    return codes, list(known)


def label_sets(labels: Sequence[Any], n: int, who: str) -> list[frozenset[Any]]:
    """Return the labels of each row as a set, where a row may have several."""
    if isinstance(labels, str) or not hasattr(labels, "__len__") or len(labels) != n:
        found = f"{len(labels)}" if hasattr(labels, "__len__") else repr(labels)
        needed = f"a set of labels for each of the {n} rows"
        raise InvalidInput(who, needed, found, "Check the labels")
    sets = []
    for row, cell in enumerate(labels):
        if isinstance(cell, str | bytes) or not hasattr(cell, "__iter__"):
            needed = "a set or list of labels in each row"
            hint = "Use loo_accuracy for single labels"
            raise WrongType(who, needed, f"{cell!r} in row {row}", hint)
        sets.append(frozenset(cell))
    return sets


def check_sample_weight(sample_weight: Any, n: int, who: str) -> np.ndarray:
    """Return one weight of at least 0 per row; a single number is the weight of all."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        words = InPython(f" (sample_weight.shape == {weight.shape})")
        needed, shape = f"a sample_weight of shape ({n},)", f"shape {weight.shape}"
        raise InvalidInput(f"{who}.fit", needed, (shape, words), "Give one number per row")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        found = f"{weight[wrong[0]]:g} for row {wrong[0]}"
        raise InvalidInput(f"{who}.fit", "weights of at least 0", found, "Correct them")
    if not weight.any():
        hint = ("Leave ", Param("sample_weight"), " out")
        raise InvalidInput(f"{who}.fit", "a weight above 0", "zeros only", hint)
    return weight
