"""Exploration: which places were visited, states to start again from, which of them to choose."""
