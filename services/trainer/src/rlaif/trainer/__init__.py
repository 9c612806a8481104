"""The trainer: PPO on PyBoy environments, captures for the judges, hot-loaded reward models."""
