"""Runs as the service sees them: their processes, their state, their copies in the store."""
