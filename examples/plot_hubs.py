"""
Hubs and hubness reduction
==========================

Handwritten digits with 64 features. Some digits (hubs) are in the neighbor lists of very many
others, and some (orphans) are in no list at all: no search returns them. Mutual proximity reduces
this hubness.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import lookalike as la
from lookalike.hubness import MutualProximity, k_occurrence
from lookalike.measures import Vector

images, digits = load_digits(return_X_y=True)
plain = Vector("cosine").fit(images)
reduced = MutualProximity(Vector("cosine")).fit(images)
print(la.hubness_report(reduced, y=digits, k=10))

# %%
# The 10-occurrences before and after the reduction; next to them the four largest hubs and four
# orphans.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
measures = {"plain": plain, "reduced": reduced}
counts = {name: k_occurrence(measure, k=10) for name, measure in measures.items()}
bins = np.arange(-0.5, max(map(np.max, counts.values())) + 1)
for (name, count), color in zip(counts.items(), ("#D55E00", "#0072B2"), strict=True):
    label = f"{name}: largest {count.max()}, orphans {np.sum(count == 0)}"
    axes[0].hist(count, bins=bins, histtype="step", color=color, label=label, linewidth=1.5)
axes[0].set(xlabel="10-occurrence (mean 10)", ylabel="digits")
axes[0].legend(frameon=False)


order = np.argsort(counts["plain"], kind="stable")
shown = np.concatenate([order[-1:-5:-1], order[:4]])
for i, row in enumerate(shown):
    inset = axes[1].inset_axes([0.25 * (i % 4), 0.5 * (i < 4), 0.24, 0.46])
    inset.imshow(images[row].reshape(8, 8), cmap="Greys")
    inset.set_title(f"{counts['plain'][row]} → {counts['reduced'][row]}", fontsize=9, pad=2)
    inset.set_axis_off()
axes[1].set_axis_off()
plt.show()
