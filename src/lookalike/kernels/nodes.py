"""The loop over the nodes of a growing tree: a stack (depth first), nodes numbered in preorder.

Every grower is the same loop: take the next node, look at its rows ``rows[low:high]``, and, unless
it is a leaf, bring those that go left to the front and put its two children on the stack. The
stack holds all that is left to do, so a loop can pause between two nodes and go on later.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel

WAITING, MADE = 0, 1


class NodeStack(NamedTuple):
    """Nodes that wait to be looked at.

    Parameters
    ----------
    waiting : int64 (rows + 1, 5)
        Low and high end of the rows, depth, parent, and whether it is a right child.
    count : int64 (2,)
        How many nodes wait, and how many have been taken: the size of the tree so far.
    """

    waiting: np.ndarray
    count: np.ndarray


@kernel
def stack_root(n_rows):
    """Return a stack that holds the root, with all rows."""
    waiting, count = np.empty((n_rows + 1, 5), np.int64), np.empty(2, np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3], waiting[0, 4] = 0, n_rows, 0, -1, 0
    count[WAITING], count[MADE] = 1, 0
    return NodeStack(waiting, count)


@kernel
def next_node(stack, left, right):
    """Take a node from the stack and tell its parent; return (node, low, high, depth).

    It is a leaf until ``stack_children`` is called for it.
    """
    top = stack.count[WAITING] - 1
    node = stack.count[MADE]
    stack.count[WAITING] = top
    stack.count[MADE] = node + 1
    at = stack.waiting[top]
    parent = at[3]
    if parent >= 0:
        if at[4]:
            right[parent] = node
        else:
            left[parent] = node
    left[node], right[node] = -1, -1
    return node, at[0], at[1], at[2]


@kernel
def stack_children(stack, node, low, middle, high, depth):
    """Put the children of a node on the stack, the left one on top."""
    top = stack.count[WAITING]
    one, other = stack.waiting[top], stack.waiting[top + 1]
    one[0], one[1], one[2], one[3], one[4] = middle, high, depth + 1, node, 1
    other[0], other[1], other[2], other[3], other[4] = low, middle, depth + 1, node, 0
    stack.count[WAITING] = top + 2
