"""The game as a reinforcement-learning environment."""
