"""Planners without a language model, and games in which they act."""
