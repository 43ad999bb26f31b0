"""Sorting short runs of whole numbers (radix sort) and of numbers with their items (quicksort)."""

from lookalike.kernels._jit import kernel

SMALL = 24  # up to here insertion sort is fastest
RANK = 32  # a key is a rank in the high bits and a row in the low ones


@kernel
def sort_keys(keys, m, low_bits, spare, counts):
    """Sort the first m non-negative keys; return them (``keys`` or ``spare``).

    The lowest ``low_bits`` bits are carried along: many keys that differ in them alone keep their
    order. One pass per byte in use.
    """
    if m <= SMALL:
        for i in range(1, m):
            x = keys[i]
            j = i - 1
            while j >= 0 and keys[j] > x:
                keys[j + 1] = keys[j]
                j -= 1
            keys[j + 1] = x
        return keys
    largest = keys[0] >> low_bits
    least = largest
    for i in range(1, m):
        rank = keys[i] >> low_bits
        largest = max(largest, rank)
        least = min(least, rank)
    source, target = keys, spare
    shift = 0
    while ((largest - least) >> shift) > 0:
        for c in range(256):
            counts[c] = 0
        for i in range(m):
            counts[(((source[i] >> low_bits) - least) >> shift) & 255] += 1
        total = 0
        for c in range(256):
            here = counts[c]
            counts[c] = total
            total += here
        for i in range(m):
            c = (((source[i] >> low_bits) - least) >> shift) & 255
            target[counts[c]] = source[i]
            counts[c] += 1
        source, target = target, source
        shift += 8
    return source


@kernel
def sort_values(x, item, m, stack):
    """Sort the first m numbers and their items by (number, item); there is no NaN among them."""
    stack[0], stack[1] = 0, m - 1
    top = 2
    while top > 0:
        top -= 2
        low, high = stack[top], stack[top + 1]
        while high - low > SMALL:
            middle = (low + high) // 2
            # The median of three at hand: sorted and constant runs are common in projections.
            a, b, c = x[low], x[middle], x[high]
            pick = middle
            if (a <= b) == (b <= c):
                pick = middle
            elif (b <= a) == (a <= c):
                pick = low
            else:
                pick = high
            pivot, tie = x[pick], item[pick]
            i, j = low, high
            while i <= j:
                while x[i] < pivot or (x[i] == pivot and item[i] < tie):
                    i += 1
                while x[j] > pivot or (x[j] == pivot and item[j] > tie):
                    j -= 1
                if i <= j:
                    x[i], x[j] = x[j], x[i]
                    item[i], item[j] = item[j], item[i]
                    i += 1
                    j -= 1
            # The larger part waits, so that the stack stays as low as the logarithm of m.
            if j - low > high - i:
                stack[top], stack[top + 1] = low, j
                low = i
            else:
                stack[top], stack[top + 1] = i, high
                high = j
            top += 2
        for i in range(low + 1, high + 1):
            v, w = x[i], item[i]
            j = i - 1
            while j >= low and (x[j] > v or (x[j] == v and item[j] > w)):
                x[j + 1], item[j + 1] = x[j], item[j]
                j -= 1
            x[j + 1], item[j + 1] = v, w
