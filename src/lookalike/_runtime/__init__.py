"""Settings, threads, progress, files, random states: what every package uses."""
