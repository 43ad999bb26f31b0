"""Two tables: the nearest rows of one for each row of the other, and what follows from them."""

from lookalike.linkage.joined import Joined
from lookalike.linkage.two_tables import TwoTables, read_two

__all__ = ["Joined", "TwoTables", "read_two"]
