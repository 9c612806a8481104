"""Captures and their replay."""
