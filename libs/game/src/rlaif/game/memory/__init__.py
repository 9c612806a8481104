"""What the RAM means: symbols, readers, and the state that they decode to."""
