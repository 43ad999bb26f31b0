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


@kernel
def sum_four_over_trees(leaves, offsets, values, out):
    """Add up four values of each leaf at once: finding the leaf costs as much as adding them."""
    for i in range(leaves.shape[0]):
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for t in range(leaves.shape[1]):
            at = offsets[t] + leaves[i, t]
            one += values[at, 0]
            two += values[at, 1]
            three += values[at, 2]
            four += values[at, 3]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = one, two, three, four
