"""From power-on, or from a save state, to where the player can act."""
