"""Exploration: places visited, states to start again from, which of them to choose."""
