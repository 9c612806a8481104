"""The exporter: replays captured segments, proves them, and writes what judges and models read."""
