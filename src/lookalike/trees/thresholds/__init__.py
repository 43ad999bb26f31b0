"""Trees whose tests compare a number with a threshold."""
