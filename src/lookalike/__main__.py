"""The command line as ``python -m lookalike``, where the script is not on the path."""

from lookalike.cli import main

if __name__ == "__main__":
    main()
