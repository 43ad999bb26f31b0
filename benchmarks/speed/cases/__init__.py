"""One file per case; each holds ``CASES``, and its name is what the command line takes."""
