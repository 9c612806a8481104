"""Recipes to run a NATS and an S3 server from wheels on one machine."""
