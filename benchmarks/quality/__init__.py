"""How good predictions and clusters are, of this version and of an earlier one."""
