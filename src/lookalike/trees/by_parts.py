"""Trees grown in parts of a fraction of a second, so that ctrl-c need not wait for a whole one."""

from __future__ import annotations

from collections.abc import Callable

from lookalike._runtime.threads import check_stopped
from lookalike.kernels.growing import MADE, WAITING, NodeStack, stack_root

PAUSE = 1 << 19  # rows times columns that a kernel looks at before it returns


def grow_by_parts(n_rows: int, grow: Callable[[NodeStack], None]) -> int:
    """Grow a tree to its end; return the number of nodes.

    Parameters
    ----------
    n_rows : int
        Rows of the tree.
    grow : callable
        Goes on with the nodes on a stack, and returns after some time.
    """
    stack: NodeStack = stack_root(n_rows)
    while stack.count[WAITING] > 0:
        check_stopped()
        grow(stack)
    return int(stack.count[MADE])
