"""REST routes, a file for each page."""
