"""Rewards: the game's own reward, and shaping by the reward model."""
