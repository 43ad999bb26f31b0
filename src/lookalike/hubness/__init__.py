"""Measure hubness, and reduce it.

In spaces of many dimensions some rows are among the nearest neighbors of very many others (hubs),
and many are among those of none (orphans, or anti-hubs). The functions here measure it, for a
fitted measure, a matrix or a neighbor graph; the reducers, which wrap a measure, reduce it.
"""

from lookalike.hubness.graphs import rescale
from lookalike.hubness.mutual_proximity import MutualProximity
from lookalike.hubness.occurrence import (
    HubsAndOrphans,
    antihub_occurrence,
    antihub_scores,
    atkinson,
    badness,
    gini,
    groupie_ratio,
    hub_occurrence,
    hubs_and_orphans,
    k_occurrence,
    reachability,
    robin_hood,
    skewness,
    symmetric_share,
)
from lookalike.hubness.report import HubnessReport, hubness_report
from lookalike.hubness.scaling import (
    CDM,
    CSLS,
    NICDM,
    DisSimLocal,
    LocalScaling,
    SharedNeighbors,
)
from lookalike.hubness.scan import HubScan, scan_hubs

__all__ = [
    "CDM",
    "CSLS",
    "NICDM",
    "DisSimLocal",
    "HubScan",
    "HubnessReport",
    "HubsAndOrphans",
    "LocalScaling",
    "MutualProximity",
    "SharedNeighbors",
    "antihub_occurrence",
    "antihub_scores",
    "atkinson",
    "badness",
    "gini",
    "groupie_ratio",
    "hub_occurrence",
    "hubness_report",
    "hubs_and_orphans",
    "k_occurrence",
    "reachability",
    "rescale",
    "robin_hood",
    "scan_hubs",
    "skewness",
    "symmetric_share",
]
