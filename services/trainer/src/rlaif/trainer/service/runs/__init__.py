"""Runs in the service: their processes, their state, their copies in the store."""
