"""Guides of the games, which judges and planners read."""
