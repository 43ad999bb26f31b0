"""Gower's similarity and the weights of its columns."""
