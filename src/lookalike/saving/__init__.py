"""Saved objects.

``fields`` says what a parameter or a learned attribute may be, ``encode`` writes, ``archive``,
``safe_json`` and ``decode`` read untrusted files, ``load`` is the public entry point.
"""
