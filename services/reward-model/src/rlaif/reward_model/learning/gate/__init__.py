"""Measurements of a candidate and the checks that it must pass."""
