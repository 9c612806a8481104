"""The reward network that trainer and reward-model service share; needs torch."""
