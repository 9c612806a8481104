"""PPO on arrays: sampling, rewards and batches; the update is RLlib's."""
