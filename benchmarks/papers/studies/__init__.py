"""One file per study; each holds ``TITLE`` and ``run(data)``; its name is what the command takes."""
