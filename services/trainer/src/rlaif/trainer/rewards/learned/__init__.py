"""Rewards of models: shaping by the reward model, curiosity, and statistics of all parts."""
