"""Starts of play, from power-on or from a save state."""
