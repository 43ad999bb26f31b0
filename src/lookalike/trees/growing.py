"""What all growers of trees share: samples, random streams, pauses, and the grown forest."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks, check_stopped, run
from lookalike.errors import InvalidInput, Param
from lookalike.kernels.growing import MADE, STATES, WAITING, NodeStack, sample_rows, stack_root

Trees = TypeVar("Trees")
Tree = TypeVar("Tree")

TREES_PER_TASK = 4  # grown one after another; Ctrl-C is seen between two of them
MAX_DEPTH = 2**31 - 1  # where there is no limit: kernels count in integers
ROWS_BEFORE_PAUSE = (
    1 << 19
)  # rows times columns that a kernel looks at before it returns, 0.1 to 0.5 s


@dataclass(frozen=True, eq=False)
class GrownForest(Generic[Trees]):
    """Result of growing a forest.

    Parameters
    ----------
    forest : Forest or SimilarityTrees
    in_bag : uint8 array of shape (n, n_trees) or None
        How often the row was drawn for a tree, at most 255; None if it was not asked for.
    """

    forest: Trees
    in_bag: np.ndarray | None = None


def count_times(drawn: np.ndarray, n: int) -> np.ndarray:
    """Return how often each of n rows was drawn, at most 255; draws beyond the rows are ignored."""
    # A row that is drawn more often is as good as never seen: n draws of n rows.
    return np.minimum(np.bincount(drawn[drawn < n], minlength=n), 255).astype(np.uint8)


def tree_states(random_state: Any, n_trees: int) -> np.ndarray:
    """Return one state of the kernels' generator per tree."""
    # Drawn before any tree is grown: the trees are then the same for every number of threads.
    return make_generator(random_state).integers(1, STATES, size=n_trees, dtype=np.int64)


def count_share(share: float | int, n: int) -> int:
    """Turn a share in (0, 1] or a number above 1 into a number of rows, at most n."""
    # Rounded first: 0.7 of 10 rows is 7, not the 6 that 6.999... would be cut to.
    return min(int(share), n) if share > 1 else max(1, int(round(float(share) * n, 6)))


def count_features(share: Any, d: int) -> int:
    """Turn a share of the columns, a number, "sqrt" or "all" into a number of columns."""
    if isinstance(share, str):
        return d if share == "all" else max(1, math.isqrt(d))
    if isinstance(share, numbers.Integral):
        return min(int(share), d)
    return max(1, int(share * d))  # rounded down, as scikit-learn does, but at least one column


def grow_by_parts(n_rows: int, tree: Any, grow: Callable[[NodeStack], None]) -> Any:
    """Grow a tree to its end; return it without the room that its arrays did not need.

    Parameters
    ----------
    n_rows : int
        Rows of the tree.
    tree : named tuple of arrays
        Written by ``grow``.
    grow : callable
        Goes on with the nodes on a stack, and returns after some time.
    """
    stack: NodeStack = stack_root(n_rows)
    # Between two calls of the kernel, so that Ctrl-C does not wait for a whole tree.
    while stack.count[WAITING] > 0:
        check_stopped()
        grow(stack)
    return type(tree)(*(part[: stack.count[MADE]].copy() for part in tree))


def grow_each(grow_one: Callable[[int], Tree], n_trees: int, n_jobs: int | None) -> list[Tree]:
    """Return trees grown in parallel, each from its own random stream.

    Parameters
    ----------
    grow_one : callable from the number of a tree to the tree
    n_trees : int
    n_jobs : int, optional
    """

    # Blocks of one: ``blocks`` checks for an interrupt before each.
    def some(part: slice) -> list[Tree]:
        return [grow_one(part.start + at.start) for at in blocks(part.stop - part.start, 1)]

    grown = run(
        some, [(part,) for part in blocks(n_trees, TREES_PER_TASK)], n_jobs, "growing trees"
    )
    return [tree for part in grown for tree in part]


def draw_both(
    labels: np.ndarray, max_samples: float | int, replace: bool, state: np.ndarray
) -> np.ndarray:
    """Draw the rows of a tree among real and synthetic ones, of both labels (0 and 1)."""
    size = count_share(max_samples, len(labels))
    drawn = np.empty(size, np.int64)
    # The limit was chosen by hand; it only has to end a search that cannot succeed.
    for _ in range(1000):
        sample_rows(len(labels), replace, state, drawn)
        if 0 < int(labels[drawn].sum(dtype=np.int64)) < size:
            return drawn
    found, hint = f"samples of {size} with one kind only", ("Raise ", Param("max_samples"))
    needed = "samples that hold real and synthetic rows"
    raise InvalidInput(Param("max_samples", max_samples), needed, found, hint)
