"""The exporter: replays and verifies captured segments, and stores the inputs of judges and models."""
