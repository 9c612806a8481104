"""Finds trajectories through the game by exploration (Go-Explore, phase 1), without learning."""
