"""Which rows belong together, by any measure."""

from lookalike.cluster.auto import AutoClustering
from lookalike.cluster.density_search import DensitySearch
from lookalike.cluster.scores import (
    adjusted_rand,
    clustering_f_measure,
    purity,
    silhouette,
)
from lookalike.cluster.similarity_clustering import SimilarityClustering
from lookalike.cluster.summary import ClusteringSummary, ClusterSummary, summarize_clusters

__all__ = [
    "AutoClustering",
    "ClusterSummary",
    "ClusteringSummary",
    "DensitySearch",
    "SimilarityClustering",
    "adjusted_rand",
    "clustering_f_measure",
    "purity",
    "silhouette",
    "summarize_clusters",
]
