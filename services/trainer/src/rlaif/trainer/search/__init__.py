"""Finds ways through the game by trying things (Go-Explore, phase 1): no learning, no guide."""
