"""What rows collect on their way through a forest: one number per leaf, added over the trees."""

from lookalike.kernels._jit import kernel


@kernel
def sum_over_trees(leaves, offsets, values, out):
    """Add up for every row the values of the leaves it reaches, tree after tree."""
    for i in range(leaves.shape[0]):
        total = 0.0
        for t in range(leaves.shape[1]):
            total += values[offsets[t] + leaves[i, t]]
        out[i] = total
