"""Faults for the local stack: planned from a seed, injected, and what became of the segments."""
