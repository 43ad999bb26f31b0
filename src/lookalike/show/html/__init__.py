"""HTML and SVG: text, numbers and shapes, without measures or tables.

Packages that have something to show build it from these parts.
"""
