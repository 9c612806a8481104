"""Atomic files and errors of the operating system. Standard library only."""
