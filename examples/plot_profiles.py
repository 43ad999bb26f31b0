"""
Cluster profiles
================

Penguins, clustered without their species. The profile of a cluster lists the columns that differ
most from the other rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from lookalike.clustering import SimilarityClustering, profile_clusters
from lookalike.datasets import load_penguins
from lookalike.measures import Gower

penguins = load_penguins()
body = penguins.drop("species").drop("year").drop("island")
model = SimilarityClustering(Gower(scale="rank", missing="midpoint"), "auto").fit(body)
print(profile_clusters(model, body))

# %%
# The clusters in two of the columns; the marker shows the species, which was not used.
labels = model.labels_
species = [penguins["species"].cell(row) for row in range(len(penguins))]
bill = np.array([penguins["bill_length_mm"].cell(row) or np.nan for row in range(len(penguins))])
depth = np.array([penguins["bill_depth_mm"].cell(row) or np.nan for row in range(len(penguins))])
colors = np.array(["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999"])
figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
for marker, name in zip("o^s", sorted(set(species)), strict=True):
    members = np.array([label == name for label in species])
    color = colors[labels[members] % 7]
    axis.scatter(bill[members], depth[members], c=color, marker=marker, s=22, label=name)
axis.set(xlabel="bill length (mm)", ylabel="bill depth (mm)")
legend = axis.legend(frameon=False, title="species (not used)")
for handle in legend.legend_handles:
    handle.set_color("0.4")
plt.show()
