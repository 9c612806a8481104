"""The last hour in a few sentences: what happened in, what is said of it out."""
