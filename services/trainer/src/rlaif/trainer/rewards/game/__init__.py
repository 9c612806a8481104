"""The game's own reward: terms over facts read from RAM."""
