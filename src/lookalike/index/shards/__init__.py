"""An index larger than memory: a folder of shards."""
