"""Which rows belong together, by any measure."""

from lookalike.cluster.auto import AutoClustering
from lookalike.cluster.density_search import DensitySearch
from lookalike.cluster.differences import ColumnDifference
from lookalike.cluster.graph_density import graph_density
from lookalike.cluster.mixed_means import MixedKMeans
from lookalike.cluster.profile import ClusteringProfile, ClusterProfile, profile_clusters
from lookalike.cluster.scores import (
    adjusted_rand,
    clustering_f_measure,
    purity,
    silhouette,
)
from lookalike.cluster.similarity_clustering import SimilarityClustering

__all__ = [
    "AutoClustering",
    "ClusterProfile",
    "ClusteringProfile",
    "ColumnDifference",
    "DensitySearch",
    "MixedKMeans",
    "SimilarityClustering",
    "adjusted_rand",
    "clustering_f_measure",
    "graph_density",
    "profile_clusters",
    "purity",
    "silhouette",
]
