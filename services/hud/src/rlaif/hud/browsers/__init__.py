"""Fan-out to browsers: what waits for each, and who is sent what."""
