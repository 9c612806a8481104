"""PPO with RLlib: the only package that imports ray."""
