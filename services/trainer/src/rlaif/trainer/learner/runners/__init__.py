"""Runners in this process, in child processes or on a Ray cluster; without torch."""
