"""Order and scale."""
