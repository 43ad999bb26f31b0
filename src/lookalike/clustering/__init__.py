"""Which rows belong together, by any measure."""

from lookalike.clustering.auto import AutoClustering
from lookalike.clustering.density import graph_density
from lookalike.clustering.density_search import DensitySearch
from lookalike.clustering.mixed_means import MixedKMeans
from lookalike.clustering.profile import (
    ClusteringProfile,
    ClusterProfile,
    ColumnDifference,
    profile_clusters,
)
from lookalike.clustering.scores import (
    clustering_f_measure,
    purity,
)
from lookalike.clustering.similarity_clustering import SimilarityClustering

__all__ = [
    "AutoClustering",
    "ClusterProfile",
    "ClusteringProfile",
    "ColumnDifference",
    "DensitySearch",
    "MixedKMeans",
    "SimilarityClustering",
    "clustering_f_measure",
    "graph_density",
    "profile_clusters",
    "purity",
]
