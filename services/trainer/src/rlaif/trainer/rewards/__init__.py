"""Rewards: what the game pays by itself, and what the reward model adds."""
