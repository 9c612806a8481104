"""Helpers for tests of the page in a browser: simulated services, and checks of its numbers."""
