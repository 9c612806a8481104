"""Descriptions of a state in words, numbers and maps, for language models and people."""
