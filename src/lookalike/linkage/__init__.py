"""Two tables: the nearest rows of one for each row of the other, and what follows from them."""

from lookalike.linkage.audit import Audit
from lookalike.linkage.decided import Deduped, Linked
from lookalike.linkage.joined import Joined
from lookalike.linkage.matched import Balance, Matched
from lookalike.linkage.two_tables import TwoTables, read_two

__all__ = ["Audit", "Balance", "Deduped", "Joined", "Linked", "Matched", "TwoTables", "read_two"]
