"""Seeded faults for the local stack, and a check of the outcome of every segment."""
