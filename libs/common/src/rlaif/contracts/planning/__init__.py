"""Requests to planners and their answers."""
