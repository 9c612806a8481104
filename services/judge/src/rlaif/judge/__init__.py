"""Scores exported segments with language models: evidence, votes, one score object a segment."""
