"""The history of runs and of the champion, folded from stored events."""
