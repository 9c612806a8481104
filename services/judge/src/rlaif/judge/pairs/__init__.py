"""Comparisons of two segments that scores alone cannot order."""
