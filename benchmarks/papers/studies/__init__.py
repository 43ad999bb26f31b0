"""One file per study, with ``TITLE`` and ``run(data)``; its name is what the command takes."""
