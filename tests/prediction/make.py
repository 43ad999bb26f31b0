"""Small mixed tables with gaps, as plain rows and as columns."""

from hypothesis import strategies as st

NAMES = ("size", "weight", "color")
NUMERIC = (True, True, False)


def rows(n_min, n_max):
    number = st.none() | st.integers(0, 4).map(float)
    row = st.tuples(number, number, st.none() | st.sampled_from("rgb"))
    return st.lists(row, min_size=n_min, max_size=n_max)


def columns(rows, **more):
    table = {name: [row[j] for row in rows] for j, name in enumerate(NAMES)}
    return table | more


KINDS = {"size": "number", "weight": "number", "color": "category"}
