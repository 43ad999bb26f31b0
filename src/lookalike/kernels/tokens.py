"""Look up tokens, which are whole numbers below -1 that come from a good hash.

A table is two arrays of a power-of-two length: ``keys`` (0 = free, as no token is 0) and ``ids``.
The lowest bits of a token say where it is looked for first, then the places after it.

``number_tokens`` and ``find_tokens`` are for other kernels only: numba (0.68) can fail to hand
their arrays to Python ("descr is NULL") once a kernel that calls them came from its disk cache.
"""

import numpy as np

from lookalike.kernels._jit import kernel


@kernel
def number_tokens(values):
    """Give distinct tokens numbers in order of appearance; whole numbers above -2 get -1.

    Returns the number of each value, the table to find more of them, and how many there are.
    """
    size = 256  # a small table is kept nearly empty: most lookups then end at the first place
    while size < 2 * values.shape[0]:
        size *= 2
    keys = np.zeros(size, np.int64)
    ids = np.empty(size, np.int64)
    numbers = np.empty(values.shape[0], np.int64)
    found = 0
    for k in range(values.shape[0]):
        value = values[k]
        if value >= -1:
            numbers[k] = -1
            continue
        at = value & (size - 1)
        while keys[at] != 0 and keys[at] != value:
            at = (at + 1) & (size - 1)
        if keys[at] == 0:
            keys[at] = value
            ids[at] = found
            found += 1
        numbers[k] = ids[at]
    return numbers, keys, ids, found


@kernel
def find_tokens(values, keys, ids):
    """Return the number of each value in a table of ``number_tokens``, -1 where it has none."""
    size = keys.shape[0]
    numbers = np.empty(values.shape[0], np.int64)
    for k in range(values.shape[0]):
        value = values[k]
        numbers[k] = -1
        if value >= -1:
            continue
        at = value & (size - 1)
        while keys[at] != 0 and keys[at] != value:
            at = (at + 1) & (size - 1)
        if keys[at] == value:
            numbers[k] = ids[at]
    return numbers


@kernel
def shared_codes(a_values, b_values):
    """Recode tokens so that equal ones of a and b keep equal codes, with as few codes as possible.

    Tokens on both sides are numbered from 2; all others of a become 0 and all others of b become 1,
    because they equal nothing on the other side. Returns both codes and the first unused one.
    """
    a_codes, keys, ids, found = number_tokens(a_values)
    b_codes = find_tokens(b_values, keys, ids)
    codes = np.zeros(found, np.int64)
    free = 2
    for k in range(b_codes.shape[0]):
        number = b_codes[k]
        if number < 0:
            b_codes[k] = 1
            continue
        if codes[number] == 0:
            codes[number] = free
            free += 1
        b_codes[k] = codes[number]
    for k in range(a_codes.shape[0]):
        a_codes[k] = codes[a_codes[k]]
    return a_codes, b_codes, free
