"""What the tests of verbs share with those of the command line."""

from cli.conftest import _no_compile_note  # noqa: F401
