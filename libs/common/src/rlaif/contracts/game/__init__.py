"""Captures, exported segments, films, and what an observation and a description contain."""
