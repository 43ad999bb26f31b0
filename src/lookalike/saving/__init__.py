"""Saved objects.

``fields`` says what a parameter or a learned attribute may be, ``encode`` writes, ``decode`` and
``safe_json`` read untrusted files, ``load`` is the public entry point.
"""
