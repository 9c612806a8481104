"""Asks the judges about one segment and combines their votes."""
