"""Pytest fixtures with real parts: nats-server and an S3 server on free ports."""
