"""The training process: PPO with RLlib on games of `play`. The only importer of ray."""
