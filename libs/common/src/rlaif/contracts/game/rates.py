"""Frame rate of the game."""

FRAMES_PER_SECOND = 60
"""Nominal rate, for displayed durations and for limits."""

EXACT_FRAMES_PER_SECOND = 59.7275
"""Exact rate of a Game Boy's display, for playback at game speed."""
