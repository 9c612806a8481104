"""Frame rate of the game."""

FRAMES_PER_SECOND = 60
"""Nominal, for durations that people read and for limits."""

EXACT_FRAMES_PER_SECOND = 59.7275
"""Of a Game Boy's display, for what is shown at the speed of the game."""
