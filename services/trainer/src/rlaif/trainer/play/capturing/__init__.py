"""Selection and capture of segments of an episode."""
