"""Files, frames and other sources of tables."""
