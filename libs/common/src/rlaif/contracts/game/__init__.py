"""Captures, exported segments, films, and the contents of observations and descriptions."""
