"""Scores exported segments with language models: evidence, votes, one score object each."""
