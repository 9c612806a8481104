"""Segments, scores and answers of judges."""
