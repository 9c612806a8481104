"""What follows an episode: stacked frames, whole-episode logs, the best episodes."""
