"""Exploration: visited places, an archive of states, and the selection of start states."""
