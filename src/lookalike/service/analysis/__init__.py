"""Views of a whole collection, made by the public functions of the library."""
