"""A training run: its directory, its process, and what goes in and out of both."""
