"""The past of runs and of the champion, from events that are kept."""
