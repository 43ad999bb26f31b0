"""
Who is everybody's neighbor?
============================

Handwritten digits, 64 numbers each. Some digits are in the lists of very many others, and some are
in no list at all: nobody who asks for neighbors will ever see them. Mutual proximity asks from both
sides, and the lists become even.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import lookalike as la
from lookalike.hubness import MutualProximity, k_occurrence
from lookalike.measures import Vector

images, digits = load_digits(return_X_y=True)
plain = Vector("cosine").fit(images)
repaired = MutualProximity(Vector("cosine")).fit(images)
print(la.hubness_report(repaired, y=digits, k=10))

# %%
# How often each digit is among the ten nearest of another, before and after; beside it the four
# largest hubs, and below them four digits that no search ever shows.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
counts = {name: k_occurrence(m, k=10) for name, m in (("plain", plain), ("repaired", repaired))}
bins = np.arange(-0.5, max(map(np.max, counts.values())) + 1)
for (name, count), color in zip(counts.items(), ("#D55E00", "#0072B2"), strict=True):
    label = f"{name}: largest {count.max()}, never seen {np.sum(count == 0)}"
    axes[0].hist(count, bins=bins, histtype="step", color=color, label=label, linewidth=1.5)
axes[0].set(xlabel="lists that a digit is in (10 on average)", ylabel="digits")
axes[0].legend(frameon=False)


order = np.argsort(counts["plain"], kind="stable")
shown = np.concatenate([order[-1:-5:-1], order[:4]])
for place, row in enumerate(shown):
    inset = axes[1].inset_axes([0.25 * (place % 4), 0.5 * (place < 4), 0.24, 0.46])
    inset.imshow(images[row].reshape(8, 8), cmap="Greys")
    inset.set_title(f"{counts['plain'][row]} → {counts['repaired'][row]}", fontsize=9, pad=2)
    inset.set_axis_off()
axes[1].set_axis_off()
plt.show()
