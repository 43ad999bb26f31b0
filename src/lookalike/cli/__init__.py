"""The command line: one verb per question, one file per verb."""

from lookalike.cli.app import main as main
