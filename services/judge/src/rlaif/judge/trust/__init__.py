"""Whom to believe: canaries, standing, agreement, and a person's word."""
