"""Fitted tree models of any library, in one form: flat trees, and what their tests ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.errors import InvalidInput
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Dims, Fields, Maybe, Plain, Saved, Text, TupleOf, require
from lookalike.trees.thresholds.flat import Forest, flatten

TYPES = np.int32, float, np.int32, np.int32, np.int8  # of the arrays of a ``ReadTree``
IS_ZERO = (-1,)  # in the place of categories: a node for which a zero is a missing value
ZERO = 1e-35  # LightGBM calls smaller values zero, where zeros are missing


class ReadTree(NamedTuple):
    """One tree as a library describes it, the root first.

    Parameters
    ----------
    feature, threshold, left, right, default : sequences, one entry per node
        As for ``flatten``; children and features below 0 in leaves.
    members : mapping of node to categories
        Of a node that asks for categories: the codes that go left.
    zeros : set of nodes
        Those for which a zero is a missing value.
    gain : float
        What the tests of the tree gain together.
    """

    feature: Sequence[int] | np.ndarray
    threshold: Sequence[float] | np.ndarray
    left: Sequence[int] | np.ndarray
    right: Sequence[int] | np.ndarray
    default: Sequence[int] | np.ndarray
    members: Mapping[int, tuple[int, ...]] = {}
    zeros: frozenset[int] = frozenset()
    gain: float = 1.0


@saveable
@dataclass(frozen=True, eq=False)
class TreeModel:
    """The trees of a fitted model, what their tests ask and the features it was fitted on.

    An input of the trees is a feature, or, where a node asks whether a category is one of several,
    the answer to that: 0 for yes, 1 for no, so that yes goes left. A missing value is -inf where it
    goes left and inf where it goes right: nodes that test the same but send missing values to
    different sides have different inputs. So a row answers every test as the model has it.

    Parameters
    ----------
    forest : Forest
    tested : int32 array, one per input
        The feature behind each input.
    side : int8 array, one per input
        Where a missing value goes: 1 left, 0 right, -1 as the forest says.
    zeros : bool array, one per input
        Whether zeros are missing values.
    members : Ragged of int32, one row per input
        Codes of the categories that are answered with 0; a missing row for a number.
    names : tuple of str
        Names of the features; () where the model was fitted on a matrix without any.
    levels : tuple of tuples, one per feature
        Categories in the order of their codes; () for numbers, and for categories that were given
        as codes.
    gain : float64 array, one per tree, or None
        What the tests of each tree gain together, by the model's own measure.

    Attributes
    ----------
    asked : bool
        Whether the model itself has to be asked about rows, by the words of categories, because no
        tests on single features say what it does. Such a model cannot be saved.
    """

    FIELDS: ClassVar[Fields] = {
        "forest": Saved("Forest"),
        "tested": Array("int32", "inputs", low=0, below="features"),
        "side": Array("int8", "inputs", low=-1, high=1),
        "zeros": Array("bool", "inputs"),
        "members": RaggedOf("int32", "inputs"),
        "names": TupleOf(Text()),
        "levels": TupleOf(TupleOf(Plain()), "features"),
        "gain": Maybe(Array("float64", "trees", finite=True, low=0)),
    }

    forest: Forest
    tested: np.ndarray
    side: np.ndarray
    zeros: np.ndarray
    members: Ragged
    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    gain: np.ndarray | None = None

    asked: ClassVar[bool] = False

    def inputs(self, values: np.ndarray) -> np.ndarray:
        """Return what the trees ask about rows of features, categories as codes, NaN if missing."""
        top = largest(self.forest.single)
        out = np.clip(np.asarray(values, np.float64)[:, self.tested], -top, top)
        for i, side in enumerate(self.side):
            column = out[:, i]
            if self.zeros[i]:
                column[np.abs(column) <= ZERO] = np.nan
            missing = np.isnan(column)
            if not self.members.missing[i]:
                column[:] = ~np.isin(np.trunc(column), self.members.row(i))
            if side >= 0:
                column[missing] = -np.inf if side else np.inf
        return out

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that trees, inputs and features belong together."""
        n, same = len(self.levels), np.array_equal(self.forest.column, self.tested)
        require(same, "TreeModel.tested", "the columns of the forest", "others")
        require(len(self.names) in (0, n), "TreeModel.names", f"{n} names", str(len(self.names)))
        trees = self.forest.n_trees
        known = self.gain is None or len(self.gain) == trees
        require(known, "TreeModel.gain", f"{trees} trees", "others")


def largest(single: bool) -> float:
    """Return the largest number, so that an infinite one is left for missing values."""
    return float(np.finfo(np.float32 if single else np.float64).max)


def join(
    trees: Sequence[ReadTree],
    names: Iterable[Any],
    levels: Sequence[Sequence[Any]],
    single: bool = False,
) -> TreeModel:
    """Put trees as a library describes them into one model.

    Parameters
    ----------
    trees : sequence of ReadTree
    names, levels
        See ``TreeModel``; there is a feature for each of the levels.
    single : bool
        See ``Forest``.
    """
    feature, threshold, left, right, default = (
        np.concatenate([np.asarray(tree[part], kind) for tree in trees])
        for part, kind in enumerate(TYPES)
    )
    offsets = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    inside, side = left >= 0, default
    wrong = feature[inside & ((feature < 0) | (feature >= len(levels)))]
    if len(wrong):
        needed, hint = f"tests of one of {len(levels)} columns", "See whether the model is damaged"
        raise InvalidInput("model", needed, f"one of column {wrong[0]}", hint)
    sets, asked = _sets_asked(trees, offsets)
    # A test that no number fails tells missing values from all others.
    threshold = np.minimum(threshold, largest(single))
    is_zero = np.array([codes == IS_ZERO for codes in asked])
    threshold[(sets > 0) & ~is_zero[sets]] = 0.5  # of an answer: 0 for yes, 1 for no
    # What a node asks: a feature, the side of missing values, and by number which test of sets.
    shape = len(levels), 2, len(asked)
    keys = np.ravel_multi_index((feature[inside], side[inside], sets[inside]), shape)
    # By presence, not by sorting: forests may have many millions of nodes.
    present = np.zeros(np.prod(shape), bool)
    present[keys if len(keys) else 0] = True  # trees of one leaf ask nothing
    found = np.stack(np.unravel_index(np.flatnonzero(present), shape), axis=1)
    inputs = np.full(len(feature), -1, np.int32)
    inputs[inside] = (np.cumsum(present) - 1)[keys]
    forest = flatten(
        inputs, threshold, left, right, offsets, len(found),
        default=side, soft=False, single=single,
    )  # fmt: skip
    tested = found[:, 0].astype(np.int32)
    return TreeModel(
        replace(forest, column=tested),
        tested,
        found[:, 1].astype(np.int8),
        is_zero[found[:, 2]],
        Ragged.of([None if is_zero[i] else asked[i] for i in found[:, 2]], np.int32),
        tuple(map(str, names)),
        tuple(map(tuple, levels)),
        np.array([max(0.0, tree.gain) for tree in trees]),
    )


def _sets_asked(
    trees: Sequence[ReadTree], offsets: np.ndarray
) -> tuple[np.ndarray, list[tuple[int, ...] | None]]:
    """Return for each node the number of its set of categories, and the sets: None, then others."""
    asked: dict[tuple[int, ...] | None, int] = {None: 0}
    sets = np.zeros(offsets[-1], np.int32)
    for tree, first in zip(trees, offsets, strict=False):
        for node, codes in {**dict.fromkeys(tree.zeros, IS_ZERO), **tree.members}.items():
            sets[first + node] = asked.setdefault(tuple(sorted(codes)), len(asked))
    return sets, list(asked)
