"""Trees whose tests compare a cell with two other cells of its column."""
