"""Observers of episodes: frame stacks, logs of whole episodes and rooms, the live view."""
