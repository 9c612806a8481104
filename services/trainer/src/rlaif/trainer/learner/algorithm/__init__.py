"""PPO on finished arrays: sampling with RLlib's runners, rewards, batches, RLlib's learner."""
