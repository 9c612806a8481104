"""Decoding of RAM: symbols, readers, and the decoded state."""
