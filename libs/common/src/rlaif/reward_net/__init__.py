"""The reward network that trainer and reward-model service share; only `network` needs torch."""
