"""Does a graph over sketches pay? Recall against time, beside exact search of the same rows."""
