"""The evaluator pass over one epoch."""
