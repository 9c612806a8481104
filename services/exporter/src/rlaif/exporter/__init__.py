"""The exporter: verifies captured segments by replay and stores the inputs of judges and models."""
