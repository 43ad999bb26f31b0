"""See hubs, remove them, combine measures."""

from lookalike.hubness.csls import CSLS
from lookalike.hubness.dissim_local import DisSimLocal
from lookalike.hubness.mutual_proximity import MutualProximity
from lookalike.hubness.scaling import CDM, NICDM, LocalScaling
from lookalike.hubness.shared import SharedNeighbors
