"""Side-by-side comparisons of segments that scores alone do not order."""
