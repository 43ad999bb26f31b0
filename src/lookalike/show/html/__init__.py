"""One look for everything that becomes HTML or a picture.

A low room: it knows text, numbers and shapes, nothing of measures or tables. A room that has
something to show makes its parts here and keeps what they mean to itself.
"""
