"""Pytest fixtures and test helpers, with real NATS and S3 servers on free ports."""
