"""Similarities from forests of decision trees."""
